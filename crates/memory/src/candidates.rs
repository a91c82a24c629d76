//! What a store finds for a request: the rows that may be seen, with their scores. Composing reads
//! nothing else.
//!
//! The store answers for the scope: whatever stands here belongs to the subject that asks (or, for
//! facts, to its agent or tenant). Status, validity, expiry, windows and purposes are ruled on by
//! composing, so that what they keep out is named in the packet: the store need not apply them. *Not
//! here*: finding, scoring.

use std::collections::BTreeMap;

use countersign_contracts::memory::long_term::{FactStatus, ScopeLevel};
use countersign_core::run::Timestamp;
use serde::{Deserialize, Serialize};

use crate::record::{
    MemoryEpisode, MemoryEvent, MemoryEventKind, MemoryFact, MemoryInsight, MemoryOrigin,
    MemoryProcedure, SessionSummary, WorkingMemory,
};
use crate::rules::ValidityPeriod;

/// What a store found. The order of the lists does not matter: composing sorts by its own keys.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidates {
    /// The working state of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working: Option<WorkingMemory>,
    /// The summary of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<SessionSummary>,
    /// Facts of every level and status; superseded ones, so that the packet can name them.
    #[serde(default)]
    pub facts: Vec<ScoredRow<MemoryFact>>,
    /// Procedures of the task type.
    #[serde(default)]
    pub procedures: Vec<ScoredRow<MemoryProcedure>>,
    /// Episodes of the subject.
    #[serde(default)]
    pub episodes: Vec<ScoredRow<MemoryEpisode>>,
    /// Guesses of the run, and whatever guess outlives its own: for every purpose, because those that
    /// a responder must not see are known by their words.
    #[serde(default)]
    pub insights: Vec<ScoredRow<MemoryInsight>>,
    /// For a responder, what other runs guessed and nobody has validated: none of it is given, and its
    /// words are known by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guesses: Vec<MemoryInsight>,
    /// For a responder, the validated insights that writers of the events below were shown, where they do not stand
    /// in `insights`: what was written after an insight is seen once it is validated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleared: Vec<MemoryInsight>,
    /// The facts that a user or a tool answers for, by level and id, whatever else they rest on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vouched: Vec<(ScopeLevel, String)>,
    /// Events that the cues or the message activate, and those that the summary quotes.
    #[serde(default)]
    pub quotes: Vec<ScoredRow<MemoryEvent>>,
    /// The latest events of the session.
    #[serde(default)]
    pub window: Vec<MemoryEvent>,
    /// The events that the rows above cite, by id. The rows of `quotes` and `window` cite themselves
    /// and need not stand here.
    #[serde(default)]
    pub evidence: BTreeMap<String, CitedEvent>,
    /// What was not looked at as a whole, because there is too much of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<ReadTruncation>,
}

impl Candidates {
    /// Whether a fact that another took the place of still held at a moment: in its time, and before the
    /// other begins.
    pub(crate) fn was_valid_at(&self, fact: &MemoryFact, at: Timestamp) -> bool {
        let Some(by) = &fact.superseded_by else { return false };
        let mut others = self.facts.iter().map(|other| &other.row);
        let mut by = || others.find(|other| other.id == *by && other.level == fact.level);
        let begins = |by: &MemoryFact| by.valid_from.is_some_and(|from| at < from);
        ValidityPeriod::from_fact(fact).contains(at) && by().is_some_and(begins)
    }

    /// Whether a user or a tool answers for a fact.
    pub(crate) fn is_vouched(&self, fact: &MemoryFact) -> bool {
        self.vouched.iter().any(|(level, id)| (*level, id) == (fact.level, &fact.id))
    }

    /// Whether something that is disputed says otherwise than a fact at a moment.
    pub(crate) fn is_contested(&self, fact: &MemoryFact, at: Timestamp) -> bool {
        self.facts.iter().map(|other| &other.row).any(|other| {
            other.status == FactStatus::Disputed
                && (other.level, &other.key) == (fact.level, &fact.key)
                && other.value != fact.value
                && ValidityPeriod::from_fact(other).contains(at)
        })
    }
}

/// Something of which there is more than is looked at for one packet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadTruncation {
    /// What: the events that a word of the request stands in, or a kind of row. The word itself is not
    /// told: what is said now is never shown.
    pub what: String,
    /// How many were looked at: the newest.
    pub read: u64,
    /// Of how many, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
}

/// A row and how well it answers the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoredRow<T> {
    /// The row.
    pub row: T,
    /// How well it answers.
    pub score: RelevanceScore,
}

/// A score in millionths, so that it is the same on every machine. Zero for what answers nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelevanceScore {
    /// What counts.
    pub total: i64,
    /// What it was made of, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, i64>,
}

/// An event as far as a citation shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CitedEvent {
    /// What it is.
    pub kind: MemoryEventKind,
    /// Where it came from.
    pub origin: MemoryOrigin,
    /// When it happened.
    pub ts: Timestamp,
    /// Its words, from which the citation's summary is cut.
    pub text: String,
    /// The insights that its writer was shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen_insights: Vec<String>,
}

impl<T> ScoredRow<T> {
    /// A row that answers nothing in particular.
    #[must_use]
    pub fn from_row(row: T) -> Self {
        Self { row, score: RelevanceScore::default() }
    }
}

impl From<&MemoryEvent> for CitedEvent {
    fn from(event: &MemoryEvent) -> Self {
        let (kind, origin, ts) = (event.kind, event.origin, event.ts);
        let (text, seen_insights) = (event.text.clone(), event.seen_insights.clone());
        Self { kind, origin, ts, text, seen_insights }
    }
}
