//! The memory policy: everything that determines a packet apart from the request and the stored
//! rows.

use countersign_contract::json::digest_json;
use serde::{Deserialize, Serialize};

use super::{
    ActivationWeights, AgeingPolicy, CandidateCaps, InjectionMatrix, PacketCaps, SimilarityPolicy,
    StrengthWeights, TierShares,
};

/// A memory policy. Every build stores a full copy of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "expected a map of keys to values")]
pub struct MemoryPolicy {
    /// The policy id, which the packet names.
    pub id: String,
    /// The policy version, in the form `major.minor.patch`.
    pub version: String,
    /// The token budget when the request does not set one; at least 256.
    pub max_tokens: u64,
    /// The maximum number of items of each kind in a packet; of quotes, per 1,000 tokens.
    pub caps: PacketCaps,
    /// The maximum number of candidates to consider.
    pub candidates: CandidateCaps,
    /// How many days back episodes are considered without a strong cue.
    pub episode_window: u32,
    /// The ages at which an episode needs a cue, needs a strong cue, or is left out.
    pub ageing: AgeingPolicy,
    /// The weights of the strengths in the matrix.
    pub strengths: StrengthWeights,
    /// What each purpose receives, and how strongly.
    pub matrix: InjectionMatrix,
    /// How a section that cannot fit every item divides its budget.
    pub tiers: TierShares,
    /// The maximum length of an item in tokens; longer items are always shortened.
    pub longest_item: u64,
    /// The length of a shortened item in tokens; above 0 and at most `longest_item`.
    pub short_item: u64,
    /// The score that each kind of matching cue adds.
    pub activation: ActivationWeights,
    /// How much vector similarity counts beside words.
    #[serde(default, skip_serializing_if = "SimilarityPolicy::is_default")]
    pub similarity: SimilarityPolicy,
    /// How the packet is rendered.
    pub render: RenderOptions,
    /// Whether a validated insight may go to a responder.
    pub allow_in_responder: bool,
}

/// Rendering options of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenderOptions {
    /// Whether lines cite their evidence.
    pub evidence: CitationMarkerStyle,
    /// How dates are written among quotes.
    pub dates: QuoteDateStyle,
}

/// Whether lines cite their evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CitationMarkerStyle {
    /// Lines have no citation markers.
    None,
    /// Lines end with the number of the citation: `[3]`.
    Numbers,
}

/// How dates are written among quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuoteDateStyle {
    /// No dates are written.
    None,
    /// One date for all quotes of a day, which is usually one per session.
    Day,
}

impl MemoryPolicy {
    /// Computes the digest of the whole policy.
    #[must_use]
    pub fn compute_digest(&self) -> String {
        digest_json(&serde_json::to_value(self).expect("a policy serializes to JSON"))
    }
}
