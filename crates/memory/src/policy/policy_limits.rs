//! Numeric limits and weights of a policy.

use serde::{Deserialize, Serialize};

/// The maximum number of items of each kind in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct PacketCaps {
    pub facts: usize,
    pub procedures: usize,
    /// Quoted events per 1,000 tokens of the budget.
    pub quotes: usize,
    /// Messages of the conversation window.
    pub window: usize,
    pub episodes: usize,
    pub insights: usize,
    pub tool_evidence: usize,
}

/// The maximum number of candidates that compete for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CandidateCaps {
    /// The maximum of all kinds together.
    pub total: usize,
    /// The maximum of each kind.
    pub per_kind: usize,
}

/// The number of tokens that the limit of quotes refers to; a smaller budget counts as this many.
const QUOTE_LIMIT_TOKENS: u64 = 1_000;

/// Returns the maximum number of quotes for a budget; it never decreases as the budget grows.
#[must_use]
pub(crate) fn limit_quotes(caps: PacketCaps, candidates: CandidateCaps, max_tokens: u64) -> usize {
    let tokens = u128::from(max_tokens.max(QUOTE_LIMIT_TOKENS));
    let scaled = caps.quotes as u128 * tokens / u128::from(QUOTE_LIMIT_TOKENS);
    usize::try_from(scaled).unwrap_or(usize::MAX).min(candidates.per_kind)
}

/// Age limits in days since the end of an episode, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgeingPolicy {
    /// Up to this age an episode needs no cue.
    pub raw: u32,
    /// Up to this age an episode needs a cue.
    pub phase_summary: u32,
    /// Up to this age an episode needs a strong cue; older episodes are left out.
    pub milestone: u32,
}

/// Shares of a section's budget in thousandths; together at most 1,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierShares {
    /// The share for items in full; above 0.
    pub raw: u32,
    /// The share for shortened items.
    pub short: u32,
    /// The share for items that are given as a reference only.
    #[serde(rename = "ref")]
    pub reference: u32,
}

/// The score that a matching cue adds to an item, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActivationWeights {
    /// Added for an entity that the item is about.
    pub entity: i64,
    /// Added for a tag that the item has.
    pub tag: i64,
    /// Added for a keyword that the item contains.
    pub keyword: i64,
    /// Added if the item falls into the requested time range.
    pub time: i64,
    /// Added if the item contains all words of the message; a proportional part if it contains some
    /// of them.
    pub message: i64,
}
