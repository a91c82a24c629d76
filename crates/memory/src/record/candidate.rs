//! Claim candidates: claims that wait for a decision, and the decisions on them.

use countersign_contract::Timestamp;
use serde::{Deserialize, Serialize};

use super::{MemoryEpisode, MemoryFact, MemoryInsight, MemoryOrigin, MemoryProcedure};

/// A revision of a claim that waits for promotion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimCandidate {
    /// The candidate id, unique within its subject.
    pub id: String,
    /// The revision number, starting at 1.
    pub revision: u32,
    /// The origin of the claim.
    pub origin: MemoryOrigin,
    /// The claimed row, as it would be stored.
    pub claim: MemoryClaim,
    /// The decision on the candidate, if there is one.
    pub state: CandidateState,
    /// The timestamp at which this revision was recorded.
    pub recorded_at: Timestamp,
}

/// The row that a candidate claims, as it would be stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum MemoryClaim {
    Fact(Box<MemoryFact>),
    Episode(Box<MemoryEpisode>),
    Procedure(Box<MemoryProcedure>),
    Insight(Box<MemoryInsight>),
}

impl From<MemoryFact> for MemoryClaim {
    fn from(fact: MemoryFact) -> Self {
        Self::Fact(Box::new(fact))
    }
}

/// The state of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum CandidateState {
    /// No decision has been made yet.
    Proposed,
    /// The claim was promoted and stored.
    Promoted {
        /// The id of the stored row.
        id: String,
    },
    /// The claim was refused and not stored.
    Refused {
        /// The reason for the refusal, as a sentence.
        reason: String,
    },
}
