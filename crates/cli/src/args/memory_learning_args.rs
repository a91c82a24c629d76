//! Commands by which memory grows, as clap sees them.

use std::path::PathBuf;

use clap::{Args, Parser};

#[derive(Debug, Parser)]
#[command(
    after_help = "Nothing that is proposed is known: it waits as a candidate, which you promote or refuse.
Ends with 1 where the contract `memory_candidates_v1` refused every reply; then nothing was written.

Examples:
  countersign memory propose --model ollama:llama3.2
  countersign memory propose --model script:replies.yaml --session monday --events 100"
)]
pub(crate) struct MemoryProposeArgs {
    /// The model that reads the events; else `COUNTERSIGN_MODEL`, or `model` in countersign.toml
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How many of the latest events of the session it is shown, at most
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) events: usize,
}

#[derive(Debug, Parser)]
pub(crate) struct MemoryCandidatesArgs {
    /// Also those that were ruled on
    #[arg(long)]
    pub(crate) all: bool,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "Ends with 1 where the rules refuse it; that is written down with the reason."
)]
pub(crate) struct MemoryPromoteArgs {
    /// The candidate, or as much of the beginning of its id as is unique
    pub(crate) candidate: String,
    /// You answer for it: it takes the place of whatever contradicts it
    #[arg(long)]
    pub(crate) confirmed: bool,
}

#[derive(Debug, Parser)]
pub(crate) struct MemoryRefuseArgs {
    /// The candidate, or as much of the beginning of its id as is unique
    pub(crate) candidate: String,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "refused by hand")]
    pub(crate) because: String,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "The guess stays what it is: it still ends with its run, or at its date, unless it is learned."
)]
pub(crate) struct MemoryInsightArgs {
    /// The guess, or as much of the beginning of its id as is unique
    pub(crate) insight: String,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "What is learned rests on the events that the guess rests on, and goes through the rules as any other claim of yours.
Ends with 1 where the guess is not validated, or the rules refuse it.

Examples:
  countersign memory validate i-4be1a2c077
  countersign memory learn i-4be1a2c077 --fact likes=tofu --preference
  countersign memory learn i-4be1a2c077 --procedure steps.json --task-type dinner"
)]
pub(crate) struct MemoryLearnArgs {
    /// The guess, or as much of the beginning of its id as is unique
    pub(crate) insight: String,
    #[command(flatten)]
    pub(crate) item: LearnedItemArgs,
    /// Its id; made of what it says and when, where absent
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// From 0 to 1 (fact)
    #[arg(long, value_name = "NUMBER")]
    pub(crate) confidence: Option<f64>,
    /// It is a preference (fact)
    #[arg(long)]
    pub(crate) preference: bool,
    /// From when it holds (fact)
    #[arg(long, value_name = "TIME")]
    pub(crate) valid_from: Option<String>,
    /// Until when it holds (fact)
    #[arg(long, value_name = "TIME")]
    pub(crate) valid_to: Option<String>,
    /// The kind of task (procedure)
    #[arg(long, value_name = "NAME")]
    pub(crate) task_type: Option<String>,
    /// The highest comes first (procedure)
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    /// By which cues find it; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Whom and what it is about; may be given several times
    #[arg(long = "entity", value_name = "NAME")]
    pub(crate) entities: Vec<String>,
}

/// What a guess becomes.
#[derive(Debug, Args)]
#[group(id = "lesson", required = true, multiple = false)]
pub(crate) struct LearnedItemArgs {
    /// Something that is true; the value is JSON, or else a text
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) fact: Option<String>,
    /// A way of doing a kind of task: a JSON file with steps, tools, format
    #[arg(long, value_name = "FILE")]
    pub(crate) procedure: Option<PathBuf>,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "A week of episodes becomes phase summaries once all of it is older than `ageing.raw` days of the policy (7), four
weeks become milestones after `ageing.phase_summary` days (30). No model is asked, and nothing is lost."
)]
pub(crate) struct MemoryAgeArgs {
    /// Only tell what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Whose days count: `default`, `recall`, or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "default")]
    pub(crate) policy: String,
}

#[derive(Debug, Parser)]
#[command(
    after_help = "Without a model: the lines that say most, in the words of whoever said them. With one: under the contract
`memory_summary_v1`; ends with 1 where it refused every reply. Words of guesses go into neither.

Examples:
  countersign memory summarize --session monday
  countersign memory summarize --model ollama:llama3.2 --tokens 120 --dry-run"
)]
pub(crate) struct MemorySummarizeArgs {
    /// The model that writes it; rules do, where absent
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How many tokens at most
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub(crate) tokens: u64,
    /// Only show it
    #[arg(long)]
    pub(crate) dry_run: bool,
}
