//! The trial itself: asks every system every question, prints the report, writes a line a question.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use countersign_memory::ScopeError;
use serde_json::{Value, json};
use thiserror::Error;

use super::bm25::Bm25;
use super::conversation::{self, Conversation, DataError, Question};
use super::fill::fill;
use super::fts::Fts;
use super::ours::Ours;
use super::report;
use super::tally::Tally;

const SYSTEMS: [&str; 3] = ["countersign", "BM25, stems", "SQLite FTS5, porter"];

/// What the command line says.
#[derive(Debug, Clone, Args)]
pub(crate) struct Settings {
    /// The file of conversations; `locomo-dev/conversations.json` of the data folder where absent.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Budgets in tokens.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 2_000, 4_000])]
    budget: Vec<u64>,
    /// Categories of questions: 1 multi-hop, 2 temporal, 3 open, 4 single-hop, 5 without an answer.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3, 4])]
    category: Vec<u8>,
    /// Writes a line of JSON for each question here.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Why the trial could not be held.
#[derive(Debug, Error)]
pub(crate) enum TrialError {
    /// There is nothing to ask about.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A conversation's name cannot be a scope.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// SQLite failed.
    #[error("the full-text search that is compared with failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The report could not be written.
    #[error("the report could not be written: {0}")]
    Report(#[from] io::Error),
}

/// Holds the trial; true, since figures are no promises.
pub(crate) fn run(settings: &Settings, out: &mut dyn Write) -> Result<bool, TrialError> {
    let conversations = conversation::read(settings.data.as_deref())?;
    let mut tallies = SYSTEMS.map(|system| (system, Tally::default()));
    let mut lines = String::new();
    for conversation in &conversations {
        let ours = Ours::index(conversation)?;
        let bm25 = Bm25::index(conversation);
        let fts = Fts::index(conversation)?;
        let asked = |question: &&Question| {
            settings.category.contains(&question.category) && !question.evidence.is_empty()
        };
        for question in conversation.questions.iter().filter(asked) {
            let text = &question.question;
            let rankings = [ours.ask(text), bm25.ask(text), fts.ask(text)?];
            for (number, ((_, tally), ranked)) in tallies.iter_mut().zip(&rankings).enumerate() {
                let answer = Answer::of(conversation, question, ranked, &settings.budget);
                tally.add(&conversation.id, question.category, answer.gold.len(), &answer.counts());
                if number == 0 {
                    lines += &format!("{}\n", answer.told(conversation, question, settings));
                }
            }
        }
    }
    let questions = tallies[0].1.all.questions;
    writeln!(out, "{} conversations, {questions} questions", conversations.len())?;
    report::tables(out, &settings.budget, &tallies)?;
    if let Some(path) = &settings.out {
        fs::write(path, lines)?;
    }
    Ok(true)
}

/// What became of the turns that answer a question.
struct Answer {
    gold: Vec<usize>,
    /// The rank of each, from 1; none where it was not found.
    ranks: Vec<Option<usize>>,
    /// For each budget, which of them came in.
    inside: Vec<Vec<bool>>,
}

impl Answer {
    fn of(
        conversation: &Conversation,
        question: &Question,
        ranked: &[usize],
        budgets: &[u64],
    ) -> Self {
        let by_id = conversation.by_id();
        let gold: Vec<usize> = question.evidence.iter().map(|id| by_id[id.as_str()]).collect();
        let rank = |turn: &usize| ranked.iter().position(|at| at == turn).map(|at| at + 1);
        let filled = fill(conversation, ranked, budgets);
        let inside =
            filled.iter().map(|filled| gold.iter().map(|turn| filled.contains(turn)).collect());
        Self { ranks: gold.iter().map(rank).collect(), inside: inside.collect(), gold }
    }

    /// For each budget, how many came in.
    fn counts(&self) -> Vec<usize> {
        self.inside.iter().map(|inside| inside.iter().filter(|is_in| **is_in).count()).collect()
    }

    fn told(&self, conversation: &Conversation, question: &Question, settings: &Settings) -> Value {
        let budgets = settings.budget.iter().map(ToString::to_string);
        let inside: serde_json::Map<String, Value> =
            budgets.zip(self.inside.iter().map(|inside| json!(inside))).collect();
        json!({
            "conversation": conversation.id,
            "question": question.question,
            "category": question.category,
            "gold": question.evidence,
            "ranks": self.ranks,
            "inside": inside,
        })
    }
}
