//! The candidates a store retrieves for a request: the visible rows with their scores. Composing
//! reads nothing else.
//!
//! The store enforces the scope: every row belongs to the requesting subject or, for facts, to its
//! agent or tenant. Composing applies status, validity, expiry, windows and purposes, so that the
//! packet can name the rows they exclude; the store need not apply them.

use std::collections::BTreeMap;

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::{FactStatus, ScopeLevel};
use serde::{Deserialize, Serialize};

use crate::record::{
    MemoryEpisode, MemoryEvent, MemoryEventKind, MemoryFact, MemoryInsight, MemoryOrigin,
    MemoryProcedure, SessionSummary, WorkingMemory,
};
use crate::rules::ValidityPeriod;

/// The rows a store retrieved. The order of the lists does not matter, because composing sorts them
/// by its own keys.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidates {
    /// The working state of the run; absent if the run has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_memory: Option<WorkingMemory>,
    /// The rolling summary of the session; absent if none was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<SessionSummary>,
    /// Facts of every level and status. Superseded facts are included so that the packet can name
    /// them.
    #[serde(default)]
    pub facts: Vec<ScoredRow<MemoryFact>>,
    /// Procedures for the requested task type.
    #[serde(default)]
    pub procedures: Vec<ScoredRow<MemoryProcedure>>,
    /// Episodes of the subject.
    #[serde(default)]
    pub episodes: Vec<ScoredRow<MemoryEpisode>>,
    /// Insights of the run, and insights that outlive their own run. They are retrieved for every
    /// purpose, because composing recognizes the insights that a responder must not see by their
    /// words.
    #[serde(default)]
    pub insights: Vec<ScoredRow<MemoryInsight>>,
    /// For a responder: insights of other runs that nobody has validated. The packet contains none
    /// of them; composing uses their words to withhold text that repeats them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld_insights: Vec<MemoryInsight>,
    /// For a responder: validated insights that the authors of the events below had seen and that
    /// are missing from `insights`. Text that was written after an insight becomes visible once the
    /// insight is validated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleared_insights: Vec<MemoryInsight>,
    /// Level and id of each fact whose origin is a user or a tool, regardless of its evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vouched_facts: Vec<(ScopeLevel, String)>,
    /// Events that match the cues or the message, and events that the summary quotes.
    #[serde(default)]
    pub quotes: Vec<ScoredRow<MemoryEvent>>,
    /// The latest events of the session.
    #[serde(default)]
    pub window: Vec<MemoryEvent>,
    /// The events that the rows above cite, by id. Rows in `quotes` and `window` cite themselves
    /// and need not appear here.
    #[serde(default)]
    pub evidence: BTreeMap<String, CitedEvent>,
    /// Reads that stopped at a limit, so that only the newest rows were considered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truncations: Vec<ReadTruncation>,
}

impl Candidates {
    /// Returns whether a superseded fact was still valid at a timestamp: within its own validity
    /// period and before its successor's begins.
    pub(crate) fn was_valid_at(&self, fact: &MemoryFact, at: Timestamp) -> bool {
        let Some(by) = &fact.superseded_by else { return false };
        let mut others = self.facts.iter().map(|other| &other.row);
        let mut by = || others.find(|other| other.id == *by && other.level == fact.level);
        let begins = |by: &MemoryFact| by.valid_from.is_some_and(|from| at < from);
        ValidityPeriod::from_fact(fact).contains(at) && by().is_some_and(begins)
    }

    /// Returns whether the origin of a fact is a user or a tool.
    pub(crate) fn is_vouched(&self, fact: &MemoryFact) -> bool {
        self.vouched_facts.iter().any(|(level, id)| (*level, id) == (fact.level, &fact.id))
    }

    /// Returns whether a disputed fact with the same key and level gives another value at a
    /// timestamp.
    pub(crate) fn is_contested(&self, fact: &MemoryFact, at: Timestamp) -> bool {
        self.facts.iter().map(|other| &other.row).any(|other| {
            other.status == FactStatus::Disputed
                && (other.level, &other.key) == (fact.level, &fact.key)
                && other.value != fact.value
                && ValidityPeriod::from_fact(other).contains(at)
        })
    }
}

/// A read that stopped at a limit because there are more rows than one packet considers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadTruncation {
    /// What was read: events that contain a word of the request, or a kind of row. The word itself
    /// is not included, because the current message is never shown.
    pub description: String,
    /// The number of rows that were read, newest first.
    pub read: u64,
    /// The total number of rows, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// A row with its relevance to the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoredRow<T> {
    /// The stored row, unchanged.
    pub row: T,
    /// The relevance of the row; zero if it matches nothing.
    pub score: RelevanceScore,
}

/// A score in millionths, as an integer so that it is the same on every machine. It is zero for a
/// row that matches nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelevanceScore {
    /// The total score that ranking uses.
    pub total: i64,
    /// The components of the score by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, i64>,
    /// The number of the piece of a long message that matches best, starting at 1; absent if the
    /// message is short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece: Option<u32>,
}

/// The part of an event that a citation shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CitedEvent {
    /// The kind of the event, shown in the type of the citation.
    pub kind: MemoryEventKind,
    /// The origin of the event, shown in the type of the citation.
    pub origin: MemoryOrigin,
    /// The timestamp at which the event happened.
    pub ts: Timestamp,
    /// The full text of the event; the citation's summary is a shortened copy.
    pub text: String,
    /// The ids of the insights that the author of the event had seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen_insights: Vec<String>,
}

impl<T> ScoredRow<T> {
    /// Wraps a row with a score of zero.
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
