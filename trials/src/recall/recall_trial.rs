//! Runs the trial: asks every system every question, prints the report, and writes one line per
//! question.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use countersign_memory::policy::MemoryPolicy;
use countersign_memory::record::{MemoryEvent, SpeakerRole};
use countersign_memory::store::MemoryError;
use countersign_memory::tokens::{UnknownTokenizer, find_counter};
use countersign_memory::{Candidates, MemoryScopeError, RelevanceScore};
use serde_json::{Value, json};
use thiserror::Error;
use tokio::runtime::Runtime;

use super::bm25::Bm25Index;
use super::events::build_events;
use super::fts::FtsIndex;
use super::locomo::{UNANSWERABLE, read_conversations};
use super::packet_composer::{PacketComposer, RecallPacketError, collect_candidates};
use super::piece_cutter::cut_messages;
use super::recall_data::{RecallConversation, RecallDataError, RecallQuestion};
use super::recall_report;
use super::recall_tally::RecallTally;
use super::stored_conversation::{StoreConversationError, StoredConversation};
use super::talk_generator::generate_conversation;
use super::talk_source::read_talks;
use super::vector_ranking::{EmbeddedConversation, VectorRanking, VectorRankingError};

/// The variable in which `cargo xtask foreign` passes an embedder.
const EMBEDDER: &str = "COUNTERSIGN_TEST_EMBEDDER";

/// The folder of our own talks.
const TALKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/talks");

const SYSTEMS: [&str; 4] =
    ["countersign", "BM25, stems", "BM25, the person's turns alone", "SQLite FTS5, porter"];

/// Which conversations are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecallSet {
    /// The conversations of `LoCoMo` between two people.
    Locomo,
    /// Our own talks between a person and an assistant.
    Talks,
}

/// Which part of our own talks is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TalkPart {
    /// The talks that rules may be tuned on.
    Development,
    /// The talks that are kept apart.
    HeldOut,
    /// Both.
    All,
}

/// The command-line arguments of the trial.
#[derive(Debug, Clone, Args)]
pub(crate) struct RecallTrialArgs {
    /// The conversations to ask about.
    #[arg(long, value_enum, default_value = "locomo")]
    set: RecallSet,
    /// The part of our own talks.
    #[arg(long, value_enum, default_value = "all")]
    part: TalkPart,
    /// Store messages in pieces of at most so many tokens instead of whole.
    #[arg(long)]
    pieces: Option<u64>,
    /// The file of `LoCoMo`; by default `locomo-dev/conversations.json` in the data folder.
    #[arg(long)]
    data: Option<PathBuf>,
    /// The packet budgets in tokens.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 2_000, 4_000])]
    budget: Vec<u64>,
    /// The question categories, as the report names them; all that have an answer when absent.
    #[arg(long, value_delimiter = ',')]
    category: Vec<String>,
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
    /// Ask Countersign alone, which is quicker.
    #[arg(long)]
    without_baselines: bool,
    /// The file to which to write one JSON line per question.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Why the trial could not run.
#[derive(Debug, Error)]
pub(crate) enum RecallTrialError {
    /// The conversations cannot be used.
    #[error(transparent)]
    Data(#[from] RecallDataError),
    /// A conversation's name is not a valid scope name.
    #[error(transparent)]
    Scope(#[from] MemoryScopeError),
    /// A conversation could not be stored.
    #[error(transparent)]
    Store(#[from] StoreConversationError),
    /// A conversation could not be searched.
    #[error(transparent)]
    Memory(#[from] MemoryError),
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
    /// The report could not be written, or a folder not be made.
    #[error("{0}")]
    Io(#[from] io::Error),
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
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
    let packets = PacketComposer { policy, counter: find_counter(&settings.tokenizer)? };
    let conversations = select_conversations(settings, &packets)?;
    let many = if settings.without_baselines { 1 } else { SYSTEMS.len() };
    let systems = SYSTEMS.into_iter().take(many).map(str::to_owned);
    let systems = systems.chain(near.iter().flat_map(VectorRanking::system_names));
    let mut tallies: Vec<_> = systems.map(|system| (system, RecallTally::default())).collect();
    let mut lines = String::new();
    for conversation in &conversations {
        let systems = ConversationSystems::build(&runtime, conversation, &packets, near.as_ref())?;
        for question in conversation.questions.iter().filter(|it| settings.selects(it)) {
            let answers = systems.answer(question, &packets, settings)?;
            for ((_, tally), answer) in tallies.iter_mut().zip(&answers) {
                let (gold, inside) = (question.evidence.len(), answer.count_included());
                tally.add(&conversation.id, &question.category, gold, &inside);
            }
            if let Some(ours) = answers.first() {
                lines += &format!("{}\n", ours.to_json(conversation, question, settings));
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

/// Reads or makes the conversations of the settings.
fn select_conversations(
    settings: &RecallTrialArgs,
    packets: &PacketComposer,
) -> Result<Vec<RecallConversation>, RecallDataError> {
    let all = match settings.set {
        RecallSet::Locomo => read_conversations(settings.data.as_deref())?,
        RecallSet::Talks => {
            let talks = read_talks(Path::new(TALKS))?;
            let selected = talks.iter().filter(|talk| match settings.part {
                TalkPart::Development => !talk.held_out,
                TalkPart::HeldOut => talk.held_out,
                TalkPart::All => true,
            });
            selected.map(generate_conversation).collect()
        }
    };
    Ok(match settings.pieces {
        Some(most) => all.iter().map(|one| cut_messages(one, most, &*packets.counter)).collect(),
        None => all,
    })
}

impl RecallTrialArgs {
    fn selects(&self, question: &RecallQuestion) -> bool {
        let named = if self.category.is_empty() {
            question.category != UNANSWERABLE
        } else {
            self.category.contains(&question.category)
        };
        named && !question.evidence.is_empty()
    }
}

/// Every system with the same conversation.
struct ConversationSystems<'c> {
    conversation: &'c RecallConversation,
    events: Vec<MemoryEvent>,
    ours: StoredConversation<'c>,
    bm25: Bm25Index,
    of_person: Bm25Index,
    fts: FtsIndex,
    near: Option<EmbeddedConversation<'c>>,
}

impl<'c> ConversationSystems<'c> {
    fn build(
        runtime: &'c Runtime,
        conversation: &'c RecallConversation,
        packets: &PacketComposer,
        near: Option<&'c VectorRanking>,
    ) -> Result<Self, RecallTrialError> {
        let events = build_events(conversation)?;
        let near = near.map(|near| near.embed_conversation(&events)).transpose()?;
        Ok(Self {
            conversation,
            ours: StoredConversation::store(runtime, &events, &packets.policy)?,
            bm25: Bm25Index::build(conversation, None),
            of_person: Bm25Index::build(conversation, Some(SpeakerRole::User)),
            fts: FtsIndex::build(conversation)?,
            near,
            events,
        })
    }

    /// Asks every system; the answers are in the order of their names.
    fn answer(
        &self,
        question: &RecallQuestion,
        packets: &PacketComposer,
        settings: &RecallTrialArgs,
    ) -> Result<Vec<QuestionResult>, RecallTrialError> {
        let text = &question.text;
        let by_rank = |ranked| {
            let found = collect_candidates(&self.events, &score_by_rank(ranked));
            settings.budget.iter().map(|_| found.clone()).collect::<Vec<_>>()
        };
        let retrieved = settings.budget.iter().map(|budget| self.ours.retrieve(text, *budget));
        let mut found = vec![retrieved.collect::<Result<Vec<_>, _>>()?];
        if !settings.without_baselines {
            found.push(by_rank(self.bm25.rank_turns(text)));
            found.push(by_rank(self.of_person.rank_turns(text)));
            found.push(by_rank(self.fts.rank_turns(text)?));
        }
        if let Some(near) = &self.near {
            for ranked in near.rank_turns(text)? {
                let candidates = collect_candidates(&self.events, &ranked);
                found.push(settings.budget.iter().map(|_| candidates.clone()).collect());
            }
        }
        let evaluate = |found: &Vec<Candidates>| self.evaluate(question, packets, settings, found);
        found.iter().map(evaluate).collect()
    }

    fn evaluate(
        &self,
        question: &RecallQuestion,
        packets: &PacketComposer,
        settings: &RecallTrialArgs,
        found: &[Candidates],
    ) -> Result<QuestionResult, RecallTrialError> {
        let turns = &self.conversation.turns;
        let messages: BTreeMap<&str, &str> =
            turns.iter().map(|turn| (turn.id.as_str(), turn.message.as_str())).collect();
        let message = |id: &str| messages.get(id).copied().unwrap_or_default();
        let ranks = question.evidence.iter().map(|gold| {
            let quotes = found.last().into_iter().flat_map(|found| &found.quotes);
            quotes
                .enumerate()
                .find(|(_, quote)| gold.is_shown_by(message(&quote.row.id), &quote.row.text))
                .map(|(at, _)| at + 1)
        });
        let mut included = Vec::new();
        for (budget, found) in settings.budget.iter().zip(found) {
            let Some(last) = self.events.last() else { continue };
            let quotes = packets.select_quotes(last, found, &question.text, *budget)?;
            let gold = question.evidence.iter().map(|gold| {
                quotes.iter().any(|it| gold.is_shown_by(message(&it.evidence_id), &it.quote))
            });
            included.push(gold.collect());
        }
        Ok(QuestionResult { ranks: ranks.collect(), included })
    }
}

/// Assigns scores to a ranking without scores: the first turn gets the highest.
fn score_by_rank(ranked: Vec<usize>) -> Vec<(usize, RelevanceScore)> {
    let scores = (1..=ranked.len() as i64).rev();
    let score = |total| RelevanceScore { total, ..RelevanceScore::default() };
    ranked.into_iter().zip(scores.map(score)).collect()
}

/// The results for the messages that answer a question.
struct QuestionResult {
    /// The rank of each message, starting at 1; `None` if it was not found.
    ranks: Vec<Option<usize>>,
    /// For each budget, whether each message was included.
    included: Vec<Vec<bool>>,
}

impl QuestionResult {
    /// Returns, for each budget, how many messages were included.
    fn count_included(&self) -> Vec<usize> {
        self.included.iter().map(|inside| inside.iter().filter(|is_in| **is_in).count()).collect()
    }

    fn to_json(
        &self,
        conversation: &RecallConversation,
        question: &RecallQuestion,
        settings: &RecallTrialArgs,
    ) -> Value {
        let budgets = settings.budget.iter().map(ToString::to_string);
        let inside: serde_json::Map<String, Value> =
            budgets.zip(self.included.iter().map(|inside| json!(inside))).collect();
        let gold: Vec<&String> = question.evidence.iter().map(|gold| &gold.message).collect();
        json!({
            "conversation": conversation.id,
            "question": question.text,
            "category": question.category,
            "gold": gold,
            "ranks": self.ranks,
            "inside": inside,
        })
    }
}
