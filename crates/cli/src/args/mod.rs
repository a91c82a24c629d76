//! The command line, as clap sees it. No behaviour.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

mod memory_learning_args;
mod memory_args;
mod run_args;
mod serve_args;
mod store_command_args;
mod trust_args;
mod worker_args;

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
    AnswerArgs, CancelArgs, CheckArgs, DecideArgs, DemoArgs, DiffArgs, DoctorArgs, ExportArgs,
    ForkArgs, GraphArgs, GraphFormat, HaltArgs, HistoryArgs, ImportArgs, InboxArgs, InitArgs,
    ListArgs, NextArgs, ReplayArgs, ResumeArgs, RunArgs, ShowArgs, StatusArgs, StoreArgs,
    SubmitArgs, TaskArgs, TaskCommand, TaskListArgs, TaskResetArgs,
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
    after_help = "Exit codes: 0 accepted, done · 1 refused · 2 usage, or a fault in your files · 3 the outside world"
)]
pub(crate) struct CliArgs {
    /// Print JSON, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// See it work: a small protocol with a scripted model, no key, no network
    Demo(DemoArgs),
    /// Put a protocol folder here, to be changed
    Init(InitArgs),
    /// Look for faults in a protocol before anything runs
    Check(CheckArgs),
    /// Start a run, and work on it until it rests
    Run(RunArgs),
    /// List runs
    List(ListArgs),
    /// Tell where a run stands, and why
    Status(StatusArgs),
    /// Tell what happened in a run
    History(HistoryArgs),
    /// Show the document of a run
    Show(ShowArgs),
    /// Show what changed between two versions of a run
    Diff(DiffArgs),
    /// Tell what a run asks for: prompt, contract, schema, ids
    Next(NextArgs),
    /// Hand in a reply, or a patch
    Submit(SubmitArgs),
    /// List what waits for a person
    Inbox(InboxArgs),
    /// Answer a question, or bring a document
    Answer(AnswerArgs),
    /// Say yes to what waits for it
    Approve(DecideArgs),
    /// Say no to what waits for a yes
    Deny(DecideArgs),
    /// Stop a run until it is resumed
    Halt(HaltArgs),
    /// Let a halted or blocked run go on
    Resume(ResumeArgs),
    /// End a run for good
    Cancel(CancelArgs),
    /// Look at the tasks of a run, and let failed ones be tried again
    Task(TaskArgs),
    /// Work on runs that are due, beside any number of others
    Worker(WorkerArgs),
    /// List who works, and what they hold
    Workers(WorkersArgs),
    /// Prove a run's log: fold it, check its chain, decide everything again
    Replay(ReplayArgs),
    /// Begin a new run from a version of another
    Fork(ForkArgs),
    /// Draw a workflow, with the phase a run stands in
    Graph(GraphArgs),
    /// Write a run into one file
    Export(ExportArgs),
    /// Read a run from a file
    Import(ImportArgs),
    /// Copy the database, and check all of it
    Store(StoreCommandArgs),
    /// Serve HTTP, with live events, and keep runs going
    Serve(ServeArgs),
    /// Let a coding agent drive runs: MCP over standard input and output
    Mcp(McpArgs),
    /// Make keys for the server, list them, take them back
    Key(KeyArgs),
    /// Show what a protocol may use beyond files, and trust it, or not
    Trust(TrustArgs),
    /// Tell what is set up, and which setting came from where
    Doctor(DoctorArgs),
    /// Hold one reply against one contract
    Admit(AdmitArgs),
    /// Look at contracts, compare versions, export for providers
    Contract(ContractArgs),
    /// Remember, and compose packets of what is remembered within a budget
    Memory(Box<MemoryArgs>),
    /// Print a completion script for your shell
    #[command(
        after_help = "Example:\n  countersign completions bash > /etc/bash_completion.d/countersign"
    )]
    Completions {
        /// Which shell
        shell: Shell,
    },
}

/// Holds one reply against one contract.
///
/// The accepted value goes to standard output, everything else to standard error.
#[derive(Debug, Parser)]
#[command(after_help = "Examples:
  echo '{\"verdict\": \"PASS\"}' | countersign admit guardian_report
  countersign admit xiaojing_review_v1 reply.txt --json
  countersign admit ./contracts/my_contract.yaml reply.txt --reask
  countersign admit analyst_plan reply.txt --repairs syntactic")]
pub(crate) struct AdmitArgs {
    /// The contract: an id, `id@version`, or the path of a contract file
    pub(crate) contract: String,
    /// The reply; `-` or nothing reads standard input
    pub(crate) file: Option<PathBuf>,
    /// Print the text that asks the model again
    #[arg(long)]
    pub(crate) reask: bool,
    /// What may stand around the object, instead of the contract's own word
    #[arg(long, value_enum)]
    pub(crate) intake: Option<IntakeArg>,
    /// Which repairs may be made, each level with those before it, instead of the contract's own word
    #[arg(long, value_enum)]
    pub(crate) repairs: Option<RepairLevelArg>,
    /// Why the model stopped, as its provider says; a reply that was cut off is never mended
    #[arg(long, value_enum, default_value = "stop")]
    pub(crate) finish: FinishReasonArg,
    /// A JSON file that rules see as `state`
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// A JSON file that rules see as `run`
    #[arg(long, value_name = "FILE")]
    pub(crate) run: Option<PathBuf>,
    /// A folder of contracts of your own
    #[arg(long, value_name = "DIR")]
    pub(crate) contracts: Option<PathBuf>,
}

/// Looks at contracts.
#[derive(Debug, Parser)]
pub(crate) struct ContractArgs {
    /// A folder of contracts of your own
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) contracts: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: ContractCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContractCommand {
    /// List every contract
    List,
    /// Show one contract: what it is for, its fields, its rules
    #[command(
        after_help = "Examples:\n  countersign contract show guardian_report\n  countersign contract show guardian_report --schema > guardian_report.schema.json"
    )]
    Show {
        /// The contract: an id, `id@version`, or a path
        id: String,
        /// Print only the JSON Schema
        #[arg(long)]
        schema: bool,
    },
    /// Check contracts: faults, misspelt keywords, unknown formats, defaults that do not fit
    #[command(
        after_help = "Ends with 0 where no error was found, else with 1.\n\nExamples:\n  countersign contract check ./contracts/review.yaml\n  countersign contract check guardian_report analyst_plan --strict"
    )]
    Check {
        /// The contracts: paths, ids, or `id@version`
        #[arg(required = true, value_name = "CONTRACT")]
        names: Vec<String>,
        /// Count warnings as errors
        #[arg(long)]
        strict: bool,
    },
    /// Say whether a new version is compatible, with a value that proves it when it is not
    #[command(
        after_help = "Ends with 0 where the new contract takes all that the old one took, else with 1.\n\nExample:\n  countersign contract diff review@1.0.0 ./contracts/review.yaml"
    )]
    Diff {
        /// The contract before: an id, `id@version`, or a path
        old: String,
        /// The contract after
        new: String,
        /// Past replies, one JSON value a line, to look for a proof among
        #[arg(long, value_name = "FILE")]
        examples: Option<PathBuf>,
    },
    /// Write the schema a provider can take, and what only we still enforce
    #[command(
        after_help = "The schema or grammar goes to standard output, the loss report to standard error.\n\nExample:\n  countersign contract export llm_step_output --for openai > schema.json"
    )]
    Export {
        /// The contract: an id, `id@version`, or a path
        id: String,
        /// Who shall take it
        #[arg(long = "for", value_enum, value_name = "TARGET")]
        target: ExportTargetArg,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum IntakeArg {
    /// One JSON object and white space
    Strict,
    /// That, or one code fence around it
    Fenced,
    /// The object is looked for in prose
    Tolerant,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RepairLevelArg {
    /// JSON as it is
    None,
    /// Byte-order mark, fence, trailing comma, comments
    Lossless,
    /// Also other quotes, bare keys, Python literals, raw line breaks
    Syntactic,
    /// Also what is missing: quotes, commas, closing brackets
    Guess,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FinishReasonArg {
    /// It was done
    Stop,
    /// It was cut off
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
