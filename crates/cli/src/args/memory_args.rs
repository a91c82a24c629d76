//! Commands about memory, as clap sees them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use countersign_store::TenantId;

use super::memory_learning_args::{
    MemoryAgeArgs, MemoryCandidatesArgs, MemoryInsightArgs, MemoryLearnArgs, MemoryPromoteArgs,
    MemoryProposeArgs, MemoryRefuseArgs, MemorySummarizeArgs,
};

/// Remembers, and composes packets of what is remembered within a budget.
#[derive(Debug, Parser)]
pub(crate) struct MemoryArgs {
    #[command(flatten)]
    pub(crate) scope_args: ScopeArgs,
    #[command(subcommand)]
    pub(crate) command: MemoryCommand,
}

/// Whose memory, where it is kept, and which moment counts as now.
#[derive(Debug, Clone, Args)]
pub(crate) struct ScopeArgs {
    /// Where the memory is kept, a file or `postgres://…`; else beside the runs where those are on a server, and in
    /// `.countersign/memory.db`
    #[arg(long, value_name = "PLACE", global = true, help_heading = "Whose memory")]
    pub(crate) store: Option<String>,
    /// The tenant
    #[arg(
        long,
        value_name = "NAME",
        global = true,
        default_value_t = TenantId::default().to_string(),
        help_heading = "Whose memory"
    )]
    pub(crate) tenant: String,
    /// The user; else `COUNTERSIGN_USER`, or `user` in countersign.toml
    #[arg(long, value_name = "NAME", global = true, help_heading = "Whose memory")]
    pub(crate) user: Option<String>,
    /// The agent; else `COUNTERSIGN_AGENT`, or `agent` in countersign.toml
    #[arg(long, value_name = "NAME", global = true, help_heading = "Whose memory")]
    pub(crate) agent: Option<String>,
    /// The session
    #[arg(
        long,
        value_name = "NAME",
        global = true,
        default_value = "default",
        help_heading = "Whose memory"
    )]
    pub(crate) session: String,
    /// The run
    #[arg(
        long,
        value_name = "NAME",
        global = true,
        default_value = "default",
        help_heading = "Whose memory"
    )]
    pub(crate) run: String,
    /// The moment that counts as now: `2026-01-21T12:00:00Z`, or `2026-01-21`
    #[arg(long, value_name = "TIME", global = true, help_heading = "Whose memory")]
    pub(crate) at: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Remember something: an event, a fact, an episode, a procedure, a guess, a working state
    Remember(Box<MemoryRememberArgs>),
    /// Compose what goes into a prompt, within a budget; the build is kept
    Compose(Box<MemoryComposeArgs>),
    /// Tell what is in a build and why, what is not and why not, and what it cost
    Explain(MemoryExplainArgs),
    /// Compose a build again: the same bytes, or what another policy makes different
    Replay(MemoryReplayArgs),
    /// Look for events
    Search(MemorySearchArgs),
    /// Let an embedder make vectors of the events that have none
    Embed(MemoryEmbedArgs),
    /// Tell shorter what happened long ago, and as one what belongs together
    Age(MemoryAgeArgs),
    /// Take out what is over: what had its date, or ended with a run
    Expire(MemoryExpireArgs),
    /// Sum the session up: in its best lines, or in the words of a model
    Summarize(MemorySummarizeArgs),
    /// Let a model propose what is worth remembering, under a contract
    Propose(MemoryProposeArgs),
    /// List what is proposed and waits for a ruling
    Candidates(MemoryCandidatesArgs),
    /// Rule on a candidate: it is kept, if the rules let it in
    Promote(MemoryPromoteArgs),
    /// Refuse a candidate
    Refuse(MemoryRefuseArgs),
    /// Say of a guess that it was tested and holds
    Validate(MemoryInsightArgs),
    /// Say of a guess that it does not hold
    Reject(MemoryInsightArgs),
    /// Make a fact or a procedure of a guess that is validated
    Learn(Box<MemoryLearnArgs>),
    /// Write all that a user and an agent have, as JSON Lines
    Export(MemoryExportArgs),
    /// Read what `export` wrote
    Import(MemoryImportArgs),
    /// Erase a user, with one agent or with every one: rows, index, builds, bytes
    Forget(MemoryForgetArgs),
    /// Prove that a text stands nowhere in the memory, byte by byte
    VerifyErased(VerifyErasedArgs),
    /// Prove that every row has a scope, and refers to no other's
    VerifyScope,
    /// Count junk: duplicates, contradictions, what nothing supports, what nobody ever needed
    Audit,
}

#[derive(Debug, Parser)]
#[command(after_help = "The text goes to standard output, the name of the build to standard error.

Examples:
  countersign memory compose --message \"What does Ann eat?\" --tokens 600
  countersign memory compose --purpose responder --keyword dinner --entity Ann
  countersign memory compose --message \"When did we meet?\" --policy recall --packet")]
pub(crate) struct MemoryComposeArgs {
    /// Which kind of prompt it goes into
    #[arg(long, default_value = "planner", value_parser = ["planner", "tool", "responder"])]
    pub(crate) purpose: String,
    /// What is being said now: ranked with, never shown
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// A word it is about; may be given several times
    #[arg(long = "keyword", value_name = "WORD")]
    pub(crate) keywords: Vec<String>,
    /// Whom or what it is about; may be given several times
    #[arg(long = "entity", value_name = "NAME")]
    pub(crate) entities: Vec<String>,
    /// A tag it is about; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// The beginning of the time it is about
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// The end of the time it is about
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// The kind of task: selects the procedures
    #[arg(long, value_name = "NAME")]
    pub(crate) task_type: Option<String>,
    /// How many tokens, instead of the policy's
    #[arg(long, value_name = "N")]
    pub(crate) tokens: Option<u64>,
    /// How many of them a section may take, instead of the policy's shares: `facts=200`; may be given several times,
    /// and sections that are not named get none
    #[arg(long = "section", value_name = "NAME=N", value_parser = parse_section)]
    pub(crate) sections: Vec<(String, u64)>,
    /// `default`, `recall`, or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "default")]
    pub(crate) policy: String,
    /// Who makes vectors, where the policy gives them weight: `openai:NAME[@ADDRESS]`, `ollama:NAME`; else
    /// `COUNTERSIGN_EMBEDDER`, or `embedder` in countersign.toml
    #[arg(long, value_name = "MODEL")]
    pub(crate) embedder: Option<String>,
    /// Who counts the tokens
    #[arg(long, default_value = "o200k", value_parser = ["o200k", "cl100k", "chars"])]
    pub(crate) tokenizer: String,
    /// Print the packet instead of its text
    #[arg(long)]
    pub(crate) packet: bool,
}

#[derive(Debug, Parser)]
#[command(after_help = "What is done stays done: broken off, it goes on where it was.

Examples:
  countersign memory embed --embedder openai:text-embedding-3-small
  countersign memory embed --embedder openai:minilm@http://127.0.0.1:8080/v1")]
pub(crate) struct MemoryEmbedArgs {
    /// Who makes them: `openai:NAME[@ADDRESS]` or `ollama:NAME`; else `COUNTERSIGN_EMBEDDER`, or `embedder`
    /// in countersign.toml
    #[arg(long, value_name = "MODEL")]
    pub(crate) embedder: Option<String>,
}

#[derive(Debug, Parser)]
pub(crate) struct MemoryExplainArgs {
    /// The build, as `compose` named it
    pub(crate) build: String,
}

#[derive(Debug, Parser)]
#[command(after_help = "Ends with 1 where the bytes are not those of then.")]
pub(crate) struct MemoryReplayArgs {
    /// The build, as `compose` named it
    pub(crate) build: String,
    /// Another policy, to see what it makes different: `default`, `recall`, or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) policy: Option<String>,
}

#[derive(Debug, Parser)]
pub(crate) struct MemorySearchArgs {
    /// Who makes vectors, so that what is near in meaning is found too; else `COUNTERSIGN_EMBEDDER`, or
    /// `embedder` in countersign.toml
    #[arg(long, value_name = "MODEL")]
    pub(crate) embedder: Option<String>,
    /// What to look for
    pub(crate) text: String,
    /// How many at most
    #[arg(long, default_value_t = 10)]
    pub(crate) limit: usize,
}

#[derive(Debug, Parser)]
#[command(after_help = "Examples:
  countersign memory remember --event \"I am vegetarian\" --user ann --agent helper
  countersign memory remember --fact diet=vegetarian --source e-4be1a2c0778f90d1e23a --quote vegetarian
  countersign memory remember --insight \"She may like tofu\" --confidence 0.4
  countersign memory remember turns.jsonl

A line of JSON says the same by the same names: {\"event\": \"Hello\", \"role\": \"assistant\", \"ts\": \"2026-01-21T12:00:00Z\"}
Ends with 1 where something was refused.")]
pub(crate) struct MemoryRememberArgs {
    /// JSON Lines, one thing a line; `-` is standard input
    #[arg(conflicts_with = "what")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) item: MemoryItemArgs,
    #[command(flatten)]
    pub(crate) details: ItemDetailArgs,
}

/// `NAME=N`: a section and its tokens.
fn parse_section(text: &str) -> Result<(String, u64), String> {
    let (name, tokens) = text.split_once('=').ok_or("expected NAME=N, such as `facts=200`")?;
    let tokens = tokens.parse().map_err(|_| format!("expected a number, found `{tokens}`"))?;
    Ok((name.to_owned(), tokens))
}

/// The one thing that is to be remembered.
#[derive(Debug, Args)]
#[group(id = "what", multiple = false)]
pub(crate) struct MemoryItemArgs {
    /// Something that was said or done
    #[arg(long, value_name = "TEXT")]
    pub(crate) event: Option<String>,
    /// Something that is true; the value is JSON, or else a text
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) fact: Option<String>,
    /// Something that happened, told as a whole
    #[arg(long, value_name = "TEXT")]
    pub(crate) episode: Option<String>,
    /// A way of doing a kind of task: a JSON file with steps, tools, format
    #[arg(long, value_name = "FILE")]
    pub(crate) procedure: Option<PathBuf>,
    /// A guess
    #[arg(long, value_name = "TEXT")]
    pub(crate) insight: Option<String>,
    /// What the run is doing: a JSON file with goal, slots, constraints, plan, decisions, risks
    #[arg(long, value_name = "FILE")]
    pub(crate) working: Option<PathBuf>,
    /// The session so far, in short
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
}

/// What more is said of it.
#[derive(Debug, Args)]
pub(crate) struct ItemDetailArgs {
    /// Its id; made of what it says and when, where absent
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// Who spoke (event)
    #[arg(long, value_parser = ["user", "assistant", "tool"])]
    pub(crate) role: Option<String>,
    /// What it is (event)
    #[arg(long, value_parser = ["message", "tool_result", "decision", "state_patch"])]
    pub(crate) kind: Option<String>,
    /// Where it came from: what it may be trusted for
    #[arg(long, value_parser = ["user", "tool", "web", "model", "system", "imported"])]
    pub(crate) origin: Option<String>,
    /// The name of whoever spoke (event)
    #[arg(long, value_name = "NAME")]
    pub(crate) speaker: Option<String>,
    /// The build of the packet that its writer was shown (event)
    #[arg(long, value_name = "ID")]
    pub(crate) build: Option<String>,
    /// When it happened, instead of now (event)
    #[arg(long, value_name = "TIME")]
    pub(crate) ts: Option<String>,
    /// By which cues find it; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Whom and what it is about; may be given several times
    #[arg(long = "entity", value_name = "NAME")]
    pub(crate) entities: Vec<String>,
    /// The id of an event it rests on; may be given several times
    #[arg(long = "source", value_name = "EVENT")]
    pub(crate) sources: Vec<String>,
    /// Words that stand in the first source, letter for letter (fact)
    #[arg(long, value_name = "TEXT", requires = "sources")]
    pub(crate) quote: Option<String>,
    /// From 0 to 1 (fact, insight)
    #[arg(long, value_name = "NUMBER")]
    pub(crate) confidence: Option<f64>,
    /// Whom it belongs to (fact)
    #[arg(long, value_parser = ["user", "agent", "tenant"])]
    pub(crate) level: Option<String>,
    /// It is a preference (fact)
    #[arg(long)]
    pub(crate) preference: bool,
    /// A person answers for it: it takes the place of whatever contradicts it (fact)
    #[arg(long)]
    pub(crate) confirmed: bool,
    /// From when it holds (fact)
    #[arg(long, value_name = "TIME")]
    pub(crate) valid_from: Option<String>,
    /// Until when it holds (fact)
    #[arg(long, value_name = "TIME")]
    pub(crate) valid_to: Option<String>,
    /// When it began (episode)
    #[arg(long, value_name = "TIME")]
    pub(crate) start: Option<String>,
    /// When it ended (episode)
    #[arg(long, value_name = "TIME")]
    pub(crate) end: Option<String>,
    /// A point that matters; may be given several times (episode)
    #[arg(long = "highlight", value_name = "TEXT")]
    pub(crate) highlights: Vec<String>,
    /// The kind of task (procedure)
    #[arg(long, value_name = "NAME")]
    pub(crate) task_type: Option<String>,
    /// The highest comes first (procedure)
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    /// How often it was used: decides between equal priorities (procedure)
    #[arg(long, value_name = "N")]
    pub(crate) usage: Option<u64>,
    /// Which kind of prompt it is for; may be given several times, for every one where absent (procedure)
    #[arg(long = "purpose", value_parser = ["planner", "tool", "responder"])]
    pub(crate) purposes: Vec<String>,
    /// What kind of guess (insight)
    #[arg(long = "type", value_parser = ["hypothesis", "strategy", "pattern"])]
    pub(crate) insight_type: Option<String>,
    /// How far it was tested (insight)
    #[arg(long, value_parser = ["unvalidated", "testing", "validated", "rejected"])]
    pub(crate) validation: Option<String>,
    /// Until when it may be seen: a moment, or `run_end` (event, insight)
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<String>,
}

#[derive(Debug, Parser)]
#[command(after_help = "The file holds every word. Builds are not in it.")]
pub(crate) struct MemoryExportArgs {
    /// The file; standard output where absent
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Parser)]
#[command(after_help = "Ends with 1 where a line was refused; the others are kept all the same.")]
pub(crate) struct MemoryImportArgs {
    /// The file; `-` is standard input
    pub(crate) file: PathBuf,
    /// It is an export of ours that nobody touched: origins, revisions and verdicts come back as they were
    #[arg(long)]
    pub(crate) ours: bool,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "Whom is said by --user and --agent, never by the environment; without --agent, every agent is meant.

Examples:
  countersign memory forget --user ann
  countersign memory forget --user ann --agent helper --yes"
)]
pub(crate) struct MemoryForgetArgs {
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "What is over is in no packet any more, whether it was taken out or not. Runs that end take their own out.

Examples:
  countersign memory expire --dry-run
  countersign memory expire --run monday --run-ended"
)]
pub(crate) struct MemoryExpireArgs {
    /// The run (`--run`) is over: what ends with it goes too
    #[arg(long)]
    pub(crate) run_ended: bool,
    /// Also what builds used, which cannot be composed again then, and guesses that were not validated
    #[arg(long)]
    pub(crate) used: bool,
    /// Only tell what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Parser)]
#[command(after_help = "Ends with 1 where it was found, and says in which file and at which byte.")]
pub(crate) struct VerifyErasedArgs {
    /// A text that must not be there; may be given several times
    #[arg(long = "needle", value_name = "TEXT")]
    pub(crate) needles: Vec<String>,
    /// A file with such a text a line
    #[arg(long = "needles", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}
