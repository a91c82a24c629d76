//! Something that might be worth remembering, and what became of it.

use countersign_core::run::Timestamp;
use serde::{Deserialize, Serialize};

use super::{MemoryEpisode, MemoryFact, MemoryInsight, MemoryOrigin, MemoryProcedure};

/// A claim that waits to be promoted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimCandidate {
    /// Unique within its subject.
    pub id: String,
    /// From 1.
    pub revision: u32,
    /// Where it came from.
    pub origin: MemoryOrigin,
    /// What it claims.
    pub claim: MemoryClaim,
    /// What became of it.
    pub state: CandidateState,
    /// When this revision was written down.
    pub recorded_at: Timestamp,
}

/// What a candidate claims, as it would be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum MemoryClaim {
    Fact(Box<MemoryFact>),
    Episode(Box<MemoryEpisode>),
    Procedure(Box<MemoryProcedure>),
    Insight(Box<MemoryInsight>),
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum CandidateState {
    /// Nobody has ruled on it.
    Proposed,
    /// It was kept, under this id.
    Promoted {
        /// What it became.
        id: String,
    },
    /// It was not, and why.
    Refused {
        /// In a sentence.
        reason: String,
    },
}
