//! Commands about protocols and runs, as clap sees them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Locations of the protocol and the database, and the name of the caller.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StoreArgs {
    /// Protocol folder, instead of the nearest `.opencode/protocol`
    #[arg(long, value_name = "DIR")]
    pub(crate) protocol: Option<PathBuf>,
    /// Database, instead of `.countersign/countersign.db`: a file, or `postgres://user@host/name`
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<PathBuf>,
    /// Your name, for the record
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) user: Option<String>,
}

#[derive(Debug, Parser)]
pub(crate) struct DemoArgs {
    /// Folder to create the demo in; it must not exist, or be empty
    #[arg(default_value = "countersign-demo")]
    pub(crate) folder: PathBuf,
    /// Real model instead of the script: `openai:…`, `anthropic:…`, `gemini:…`, `ollama:…`
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Approve at the end, instead of leaving the run waiting for you
    #[arg(long)]
    pub(crate) approve: bool,
}

#[derive(Debug, Parser)]
pub(crate) struct InitArgs {
    /// Template name, as `--list` shows it
    #[arg(default_value = "ralph")]
    pub(crate) template: String,
    /// Workspace folder to create the protocol folder in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) into: PathBuf,
    /// List the available templates
    #[arg(long)]
    pub(crate) list: bool,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "Exits with 0 if there are no errors, else with 1. Each error code has a page in docs/errors."
)]
pub(crate) struct CheckArgs {
    /// Protocol folder, or a workspace folder that has one; if omitted, the configured or the nearest one
    pub(crate) folder: Option<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Parser)]
#[command(after_help = "Examples:
  countersign run
  countersign run task_loop --model openai:gpt-5-mini
  countersign run --input \"Plan the move\"
  countersign run ralph --input @goal.txt --model openai:gpt-5-mini
  countersign run answer --continue RUN --input \"And of Beacon?\"
  countersign run --document start.json --detach")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(crate) struct RunArgs {
    /// Workflow, or name of a shipped protocol; the folder's default workflow if omitted
    pub(crate) workflow: Option<String>,
    /// Continue this run instead of starting one
    #[arg(long, value_name = "RUN", conflicts_with_all = ["workflow", "document", "input"])]
    pub(crate) resume: Option<String>,
    /// Run whose conversation the new run continues: memory shows it what was said there
    #[arg(long = "continue", value_name = "RUN", conflicts_with_all = ["resume", "document"])]
    pub(crate) continues: Option<String>,
    /// Model to use; overrides the models of agents and of the protocol index. With --resume, the run
    /// continues with it
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// JSON file to merge into the first document
    #[arg(long, value_name = "FILE")]
    pub(crate) document: Option<PathBuf>,
    /// Input of the run: a text, JSON, or `@FILE` that holds either
    #[arg(long, value_name = "TEXT|JSON|@FILE")]
    pub(crate) input: Option<String>,
    /// Leave the run waiting instead of asking in the terminal
    #[arg(long)]
    pub(crate) detach: bool,
    /// Stay until the run has ended: continue when an expected document arrives or somebody answers
    #[arg(long, conflicts_with = "detach")]
    pub(crate) follow: bool,
    /// Start the run and leave the work to `countersign worker`
    #[arg(long, conflicts_with_all = ["resume", "detach", "follow"])]
    pub(crate) queue: bool,
    /// Idempotency key: the same key twice starts one run
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
    /// Do not read or write memory; the log of the run is still kept
    #[arg(long)]
    pub(crate) no_memory: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
pub(crate) struct ListArgs {
    /// Show only runs with this status: running, waiting, halted, completed, failed
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Show only runs with all of these words in the title, the input or the document
    #[arg(long, value_name = "WORDS")]
    pub(crate) search: Option<String>,
    /// Show only runs of this workflow
    #[arg(long)]
    pub(crate) workflow: Option<String>,
    /// Show only runs of this version of their protocol
    #[arg(long = "version", value_name = "VERSION")]
    pub(crate) protocol_version: Option<String>,
    /// Show only runs that were created at this time or later, such as 2026-01-21T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Show only runs that were created before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Show only runs that this user started
    #[arg(long, value_name = "USER")]
    pub(crate) started_by: Option<String>,
    /// Maximum number of runs to list
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct StatusArgs {
    /// Run id, or a unique prefix of it; the newest run if omitted
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct HistoryArgs {
    /// Run id, or a unique prefix of it; the newest run if omitted
    pub(crate) run: Option<String>,
    /// Show only what came after this version
    #[arg(long, value_name = "VERSION", default_value_t = 0)]
    pub(crate) after: u64,
    /// Print every event in full, as a JSON line
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct ShowArgs {
    /// Run id, or a unique prefix of it; the newest run if omitted
    pub(crate) run: Option<String>,
    /// Version to show; the current version if omitted
    #[arg(long, value_name = "VERSION")]
    pub(crate) at_version: Option<u64>,
    /// JSON Pointer to the only part of the document to show, such as `/a/b`
    #[arg(long, value_name = "POINTER")]
    pub(crate) pointer: Option<String>,
    /// Show the whole state of the run, not only its document
    #[arg(long)]
    pub(crate) state: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct DiffArgs {
    /// Run id, or a unique prefix of it
    pub(crate) run: String,
    /// Version to compare from, or `OTHER@VERSION` to compare with another run
    pub(crate) before: String,
    /// Version to compare to; the current version if omitted
    pub(crate) after: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct NextArgs {
    /// Run id, or a unique prefix of it; the newest run if omitted
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct SubmitArgs {
    /// Run id, or a unique prefix of it
    pub(crate) run: String,
    /// File with the reply or patch; reads standard input if omitted or `-`
    pub(crate) file: Option<PathBuf>,
    /// Id of the action that the reply answers; the pending action if omitted
    #[arg(long, value_name = "ACTION")]
    pub(crate) action: Option<String>,
    /// Idempotency key: the same key twice counts as one reply
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct InboxArgs {
    /// Show only what waits in this run, or with `RUN/WAIT` one wait and everything it shows
    pub(crate) run: Option<String>,
    /// Show only this kind of wait: question, document, approval, budget, work, incident
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Maximum number of waits to list
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

impl InboxArgs {
    /// The run that is named, alone or in `RUN/WAIT`.
    pub(crate) fn run_name(&self) -> Option<&str> {
        let named = self.run.as_deref()?;
        Some(named.split_once('/').map_or(named, |(run, _)| run))
    }

    /// The wait that `RUN/WAIT` names.
    pub(crate) fn wait_name(&self) -> Option<&str> {
        self.run.as_deref()?.split_once('/').map(|(_, wait)| wait)
    }
}

#[derive(Debug, Parser)]
#[command(after_help = "Examples:
  countersign answer k7mw2p green
  countersign answer k7mw2p/w3 '{\"amount\": 12}'
  countersign answer k7mw2p --file brief.pdf")]
pub(crate) struct AnswerArgs {
    /// Run id, or `RUN/WAIT` if several things wait; may be omitted if only one question is open
    #[arg(required_unless_present = "file")]
    pub(crate) wait: Option<String>,
    /// Answer, as JSON or plain text
    pub(crate) value: Option<String>,
    /// Document to provide as the answer
    #[arg(long, value_name = "FILE", conflicts_with = "value")]
    pub(crate) file: Option<PathBuf>,
    /// Idempotency key: the same key twice counts as one answer
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct DecideArgs {
    /// Run id, or `RUN/WAIT` if several things wait; may be omitted if only one decision is open
    pub(crate) wait: Option<String>,
    /// Reason for the decision, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Digest of the subject that you saw; the default is the subject as it is now
    #[arg(long, value_name = "DIGEST")]
    pub(crate) subject: Option<String>,
    /// Idempotency key: the same key twice counts as one decision
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct DelegateArgs {
    /// Run id, or `RUN/WAIT` if several things wait
    pub(crate) wait: String,
    /// User who may decide from now on
    #[arg(long, value_name = "USER")]
    pub(crate) to: String,
    /// Reason for the delegation, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

/// The run that a command changes, and the store that holds it.
#[derive(Debug, Args)]
pub(crate) struct TargetRunArgs {
    /// Run id, or a unique prefix of it
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct HaltArgs {
    /// Reason for the halt, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) target: TargetRunArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct ResumeArgs {
    /// Amount to add to a budget: `tokens=10000`, `loops@draft=5`; can be repeated
    #[arg(long = "grant", value_name = "BUDGET=AMOUNT")]
    pub(crate) grants: Vec<String>,
    #[command(flatten)]
    pub(crate) target: TargetRunArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct CancelArgs {
    /// Reason for the cancellation, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) target: TargetRunArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct ReplayArgs {
    /// Run id, or a unique prefix of it; the newest run if omitted
    pub(crate) run: Option<String>,
    /// Check the hash chain and decide every input again
    #[arg(long)]
    pub(crate) verify: bool,
    /// Replay every run of the store
    #[arg(long, conflicts_with = "run")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct ForkArgs {
    /// Run id, or a unique prefix of it
    pub(crate) run: String,
    /// Version to start from; the current version if omitted
    #[arg(long, value_name = "VERSION")]
    pub(crate) at_version: Option<u64>,
    /// Another model for the new run
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Leave the new run where it starts instead of working on it
    #[arg(long)]
    pub(crate) detach: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct GraphArgs {
    /// Run whose current phase and closed gates are shown; the protocol's workflow if omitted
    pub(crate) run: Option<String>,
    /// Workflow to draw if no run is given
    #[arg(long, value_name = "ID", conflicts_with = "run")]
    pub(crate) workflow: Option<String>,
    /// Output format of the drawing
    #[arg(long, value_enum, default_value = "mermaid")]
    pub(crate) format: GraphFormat,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

/// Output format of a workflow drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Mermaid diagram as text
    Mermaid,
    /// Image in SVG format
    Svg,
}

#[derive(Debug, Parser)]
pub(crate) struct ExportArgs {
    /// Run id, or a unique prefix of it
    pub(crate) run: String,
    /// File to write; standard output if omitted or `-`
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct ImportArgs {
    /// File to read; `-` reads standard input
    pub(crate) file: PathBuf,
    /// Trust the programs, hosts and sources of the run's protocol; without this flag, a run that has any is halted
    #[arg(long)]
    pub(crate) trust: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct TaskArgs {
    #[command(subcommand)]
    pub(crate) command: TaskCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// List the tasks of a run: the runs it started for each of several items, by item key
    List(TaskListArgs),
    /// Retry a failed task
    Reset(TaskResetArgs),
}

#[derive(Debug, Parser)]
pub(crate) struct TaskListArgs {
    /// Run id, or a unique prefix of it; the newest run if omitted
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "Answers the question `reset` that the failed task asks.\n\nExample:\n  countersign task reset k7mw2p report --reason \"The model was changed\""
)]
pub(crate) struct TaskResetArgs {
    /// Run id, or a unique prefix of it
    pub(crate) run: String,
    /// Key of the task; the run itself if omitted
    pub(crate) task: Option<String>,
    /// Reason why the task should be retried
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// Idempotency key: the same key twice counts as one answer
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}
