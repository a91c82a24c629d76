//! The numbers of a policy.

use serde::{Deserialize, Serialize};

/// How many of a kind go into a packet, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct PacketCaps {
    pub facts: usize,
    pub procedures: usize,
    pub quotes: usize,
    /// Messages of the conversation window.
    pub window: usize,
    pub episodes: usize,
    pub insights: usize,
    pub tool_evidence: usize,
}

/// How many items may try for a place in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CandidateCaps {
    /// Of all kinds together.
    pub all: usize,
    /// Of each kind.
    pub each: usize,
}

/// In days since the end of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgeingPolicy {
    /// Up to here it is recalled of itself.
    pub raw: u32,
    /// Up to here it needs a cue.
    pub phase_summary: u32,
    /// Up to here it needs a strong cue; beyond, it stays out.
    pub milestone: u32,
}

/// Thousandths of a section's budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierShares {
    /// For items given whole.
    pub raw: u32,
    /// For items given short.
    pub short: u32,
    /// For items of which only a reference is given.
    #[serde(rename = "ref")]
    pub reference: u32,
}

/// What a matching cue adds to an item's score, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActivationWeights {
    /// For an entity that the item is about.
    pub entity: i64,
    /// For a tag that it has.
    pub tag: i64,
    /// For a keyword that stands in it.
    pub keyword: i64,
    /// For the time that is asked about.
    pub time: i64,
    /// For all words of the message; as many of them as stand in it, in proportion.
    pub message: i64,
}
