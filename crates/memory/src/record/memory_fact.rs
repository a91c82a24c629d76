//! Facts: statements that are true, or were considered true.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::{FactStatus, ScopeLevel};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A revision of a fact. It is bitemporal: the validity period says when it holds, and
/// `recorded_at` when it was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryFact {
    /// The fact id, unique within its scope level.
    pub id: String,
    /// The revision number, starting at 1; each change of status creates a new revision.
    pub revision: u32,
    /// The key: what the fact is about, in one normalized spelling.
    pub key: String,
    /// The value of the fact as JSON.
    pub value: Value,
    /// Whether the fact is active, disputed or deprecated.
    pub status: FactStatus,
    /// The owner level: one user of one agent, all users of an agent, or the whole tenant.
    pub level: ScopeLevel,
    /// The start of the validity period, inclusive; unbounded when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// The end of the validity period, inclusive; unbounded when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// The timestamp at which this revision was recorded.
    pub recorded_at: Timestamp,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// The events that support the fact.
    pub evidence: Vec<FactEvidence>,
    /// Whether the fact is a preference; packets list preferences separately.
    #[serde(default)]
    pub preference: bool,
    /// Tags that the cues of a request match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The people and things that the fact is about; the cues of a request match them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
    /// A remark for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// The id of the fact that replaced this one; absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

/// A piece of evidence: an event and, optionally, the words in it that support the fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactEvidence {
    /// The id of the event.
    pub event: String,
    /// A verbatim quote from the event; absent if no words are quoted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

impl MemoryFact {
    /// Creates an active fact of one user, valid without bounds, with a confidence of 0.5 and
    /// without evidence.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        key: impl Into<String>,
        value: impl Into<Value>,
        now: Timestamp,
    ) -> Self {
        Self {
            id: id.into(),
            revision: 1,
            key: key.into(),
            value: value.into(),
            status: FactStatus::Active,
            level: ScopeLevel::User,
            valid_from: None,
            valid_to: None,
            recorded_at: now,
            confidence: 0.5,
            evidence: Vec::new(),
            preference: false,
            tags: Vec::new(),
            entities: Vec::new(),
            notes: String::new(),
            superseded_by: None,
        }
    }

    /// Adds an event that supports the fact.
    #[must_use]
    pub fn with_evidence(mut self, event: impl Into<String>) -> Self {
        self.evidence.push(FactEvidence { event: event.into(), quote: None });
        self
    }
}
