//! Runs the trial: asks every system every question, prints the report, and writes one line per
//! question.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use countersign_memory::policy::MemoryPolicy;
use countersign_memory::record::MemoryEvent;
use countersign_memory::tokens::{UnknownTokenizer, find_counter};
use countersign_memory::{MemoryScopeError, RelevanceScore};
use serde_json::{Value, json};
use thiserror::Error;

use super::bm25::Bm25Index;
use super::conversation::{self, LocomoConversation, LocomoDataError, LocomoQuestion};
use super::countersign_index::CountersignIndex;
use super::events::build_events;
use super::fts::FtsIndex;
use super::packet_composer::{PacketComposer, RecallPacketError};
use super::recall_report;
use super::recall_tally::RecallTally;
use super::vector_ranking::{VectorRanking, VectorRankingError};

/// The variable in which `cargo xtask foreign` passes an embedder.
const EMBEDDER: &str = "COUNTERSIGN_TEST_EMBEDDER";

const SYSTEMS: [&str; 3] = ["countersign", "BM25, stems", "SQLite FTS5, porter"];

/// The command-line arguments of the trial.
#[derive(Debug, Clone, Args)]
pub(crate) struct RecallTrialArgs {
    /// The conversations file; by default `locomo-dev/conversations.json` in the data folder.
    #[arg(long)]
    data: Option<PathBuf>,
    /// The packet budgets in tokens.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 2_000, 4_000])]
    budget: Vec<u64>,
    /// The question categories: 1 multi-hop, 2 temporal, 3 open, 4 single-hop, 5 without an answer.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3, 4])]
    category: Vec<u8>,
    /// The name of the packet composition policy.
    #[arg(long, default_value = "recall")]
    policy: String,
    /// The tokenizer: `cl100k`, `o200k` or `chars/4`.
    #[arg(long, default_value = "cl100k")]
    tokenizer: String,
    /// An embedder to evaluate too, as `openai:NAME@ADDRESS`; `cargo xtask foreign run` provides
    /// one.
    #[arg(long)]
    embedder: Option<String>,
    /// The weight of the best vector match relative to the best word match, in millionths.
    #[arg(long, value_delimiter = ',', default_values_t = [250_000, 500_000, 1_000_000])]
    weight: Vec<i64>,
    /// The file to which to write one JSON line per question.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Why the trial could not run.
#[derive(Debug, Error)]
pub(crate) enum RecallTrialError {
    /// The conversations cannot be used.
    #[error(transparent)]
    Data(#[from] LocomoDataError),
    /// A conversation's name is not a valid scope name.
    #[error(transparent)]
    Scope(#[from] MemoryScopeError),
    /// No shipped policy has this name.
    #[error("unknown policy `{0}`; expected `default` or `recall`")]
    Policy(String),
    /// No token counter has this name.
    #[error(transparent)]
    Tokenizer(#[from] UnknownTokenizer),
    /// A packet could not be built.
    #[error(transparent)]
    Packet(#[from] RecallPacketError),
    /// The vector ranking failed.
    #[error(transparent)]
    VectorRanking(#[from] VectorRankingError),
    /// The `SQLite` full-text search failed.
    #[error("the SQLite full-text search failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The report could not be written.
    #[error("the report could not be written: {0}")]
    Report(#[from] io::Error),
}

/// Runs the trial. Always returns `true`, because the figures are not guarantees.
pub(crate) fn run(
    settings: &RecallTrialArgs,
    out: &mut dyn Write,
) -> Result<bool, RecallTrialError> {
    let policy = MemoryPolicy::load_shipped(&settings.policy)
        .ok_or_else(|| RecallTrialError::Policy(settings.policy.clone()))?;
    let embedder = settings.embedder.clone().or_else(|| std::env::var(EMBEDDER).ok());
    let near = embedder
        .map(|spec| VectorRanking::connect(&spec, &settings.weight, &policy))
        .transpose()?;
    let packets = PacketComposer { policy, counter: find_counter(&settings.tokenizer)? };
    let conversations = conversation::read_conversations(settings.data.as_deref())?;
    let systems = SYSTEMS.into_iter().map(str::to_owned);
    let systems = systems.chain(near.iter().flat_map(VectorRanking::system_names));
    let mut tallies: Vec<_> = systems.map(|system| (system, RecallTally::default())).collect();
    let mut lines = String::new();
    for conversation in &conversations {
        let events = build_events(conversation)?;
        let ours = CountersignIndex::build(&events);
        let bm25 = Bm25Index::build(conversation);
        let fts = FtsIndex::build(conversation)?;
        let talk = near.as_ref().map(|near| near.embed_conversation(&events)).transpose()?;
        let selected = |question: &&LocomoQuestion| {
            settings.category.contains(&question.category) && !question.evidence.is_empty()
        };
        for question in conversation.questions.iter().filter(selected) {
            let text = &question.text;
            let mut rankings = vec![
                ours.rank_turns(text),
                score_by_rank(bm25.rank_turns(text)),
                score_by_rank(fts.rank_turns(text)?),
            ];
            if let Some(talk) = &talk {
                rankings.extend(talk.rank_turns(text)?);
            }
            for (number, ((_, tally), ranked)) in tallies.iter_mut().zip(&rankings).enumerate() {
                let answer = QuestionResult::evaluate(
                    &packets,
                    &events,
                    question,
                    ranked,
                    &settings.budget,
                )?;
                tally.add(
                    &conversation.id,
                    question.category,
                    answer.ranks.len(),
                    &answer.count_included(),
                );
                if number == 0 {
                    lines += &format!("{}\n", answer.to_json(conversation, question, settings));
                }
            }
        }
    }
    let questions = tallies[0].1.all.questions;
    writeln!(
        out,
        "{} conversations, {questions} questions, policy `{}`, tokens by {}",
        conversations.len(),
        settings.policy,
        packets.counter.id()
    )?;
    recall_report::write_tables(out, &settings.budget, &tallies)?;
    if let Some(path) = &settings.out {
        fs::write(path, lines)?;
    }
    Ok(true)
}

/// Assigns scores to a ranking without scores: the first turn gets the highest.
fn score_by_rank(ranked: Vec<usize>) -> Vec<(usize, RelevanceScore)> {
    let scores = (1..=ranked.len() as i64).rev();
    let score = |total| RelevanceScore { total, parts: BTreeMap::new() };
    ranked.into_iter().zip(scores.map(score)).collect()
}

/// The results for the turns that answer a question.
struct QuestionResult {
    /// The rank of each turn, starting at 1; `None` if it was not found.
    ranks: Vec<Option<usize>>,
    /// For each budget, whether each turn was included.
    included: Vec<Vec<bool>>,
}

impl QuestionResult {
    fn evaluate(
        packets: &PacketComposer,
        events: &[MemoryEvent],
        question: &LocomoQuestion,
        ranked: &[(usize, RelevanceScore)],
        budgets: &[u64],
    ) -> Result<Self, RecallPacketError> {
        let gold = &question.evidence;
        let rank =
            |id: &String| ranked.iter().position(|(at, _)| events[*at].id == *id).map(|at| at + 1);
        let mut inside = Vec::new();
        for budget in budgets {
            let ids = packets.select_turns(events, ranked, &question.text, *budget)?;
            inside.push(gold.iter().map(|id| ids.contains(id)).collect());
        }
        Ok(Self { ranks: gold.iter().map(rank).collect(), included: inside })
    }

    /// Returns, for each budget, how many turns were included.
    fn count_included(&self) -> Vec<usize> {
        self.included.iter().map(|inside| inside.iter().filter(|is_in| **is_in).count()).collect()
    }

    fn to_json(
        &self,
        conversation: &LocomoConversation,
        question: &LocomoQuestion,
        settings: &RecallTrialArgs,
    ) -> Value {
        let budgets = settings.budget.iter().map(ToString::to_string);
        let inside: serde_json::Map<String, Value> =
            budgets.zip(self.included.iter().map(|inside| json!(inside))).collect();
        json!({
            "conversation": conversation.id,
            "question": question.text,
            "category": question.category,
            "gold": question.evidence,
            "ranks": self.ranks,
            "inside": inside,
        })
    }
}
