//! A policy: everything about a packet that is not the request and not the memory.

use countersign_core::json::digest_json;
use serde::{Deserialize, Serialize};

use super::{
    ActivationWeights, AgeingPolicy, CandidateCaps, InjectionMatrix, PacketCaps, SimilarityPolicy,
    StrengthWeights, TierShares,
};

/// A policy. It is kept whole with every build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "expected keys and their values")]
pub struct MemoryPolicy {
    /// The name a packet carries.
    pub id: String,
    /// `major.minor.patch`.
    pub version: String,
    /// How many tokens, where the request does not say.
    pub max_tokens: u64,
    /// How many of a kind.
    pub caps: PacketCaps,
    /// How many are looked at.
    pub candidates: CandidateCaps,
    /// How many days back episodes are looked for without a strong cue.
    pub episode_window: u32,
    /// When an episode is recalled of itself, needs a cue, needs a strong one.
    pub ageing: AgeingPolicy,
    /// What the words of the matrix weigh.
    pub strengths: StrengthWeights,
    /// Who is given what.
    pub matrix: InjectionMatrix,
    /// How a section that cannot give everything divides its budget.
    pub tiers: TierShares,
    /// In tokens: longer items are always given shortened.
    pub longest_item: u64,
    /// In tokens: how long a shortened item is.
    pub short_item: u64,
    /// What a matching cue is worth.
    pub activation: ActivationWeights,
    /// How much nearness in meaning counts beside words.
    #[serde(default, skip_serializing_if = "SimilarityPolicy::is_default")]
    pub similarity: SimilarityPolicy,
    /// How the packet is written.
    pub render: RenderOptions,
    /// Whether a validated insight may go to a responder.
    pub allow_in_responder: bool,
}

/// How a packet is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenderOptions {
    /// Whether lines name their evidence.
    pub evidence: CitationMarkerStyle,
    /// How often a date is written.
    pub dates: QuoteDateStyle,
}

/// Whether lines name their evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CitationMarkerStyle {
    /// They do not.
    None,
    /// By the number of the citation: `[3]`.
    Numbers,
}

/// How often a date is written among quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuoteDateStyle {
    /// Never.
    None,
    /// Once for all quotes of a day, which is once a session as sessions go.
    Day,
}

impl MemoryPolicy {
    /// The digest of everything it says.
    #[must_use]
    pub fn compute_digest(&self) -> String {
        digest_json(&serde_json::to_value(self).expect("a policy is plain data"))
    }
}
