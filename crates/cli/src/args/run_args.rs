//! Commands about protocols and runs, as clap sees them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Where things are, and who asks.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StoreArgs {
    /// The protocol folder, instead of the nearest `.opencode/protocol`
    #[arg(long, value_name = "DIR")]
    pub(crate) protocol: Option<PathBuf>,
    /// The database, instead of `.countersign/countersign.db`: a file, or `postgres://user@host/name`
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<PathBuf>,
    /// Who you are, for the record
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) user: Option<String>,
}

#[derive(Debug, Parser)]
pub(crate) struct DemoArgs {
    /// The folder it is put into; it must not exist, or be empty
    #[arg(default_value = "countersign-demo")]
    pub(crate) folder: PathBuf,
    /// A real model instead of the script: `openai:…`, `anthropic:…`, `gemini:…`, `ollama:…`
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Approve at the end instead of leaving the run waiting for you
    #[arg(long)]
    pub(crate) approve: bool,
}

#[derive(Debug, Parser)]
pub(crate) struct InitArgs {
    /// The template
    #[arg(default_value = "ralph")]
    pub(crate) template: String,
    /// The folder of work it is put into
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) into: PathBuf,
    /// List the templates
    #[arg(long)]
    pub(crate) list: bool,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "Ends with 0 where there are no errors, else with 1. Each code has a page in docs/errors."
)]
pub(crate) struct CheckArgs {
    /// The protocol folder, or a folder of work that has one
    pub(crate) folder: Option<PathBuf>,
    /// Count warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Parser)]
#[command(after_help = "Examples:
  countersign run
  countersign run task_loop --model openai:gpt-5-mini
  countersign run --input \"Plan the move\"
  countersign run ralph --input @goal.txt --model openai:gpt-5-mini
  countersign run --document start.json --detach")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(crate) struct RunArgs {
    /// The workflow, or a protocol that ships; without it, the folder's default workflow
    pub(crate) workflow: Option<String>,
    /// Go on with a run instead of starting one
    #[arg(long, value_name = "RUN", conflicts_with_all = ["workflow", "document", "input"])]
    pub(crate) resume: Option<String>,
    /// The model, whatever agents and index say
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// A JSON file that is merged into the first document
    #[arg(long, value_name = "FILE")]
    pub(crate) document: Option<PathBuf>,
    /// What the run is started with: a text, JSON, or `@FILE`
    #[arg(long, value_name = "TEXT|JSON|@FILE")]
    pub(crate) input: Option<String>,
    /// Leave it waiting instead of asking in the terminal
    #[arg(long)]
    pub(crate) detach: bool,
    /// Stay until it has ended: go on when a document arrives where it is looked for, or somebody answers
    #[arg(long, conflicts_with = "detach")]
    pub(crate) stay: bool,
    /// Start it and leave the work to `countersign worker`
    #[arg(long, conflicts_with_all = ["resume", "detach", "stay"])]
    pub(crate) queue: bool,
    /// The same key twice is one run
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Neither remember nor be reminded; the log of the run is kept all the same
    #[arg(long)]
    pub(crate) no_memory: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct ListArgs {
    /// Only with this status: running, waiting, halted, completed, failed
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Only of this workflow
    #[arg(long)]
    pub(crate) workflow: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct StatusArgs {
    /// The run; the beginning of its id is enough
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct HistoryArgs {
    /// The run
    pub(crate) run: Option<String>,
    /// Only what came after this version
    #[arg(long, value_name = "VERSION", default_value_t = 0)]
    pub(crate) after: u64,
    /// Every event in full
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct ShowArgs {
    /// The run
    pub(crate) run: Option<String>,
    /// At this version; without it, now
    #[arg(long, value_name = "VERSION")]
    pub(crate) at: Option<u64>,
    /// Only this place of the document
    #[arg(long, value_name = "POINTER")]
    pub(crate) pointer: Option<String>,
    /// The whole state of the run, not only its document
    #[arg(long)]
    pub(crate) state: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct DiffArgs {
    /// The run
    pub(crate) run: String,
    /// The version before, or `OTHER@VERSION` to compare with another run
    pub(crate) before: String,
    /// The version after; without it, now
    pub(crate) after: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct NextArgs {
    /// The run
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct SubmitArgs {
    /// The run
    pub(crate) run: String,
    /// The reply; `-` or nothing reads standard input
    pub(crate) file: Option<PathBuf>,
    /// The order that is answered; without it, the one that is out
    #[arg(long, value_name = "ACTION")]
    pub(crate) action: Option<String>,
    /// The same key twice is one reply
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct InboxArgs {
    /// Only of this run
    pub(crate) run: Option<String>,
    /// Only this kind: question, document, approval, budget, work, trouble
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
#[command(after_help = "Examples:
  countersign answer k7mw2p green
  countersign answer k7mw2p/w3 '{\"amount\": 12}'
  countersign answer k7mw2p --file brief.pdf")]
pub(crate) struct AnswerArgs {
    /// The run, or `RUN/WAIT` where several things wait
    pub(crate) wait: String,
    /// The answer: JSON, or plain text
    #[arg(required_unless_present = "file")]
    pub(crate) value: Option<String>,
    /// A document that is brought
    #[arg(long, value_name = "FILE", conflicts_with = "value")]
    pub(crate) file: Option<PathBuf>,
    /// The same key twice is one answer
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct DecideArgs {
    /// The run, or `RUN/WAIT` where several things wait
    pub(crate) wait: String,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// The same key twice is one decision
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct HaltArgs {
    /// The run
    pub(crate) run: String,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct ResumeArgs {
    /// The run
    pub(crate) run: String,
    /// Grant more of a budget: `tokens=10000`, `loops@draft=5`; may be said several times
    #[arg(long = "grant", value_name = "BUDGET=AMOUNT")]
    pub(crate) grants: Vec<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct CancelArgs {
    /// The run
    pub(crate) run: String,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct ReplayArgs {
    /// The run
    pub(crate) run: Option<String>,
    /// Check the chain and decide every input again
    #[arg(long)]
    pub(crate) verify: bool,
    /// Every run of the store
    #[arg(long, conflicts_with = "run")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct ForkArgs {
    /// The run
    pub(crate) run: String,
    /// The version it goes on from; without it, now
    #[arg(long, value_name = "VERSION")]
    pub(crate) at: Option<u64>,
    /// Another model
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Leave it where it begins instead of working on it
    #[arg(long)]
    pub(crate) detach: bool,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct GraphArgs {
    /// The run, whose phase and closed gates are shown; without it, the protocol's workflow
    pub(crate) run: Option<String>,
    /// The workflow, where no run is named
    #[arg(long, value_name = "ID", conflicts_with = "run")]
    pub(crate) workflow: Option<String>,
    /// How it is drawn
    #[arg(long, value_enum, default_value = "mermaid")]
    pub(crate) format: GraphFormat,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

/// How a workflow is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Text for Mermaid
    Mermaid,
    /// A picture
    Svg,
}

#[derive(Debug, Parser)]
pub(crate) struct ExportArgs {
    /// The run
    pub(crate) run: String,
    /// The file; `-` or nothing writes standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct ImportArgs {
    /// The file; `-` reads standard input
    pub(crate) file: PathBuf,
    /// Trust the programs, hosts and sources of its protocol; without it, a run that has any is halted
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
    /// List the tasks of a run: the runs it started for each of several items, by their keys
    List(TaskListArgs),
    /// Let a failed task be tried again
    Reset(TaskResetArgs),
}

#[derive(Debug, Parser)]
pub(crate) struct TaskListArgs {
    /// The run
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "Answers the question `reset` that the task waits with.\n\nExample:\n  countersign task reset k7mw2p report --because \"The model was changed\""
)]
pub(crate) struct TaskResetArgs {
    /// The run
    pub(crate) run: String,
    /// The key of the task; without it, the run itself is meant
    pub(crate) task: Option<String>,
    /// Why it should be tried again
    #[arg(long, value_name = "TEXT")]
    pub(crate) because: String,
    /// The same key twice is one answer
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}
