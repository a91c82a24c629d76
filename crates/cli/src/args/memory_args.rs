//! Commands about memory, as clap sees them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use countersign_store::TenantId;

use super::memory_learning_args::{
    MemoryAgeArgs, MemoryCandidatesArgs, MemoryInsightArgs, MemoryLearnArgs, MemoryPromoteArgs,
    MemoryProposeArgs, MemoryRefuseArgs, MemorySummarizeArgs,
};

/// Stores memories and composes packets from them within a token budget.
#[derive(Debug, Parser)]
pub(crate) struct MemoryArgs {
    #[command(flatten)]
    pub(crate) scope_args: ScopeArgs,
    #[command(subcommand)]
    pub(crate) command: MemoryCommand,
}

/// Scope of the memory, its database, and the timestamp to use as now.
#[derive(Debug, Clone, Args)]
pub(crate) struct ScopeArgs {
    /// Memory database, a file or `postgres://…`; if omitted, beside the runs if those are on a server, else
    /// `.countersign/memory.db`
    #[arg(long, value_name = "STORE", global = true, help_heading = "Memory scope")]
    pub(crate) store: Option<String>,
    /// Tenant that the memory belongs to
    #[arg(
        long,
        value_name = "NAME",
        global = true,
        default_value_t = TenantId::default().to_string(),
        help_heading = "Memory scope"
    )]
    pub(crate) tenant: String,
    /// User that the memory belongs to; default: `COUNTERSIGN_USER`, or `user` in countersign.toml
    #[arg(long, value_name = "NAME", global = true, help_heading = "Memory scope")]
    pub(crate) user: Option<String>,
    /// Agent that the memory belongs to; default: `COUNTERSIGN_AGENT`, or `agent` in countersign.toml
    #[arg(long, value_name = "NAME", global = true, help_heading = "Memory scope")]
    pub(crate) agent: Option<String>,
    /// Session that the memory belongs to
    #[arg(
        long,
        value_name = "NAME",
        global = true,
        default_value = "default",
        help_heading = "Memory scope"
    )]
    pub(crate) session: String,
    /// Run that the memory belongs to
    #[arg(
        long,
        value_name = "NAME",
        global = true,
        default_value = "default",
        help_heading = "Memory scope"
    )]
    pub(crate) run: String,
    /// Timestamp to use as now: `2026-01-21T12:00:00Z`, or `2026-01-21`
    #[arg(long, value_name = "TIME", global = true, help_heading = "Memory scope")]
    pub(crate) now: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Store an event, fact, episode, procedure, insight, working state or summary
    Remember(Box<MemoryRememberArgs>),
    /// Compose the memory text for a prompt within a token budget; the build is kept
    Compose(Box<MemoryComposeArgs>),
    /// Explain a build: what is in it and why, what is left out and why, and what it cost
    Explain(MemoryExplainArgs),
    /// Compose a build again: prove that its bytes are the same, or show what another policy changes
    Replay(MemoryReplayArgs),
    /// Search for events, best match first
    Search(MemorySearchArgs),
    /// Create vectors with an embedder for the events that have none
    Embed(MemoryEmbedArgs),
    /// Compress old episodes and merge related ones
    Age(MemoryAgeArgs),
    /// Remove expired items: those past their date, or those that ended with a run
    Expire(MemoryExpireArgs),
    /// Summarize the session in its best lines, or in the words of a model
    Summarize(MemorySummarizeArgs),
    /// Let a model propose what to remember, under a contract
    Propose(MemoryProposeArgs),
    /// List proposed candidates that wait for a decision
    Candidates(MemoryCandidatesArgs),
    /// Decide to keep a candidate, if the rules admit it
    Promote(MemoryPromoteArgs),
    /// Refuse a candidate
    Refuse(MemoryRefuseArgs),
    /// Mark an insight as validated: it was tested and holds
    Validate(MemoryInsightArgs),
    /// Mark an insight as rejected: it does not hold
    Reject(MemoryInsightArgs),
    /// Turn a validated insight into a fact or a procedure
    Learn(Box<MemoryLearnArgs>),
    /// Export everything that a user and an agent have, as JSON Lines
    Export(MemoryExportArgs),
    /// Import a file that `export` wrote, or what another memory or chat program exported
    Import(MemoryImportArgs),
    /// Erase a user, for one agent or for all of them: rows, index, builds, bytes
    Forget(MemoryForgetArgs),
    /// Prove byte by byte that a text is nowhere in the memory
    VerifyErased(VerifyErasedArgs),
    /// Prove that every row has a scope and refers to no row of another scope
    VerifyScope,
    /// Count junk: duplicates, contradictions, unsupported items, items that no packet ever used
    Audit,
}

#[derive(Debug, Parser)]
#[command(after_help = "The text goes to standard output, the build id to standard error.

Examples:
  countersign memory compose --message \"What does Ann eat?\" --tokens 600
  countersign memory compose --purpose responder --keyword dinner --entity Ann
  countersign memory compose --message \"When did we meet?\" --policy recall --packet")]
pub(crate) struct MemoryComposeArgs {
    /// Kind of prompt that the text goes into
    #[arg(long, default_value = "planner", value_parser = ["planner", "tool", "responder"])]
    pub(crate) purpose: String,
    /// Current message: used for ranking, never shown
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Keyword that the prompt is about; can be repeated
    #[arg(long = "keyword", value_name = "WORD")]
    pub(crate) keywords: Vec<String>,
    /// Person or thing that the prompt is about; can be repeated
    #[arg(long = "entity", value_name = "NAME")]
    pub(crate) entities: Vec<String>,
    /// Tag that the prompt is about; can be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Start of the time range that the prompt is about
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// End of the time range that the prompt is about
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Kind of task, which selects the procedures
    #[arg(long, value_name = "NAME")]
    pub(crate) task_type: Option<String>,
    /// Token budget; overrides the policy's budget
    #[arg(long, value_name = "N")]
    pub(crate) tokens: Option<u64>,
    /// Token budget of a section, such as `facts=200`; overrides the policy's shares. Can be repeated; sections that
    /// are not named get none
    #[arg(long = "section", value_name = "NAME=N", value_parser = parse_section)]
    pub(crate) sections: Vec<(String, u64)>,
    /// Policy to use: `default`, `recall`, or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "default")]
    pub(crate) policy: String,
    /// Model that creates vectors, if the policy gives them weight: `openai:NAME[@ADDRESS]` or `ollama:NAME`;
    /// default: `COUNTERSIGN_EMBEDDER`, or `embedder` in countersign.toml
    #[arg(long, value_name = "MODEL")]
    pub(crate) embedder: Option<String>,
    /// Tokenizer that counts the tokens
    #[arg(long, default_value = "o200k", value_parser = ["o200k", "cl100k", "chars"])]
    pub(crate) tokenizer: String,
    /// Print the packet instead of its text
    #[arg(long)]
    pub(crate) packet: bool,
}

#[derive(Debug, Parser)]
#[command(after_help = "Finished work is kept; run it again to continue after an interruption.

Examples:
  countersign memory embed --embedder openai:text-embedding-3-small
  countersign memory embed --embedder openai:minilm@http://127.0.0.1:8080/v1")]
pub(crate) struct MemoryEmbedArgs {
    /// Model that creates the vectors: `openai:NAME[@ADDRESS]` or `ollama:NAME`; default: `COUNTERSIGN_EMBEDDER`, or
    /// `embedder` in countersign.toml
    #[arg(long, value_name = "MODEL")]
    pub(crate) embedder: Option<String>,
}

#[derive(Debug, Parser)]
pub(crate) struct MemoryExplainArgs {
    /// Build id, as `compose` printed it
    pub(crate) build: String,
}

#[derive(Debug, Parser)]
#[command(after_help = "Exits with 1 if the bytes differ from those of the original build.")]
pub(crate) struct MemoryReplayArgs {
    /// Build id, as `compose` printed it
    pub(crate) build: String,
    /// Another policy, to see what it changes: `default`, `recall`, or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) policy: Option<String>,
}

#[derive(Debug, Parser)]
pub(crate) struct MemorySearchArgs {
    /// Model that creates vectors, to also find events of similar meaning; default: `COUNTERSIGN_EMBEDDER`, or
    /// `embedder` in countersign.toml
    #[arg(long, value_name = "MODEL")]
    pub(crate) embedder: Option<String>,
    /// Text to search for
    pub(crate) text: String,
    /// Maximum number of events to list
    #[arg(long, default_value_t = 10)]
    pub(crate) limit: usize,
}

#[derive(Debug, Parser)]
#[command(after_help = "Examples:
  countersign memory remember --event \"I am vegetarian\" --user ann --agent helper
  countersign memory remember --fact diet=vegetarian --source e-4be1a2c0778f90d1e23a --quote vegetarian
  countersign memory remember --insight \"She may like tofu\" --confidence 0.4
  countersign memory remember turns.jsonl

A line of JSON uses the same names: {\"event\": \"Hello\", \"role\": \"assistant\", \"ts\": \"2026-01-21T12:00:00Z\"}
Exits with 1 if something was refused.")]
pub(crate) struct MemoryRememberArgs {
    /// JSON Lines file, one item per line; `-` reads standard input
    #[arg(conflicts_with = "item")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) item: MemoryItemArgs,
    #[command(flatten)]
    pub(crate) details: ItemDetailArgs,
}

/// Parses `NAME=N`: a section and its token budget.
fn parse_section(text: &str) -> Result<(String, u64), String> {
    let (name, tokens) = text.split_once('=').ok_or("expected NAME=N, such as `facts=200`")?;
    let tokens = tokens.parse().map_err(|_| format!("expected a number, found `{tokens}`"))?;
    Ok((name.to_owned(), tokens))
}

/// The one item to remember.
#[derive(Debug, Args)]
#[group(id = "item", multiple = false)]
pub(crate) struct MemoryItemArgs {
    /// Event: something that was said or done
    #[arg(long, value_name = "TEXT")]
    pub(crate) event: Option<String>,
    /// Fact: something that is true; the value is JSON, or else a text
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) fact: Option<String>,
    /// Episode: something that happened, described as a whole
    #[arg(long, value_name = "TEXT")]
    pub(crate) episode: Option<String>,
    /// Procedure for a kind of task: a JSON file with steps, tools, format
    #[arg(long, value_name = "FILE")]
    pub(crate) procedure: Option<PathBuf>,
    /// Insight: an unproven hypothesis, strategy or pattern
    #[arg(long, value_name = "TEXT")]
    pub(crate) insight: Option<String>,
    /// Working state of the run: a JSON file with goal, slots, constraints, plan, decisions, risks
    #[arg(long, value_name = "FILE")]
    pub(crate) working_memory: Option<PathBuf>,
    /// Short summary of the session so far
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
}

/// Details of the item to remember.
#[derive(Debug, Args)]
pub(crate) struct ItemDetailArgs {
    /// Item id; derived from content and time if omitted
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// Role of the speaker; `user` if omitted (event)
    #[arg(long, value_parser = ["user", "assistant", "tool"])]
    pub(crate) role: Option<String>,
    /// Kind of event; if omitted, `tool_result` for role `tool`, else `message` (event)
    #[arg(long, value_parser = ["message", "tool_result", "decision", "state_patch"])]
    pub(crate) kind: Option<String>,
    /// Origin of the item, which decides what it may be trusted for
    #[arg(long, value_parser = ["user", "tool", "web", "model", "system", "imported"])]
    pub(crate) origin: Option<String>,
    /// Name of the speaker (event)
    #[arg(long, value_name = "NAME")]
    pub(crate) speaker: Option<String>,
    /// Build id of the packet that the author was shown (event)
    #[arg(long, value_name = "ID")]
    pub(crate) build: Option<String>,
    /// Time of the event; now if omitted (event)
    #[arg(long, value_name = "TIME")]
    pub(crate) ts: Option<String>,
    /// Tag by which cues find the item; can be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Person or thing that the item is about; can be repeated
    #[arg(long = "entity", value_name = "NAME")]
    pub(crate) entities: Vec<String>,
    /// Id of an event that supports the item; can be repeated
    #[arg(long = "source", value_name = "EVENT")]
    pub(crate) sources: Vec<String>,
    /// Exact quotation from the first source (fact)
    #[arg(long, value_name = "TEXT", requires = "sources")]
    pub(crate) quote: Option<String>,
    /// Confidence from 0 to 1; if omitted, 0.5 for a fact and 0.3 for an insight (fact, insight)
    #[arg(long, value_name = "NUMBER")]
    pub(crate) confidence: Option<f64>,
    /// Level that the fact belongs to; `user` if omitted (fact)
    #[arg(long, value_parser = ["user", "agent", "tenant"])]
    pub(crate) level: Option<String>,
    /// Mark the fact as a preference (fact)
    #[arg(long)]
    pub(crate) preference: bool,
    /// Confirm the fact as a person: it replaces everything that contradicts it (fact)
    #[arg(long)]
    pub(crate) confirmed: bool,
    /// Remark for people (fact)
    #[arg(long, value_name = "TEXT")]
    pub(crate) notes: Option<String>,
    /// Time from which the fact holds (fact)
    #[arg(long, value_name = "TIME")]
    pub(crate) valid_from: Option<String>,
    /// Time until which the fact holds (fact)
    #[arg(long, value_name = "TIME")]
    pub(crate) valid_to: Option<String>,
    /// Start of the episode; its end if omitted (episode)
    #[arg(long, value_name = "TIME")]
    pub(crate) start: Option<String>,
    /// End of the episode; its start, or else now, if omitted (episode)
    #[arg(long, value_name = "TIME")]
    pub(crate) end: Option<String>,
    /// Important point of the episode; can be repeated (episode)
    #[arg(long = "highlight", value_name = "TEXT")]
    pub(crate) highlights: Vec<String>,
    /// How far the episode is condensed already; `raw` if omitted (episode)
    #[arg(long, value_parser = ["raw", "phase_summary", "milestone"])]
    pub(crate) compression_level: Option<String>,
    /// Kind of task; `generic` if omitted (procedure)
    #[arg(long, value_name = "NAME")]
    pub(crate) task_type: Option<String>,
    /// Priority, the highest first; 0 if omitted (procedure)
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    /// Number of past uses, which decides between equal priorities; 0 if omitted (procedure)
    #[arg(long, value_name = "N")]
    pub(crate) usage: Option<u64>,
    /// Kind of prompt that the procedure is for; can be repeated; every kind if omitted (procedure)
    #[arg(long = "purpose", value_parser = ["planner", "tool", "responder"])]
    pub(crate) purposes: Vec<String>,
    /// Further conditions under which the procedure applies: a JSON file (procedure)
    #[arg(long, value_name = "FILE")]
    pub(crate) applicability: Option<PathBuf>,
    /// What prompted the insight; `synthesis` if omitted (insight)
    #[arg(long, value_parser = ["conflict", "failure", "synthesis", "analogy"])]
    pub(crate) trigger: Option<String>,
    /// Suggestion for testing the insight; can be repeated (insight)
    #[arg(long = "test", value_name = "TEXT")]
    pub(crate) tests_suggested: Vec<String>,
    /// Kind of insight; `hypothesis` if omitted (insight)
    #[arg(long = "type", value_parser = ["hypothesis", "strategy", "pattern"])]
    pub(crate) insight_type: Option<String>,
    /// Validation state of the insight; `unvalidated` if omitted (insight)
    #[arg(long, value_parser = ["unvalidated", "testing", "validated", "rejected"])]
    pub(crate) validation: Option<String>,
    /// Time until which the item may be seen: a timestamp, or `run_end`; an insight ends with its run if omitted
    /// (event, insight)
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<String>,
}

#[derive(Debug, Parser)]
#[command(after_help = "The file contains all text in full. Builds are not included.")]
pub(crate) struct MemoryExportArgs {
    /// File to write; standard output if omitted
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "Everything that is imported with --from has the origin `imported`; importing it again adds nothing.
Exits with 1 if something was refused; the rest is still kept.

Examples:
  countersign memory import memory.jsonl
  countersign memory import --from chatgpt chatgpt-export.zip --user ann --agent helper --dry-run
  countersign memory import --from markdown notes/ --user ann --agent helper --report report.jsonl"
)]
pub(crate) struct MemoryImportArgs {
    /// File to read; `-` reads standard input. With --from also a ZIP archive or a folder
    pub(crate) file: PathBuf,
    /// Treat the file as an unmodified Countersign export: restore origins, revisions and verdicts as they were
    #[arg(long, conflicts_with = "from")]
    pub(crate) trusted: bool,
    /// Program that wrote the export; `export` of this program if omitted
    #[arg(long, value_name = "PROGRAM", value_parser = ["mem0", "zep", "letta", "chatgpt", "claude", "markdown"])]
    pub(crate) from: Option<String>,
    /// Show what would be imported and what would be left out, without storing anything
    #[arg(long, requires = "from")]
    pub(crate) dry_run: bool,
    /// File for the full report: one line of JSON for each part of the export
    #[arg(long, value_name = "FILE", requires = "from")]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "Only --user and --agent select what to erase; the environment is ignored. Without --agent, all agents are included.

Examples:
  countersign memory forget --user ann
  countersign memory forget --user ann --agent helper --yes"
)]
pub(crate) struct MemoryForgetArgs {
    /// Do not ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "Packets never contain expired items, even before they are removed. A run removes its own expired items when it ends.

Examples:
  countersign memory expire --dry-run
  countersign memory expire --run monday --run-ended"
)]
pub(crate) struct MemoryExpireArgs {
    /// Treat the run (`--run`) as ended: also remove what ends with it
    #[arg(long)]
    pub(crate) run_ended: bool,
    /// Also remove items that builds used (these builds cannot be composed again) and insights that were not validated
    #[arg(long)]
    pub(crate) include_used: bool,
    /// Show what would be removed, without removing it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Parser)]
#[command(after_help = "Exits with 1 if a text was found, and shows the file and the byte offset.")]
pub(crate) struct VerifyErasedArgs {
    /// Text that must not be found; can be repeated
    #[arg(long = "needle", value_name = "TEXT")]
    pub(crate) needles: Vec<String>,
    /// File with texts that must not be found, one per line
    #[arg(long = "needles", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}
