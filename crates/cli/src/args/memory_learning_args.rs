//! Commands by which memory grows, as clap sees them.

use std::path::PathBuf;

use clap::{Args, Parser};

#[derive(Debug, Parser)]
#[command(
    after_help = "A proposal is not used as knowledge: it waits as a candidate, which you promote or refuse.
Exits with 1 if the contract `memory_candidates_v1` refused every reply; then nothing was written.

Examples:
  countersign memory propose --model ollama:llama3.2
  countersign memory propose --model script:replies.yaml --session monday --events 100"
)]
pub(crate) struct MemoryProposeArgs {
    /// Model that reads the events; default: `COUNTERSIGN_MODEL`, or `model` in countersign.toml
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Maximum number of the latest events of the session to show to the model
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) events: usize,
}

#[derive(Debug, Parser)]
pub(crate) struct MemoryCandidatesArgs {
    /// Also list candidates that were already decided
    #[arg(long)]
    pub(crate) all: bool,
    /// Maximum number of candidates to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "Exits with 1 if the rules refuse the candidate; the refusal is recorded with its reason."
)]
pub(crate) struct MemoryPromoteArgs {
    /// Candidate id, or a unique prefix of it
    pub(crate) candidate: String,
    /// Confirm the candidate yourself: it replaces everything that contradicts it
    #[arg(long)]
    pub(crate) confirmed: bool,
}

#[derive(Debug, Parser)]
pub(crate) struct MemoryRefuseArgs {
    /// Candidate id, or a unique prefix of it
    pub(crate) candidate: String,
    /// Reason for the refusal
    #[arg(long, value_name = "TEXT", default_value = "refused by hand")]
    pub(crate) reason: String,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "The insight stays an insight: it still expires with its run, or at its date, unless you use `memory learn`."
)]
pub(crate) struct MemoryInsightArgs {
    /// Insight id, or a unique prefix of it
    pub(crate) insight: String,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "The result is supported by the events that support the insight, and the rules check it like any other claim of yours.
Exits with 1 if the insight is not validated, or if the rules refuse the result.

Examples:
  countersign memory validate i-4be1a2c077
  countersign memory learn i-4be1a2c077 --fact likes=tofu --preference
  countersign memory learn i-4be1a2c077 --procedure steps.json --task-type dinner"
)]
pub(crate) struct MemoryLearnArgs {
    /// Insight id, or a unique prefix of it
    pub(crate) insight: String,
    #[command(flatten)]
    pub(crate) item: LearnedItemArgs,
    /// Item id; derived from content and time if omitted
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// Confidence from 0 to 1; 0.5 if omitted (fact)
    #[arg(long, value_name = "NUMBER")]
    pub(crate) confidence: Option<f64>,
    /// Mark the fact as a preference (fact)
    #[arg(long)]
    pub(crate) preference: bool,
    /// Remark for people (fact)
    #[arg(long, value_name = "TEXT")]
    pub(crate) notes: Option<String>,
    /// Time from which the fact holds (fact)
    #[arg(long, value_name = "TIME")]
    pub(crate) valid_from: Option<String>,
    /// Time until which the fact holds (fact)
    #[arg(long, value_name = "TIME")]
    pub(crate) valid_to: Option<String>,
    /// Kind of task; `generic` if omitted (procedure)
    #[arg(long, value_name = "NAME")]
    pub(crate) task_type: Option<String>,
    /// Priority, the highest first; 0 if omitted (procedure)
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    /// Tag by which cues find the item; can be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Person or thing that the item is about; can be repeated
    #[arg(long = "entity", value_name = "NAME")]
    pub(crate) entities: Vec<String>,
}

/// The fact or procedure that an insight becomes.
#[derive(Debug, Args)]
#[group(id = "learned_item", required = true, multiple = false)]
pub(crate) struct LearnedItemArgs {
    /// Fact: something that is true; the value is JSON, or else a text
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) fact: Option<String>,
    /// Procedure for a kind of task: a JSON file with steps, tools, format
    #[arg(long, value_name = "FILE")]
    pub(crate) procedure: Option<PathBuf>,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "A week of episodes becomes phase summaries once all of it is older than `ageing.raw` days of the policy (7); four
weeks become milestones after `ageing.phase_summary` days (30). No model is called, and nothing is lost."
)]
pub(crate) struct MemoryAgeArgs {
    /// Show what would be done, without doing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Policy that sets the days: `default`, `recall`, or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "default")]
    pub(crate) policy: String,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "Without a model: the most informative lines, in the words of their speakers. With a model: a summary under the
contract `memory_summary_v1`; exits with 1 if it refused every reply. Neither contains text of insights.

Examples:
  countersign memory summarize --session monday
  countersign memory summarize --model ollama:llama3.2 --tokens 120 --dry-run"
)]
pub(crate) struct MemorySummarizeArgs {
    /// Model that writes the summary; fixed rules write it if omitted
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Maximum length of the summary, in tokens
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub(crate) tokens: u64,
    /// Show the summary without storing it
    #[arg(long)]
    pub(crate) dry_run: bool,
}
