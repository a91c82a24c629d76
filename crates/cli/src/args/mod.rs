//! The command line, as clap sees it. No behaviour.

use std::path::PathBuf;

use clap::{ArgAction, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

mod channel_args;
mod memory_learning_args;
mod memory_args;
mod run_args;
mod serve_args;
mod store_command_args;
mod trust_args;
mod worker_args;

pub(crate) use channel_args::{ChannelArgs, ChannelCommand};
pub(crate) use memory_args::{
    MemoryArgs, MemoryCommand, MemoryComposeArgs, MemoryEmbedArgs, MemoryExpireArgs,
    MemoryExplainArgs, MemoryExportArgs, MemoryForgetArgs, MemoryImportArgs, MemoryRememberArgs,
    MemoryReplayArgs, MemorySearchArgs, ScopeArgs, VerifyErasedArgs,
};
pub(crate) use memory_learning_args::{
    MemoryAgeArgs, MemoryCandidatesArgs, MemoryInsightArgs, MemoryLearnArgs, MemoryPromoteArgs,
    MemoryProposeArgs, MemoryRefuseArgs, MemorySummarizeArgs,
};
pub(crate) use run_args::{
    AnswerArgs, CancelArgs, CheckArgs, DecideArgs, DelegateArgs, DemoArgs, DiffArgs, DoctorArgs,
    ExportArgs, ForkArgs, GraphArgs, GraphFormat, HaltArgs, HistoryArgs, ImportArgs, InboxArgs,
    InitArgs, ListArgs, NextArgs, ReplayArgs, ResumeArgs, RunArgs, ShowArgs, StatusArgs, StoreArgs,
    SubmitArgs, TargetRunArgs, TaskArgs, TaskCommand, TaskListArgs, TaskResetArgs,
};
pub(crate) use serve_args::{KeyArgs, KeyCommand, McpArgs, ServeArgs};
pub(crate) use store_command_args::{
    StoreCommand, StoreCommandArgs, StoreCopyArgs, StorePruneArgs, StoreVerifyArgs,
};
pub(crate) use trust_args::{AllowArgs, TrustArgs};
pub(crate) use worker_args::{WorkerArgs, WorkersArgs};

/// Models propose, contracts decide.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, about, propagate_version = true)]
#[command(
    after_help = "Exit codes: 0 accepted or done · 1 refused · 2 usage error, or an error in your files · 3 system failure, such as an unreadable file"
)]
pub(crate) struct CliArgs {
    /// Print JSON for programs to read
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log what happens inside; repeat for more (-vv, -vvv)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Try a small protocol with a scripted model; needs no API key and no network
    Demo(DemoArgs),
    /// Create a protocol folder here from a template, for you to edit
    Init(InitArgs),
    /// Check a protocol for errors before you run it
    Check(CheckArgs),
    /// Start a run and work on it until it ends or waits
    Run(RunArgs),
    /// List runs by status or workflow
    List(ListArgs),
    /// Show where a run stands and why
    Status(StatusArgs),
    /// Show what happened in a run
    History(HistoryArgs),
    /// Show the document of a run
    Show(ShowArgs),
    /// Show what changed between two versions of a run
    Diff(DiffArgs),
    /// Show what a run asks for: prompt, contract, schema, ids
    Next(NextArgs),
    /// Submit a reply or a patch to a run
    Submit(SubmitArgs),
    /// List everything that waits for a person
    Inbox(InboxArgs),
    /// Answer a question or provide a document
    Answer(AnswerArgs),
    /// Approve a request that waits for a decision
    Approve(DecideArgs),
    /// Deny a request that waits for a decision
    Deny(DecideArgs),
    /// Let another person decide a request that waits for you
    Delegate(DelegateArgs),
    /// Stop a run until you resume it
    Halt(HaltArgs),
    /// Resume a halted or blocked run
    Resume(ResumeArgs),
    /// End a run permanently
    Cancel(CancelArgs),
    /// List the tasks of a run and retry failed ones
    Task(TaskArgs),
    /// Work on runs that are due, alongside any number of other workers
    Worker(WorkerArgs),
    /// List workers and how many runs they hold
    Workers(WorkersArgs),
    /// Replay a run's log, or prove it: check its hash chain and decide every input again
    Replay(ReplayArgs),
    /// Start a new run from a version of another run
    Fork(ForkArgs),
    /// Draw a workflow, with the current phase of a run
    Graph(GraphArgs),
    /// Show the agents of a protocol with prompt, model, tools, skills and rules
    Agent(AgentArgs),
    /// Export a run to one file
    Export(ExportArgs),
    /// Import a run from a file
    Import(ImportArgs),
    /// Copy, verify or prune the database
    Store(StoreCommandArgs),
    /// Start the HTTP server, with live events, and work on runs
    Serve(ServeArgs),
    /// Let a coding agent drive runs with MCP over standard input and output
    Mcp(McpArgs),
    /// Create, list and revoke keys for the server
    Key(KeyArgs),
    /// List the channels that people are told through, and try one
    Channel(ChannelArgs),
    /// Show what a protocol may use beyond files, and decide whether to trust it
    Trust(TrustArgs),
    /// Check the setup and show where each setting comes from
    Doctor(DoctorArgs),
    /// Check one reply against one contract
    Admit(AdmitArgs),
    /// Show and check contracts, compare versions, export schemas for providers
    Contract(ContractArgs),
    /// Store memories and compose packets from them within a token budget
    Memory(Box<MemoryArgs>),
    /// Print a completion script for your shell
    #[command(
        after_help = "Example:\n  countersign completions bash > /etc/bash_completion.d/countersign"
    )]
    Completions {
        /// Shell that the script is for
        shell: Shell,
    },
}

/// Checks one reply against one contract.
///
/// The accepted value goes to standard output, everything else to standard error.
#[derive(Debug, Parser)]
#[command(after_help = "Examples:
  echo '{\"verdict\": \"PASS\"}' | countersign admit guardian_report
  countersign admit xiaojing_review_v1 reply.txt --json
  countersign admit ./contracts/my_contract.yaml reply.txt --reask
  countersign admit analyst_plan reply.txt --repairs syntactic")]
pub(crate) struct AdmitArgs {
    /// Contract id, `id@version`, or path of a contract file
    pub(crate) contract: String,
    /// File with the reply; reads standard input if omitted or `-`
    pub(crate) file: Option<PathBuf>,
    /// Print the text that asks the model to try again
    #[arg(long)]
    pub(crate) reask: bool,
    /// Text allowed around the JSON object; overrides the contract's own setting
    #[arg(long, value_enum)]
    pub(crate) intake: Option<IntakeArg>,
    /// Repairs allowed, each level including those before it; overrides the contract's own setting
    #[arg(long, value_enum)]
    pub(crate) repairs: Option<RepairLevelArg>,
    /// Reason why the model stopped, as its provider reports it; a reply that was cut off is never repaired
    #[arg(long, value_enum, default_value = "stop")]
    pub(crate) finish: FinishReasonArg,
    /// JSON file that rules see as `state`
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// JSON file that rules see as `run`
    #[arg(long, value_name = "FILE")]
    pub(crate) run: Option<PathBuf>,
    /// Folder with your own contracts
    #[arg(long, value_name = "DIR")]
    pub(crate) contracts: Option<PathBuf>,
}

/// Shows the agents of a protocol.
#[derive(Debug, Parser)]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    pub(crate) command: AgentCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// List the agents of the protocol, also those that no phase uses
    List {
        #[command(flatten)]
        store_args: StoreArgs,
    },
    /// Show one agent: prompt, model, tools, skills and rules as they are resolved
    #[command(
        after_help = "Examples:\n  countersign agent show writer\n  countersign agent show writer --skill markdown"
    )]
    Show {
        /// Id of the agent
        name: String,
        /// Print the whole text of this skill instead
        #[arg(long, value_name = "SKILL")]
        skill: Option<String>,
        #[command(flatten)]
        store_args: StoreArgs,
    },
}

/// Shows, checks, compares and exports contracts.
#[derive(Debug, Parser)]
pub(crate) struct ContractArgs {
    /// Folder with your own contracts
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) contracts: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: ContractCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContractCommand {
    /// List all contracts
    List,
    /// Show one contract: its purpose, fields and rules
    #[command(
        after_help = "Examples:\n  countersign contract show guardian_report\n  countersign contract show guardian_report --schema > guardian_report.schema.json"
    )]
    Show {
        /// Contract id, `id@version`, or path
        id: String,
        /// Print only the JSON Schema
        #[arg(long)]
        schema: bool,
    },
    /// Check contracts for errors, misspelt keywords, unknown formats, and defaults that do not fit
    #[command(
        after_help = "Exits with 0 if no error was found, else with 1.\n\nExamples:\n  countersign contract check ./contracts/review.yaml\n  countersign contract check guardian_report analyst_plan --strict"
    )]
    Check {
        /// Contract paths, ids, or `id@version`
        #[arg(required = true, value_name = "CONTRACT")]
        names: Vec<String>,
        /// Treat warnings as errors
        #[arg(long)]
        strict: bool,
    },
    /// Check whether a new version is compatible; if not, show a value that proves it
    #[command(
        after_help = "Exits with 0 if the new contract accepts everything that the old one accepted, else with 1.\n\nExample:\n  countersign contract diff review@1.0.0 ./contracts/review.yaml"
    )]
    Diff {
        /// Old contract: an id, `id@version`, or a path
        old: String,
        /// New contract: an id, `id@version`, or a path
        new: String,
        /// File with past replies, one JSON value per line, to search for a proof
        #[arg(long, value_name = "FILE")]
        examples: Option<PathBuf>,
    },
    /// Record a version of a contract, which then never changes
    #[command(
        after_help = "Writes `registry/ID@VERSION.json` beside the file. The version is refused if it is registered with\nanother schema, if it is not as compatible as it claims, or if it is breaking without migration notes.\n\nExits with 0 if every version is registered, else with 1.\n\nExample:\n  countersign contract register ./contracts/review.yaml"
    )]
    Register {
        /// Contract files to register
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Check only; write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Export the schema that a provider accepts, and report what only Countersign enforces
    #[command(
        after_help = "The schema or grammar goes to standard output, the loss report to standard error.\n\nExample:\n  countersign contract export llm_step_output --for openai > schema.json"
    )]
    Export {
        /// Contract id, `id@version`, or path
        id: String,
        /// Provider or format to export for
        #[arg(long = "for", value_enum, value_name = "TARGET")]
        target: ExportTargetArg,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum IntakeArg {
    /// One JSON object, with only white space around it
    Strict,
    /// The same, or one code fence around the object
    Fenced,
    /// Prose around the object, which is searched for in the text
    Tolerant,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RepairLevelArg {
    /// No repairs: the JSON is read as it is
    None,
    /// Byte-order mark, code fence, trailing comma, comments
    Lossless,
    /// Also other quotes, unquoted keys, Python literals, raw line breaks
    Syntactic,
    /// Also missing quotes, commas and closing brackets
    Guess,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FinishReasonArg {
    /// The model finished its reply
    Stop,
    /// The reply was cut off
    Length,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportTargetArg {
    /// OpenAI strict structured outputs
    Openai,
    /// Anthropic structured outputs and tools
    Anthropic,
    /// Gemini response schemas
    Gemini,
    /// A GBNF grammar for llama.cpp
    Grammar,
}
