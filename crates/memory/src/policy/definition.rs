//! A policy: everything about a packet that is not the request and not the memory.

use countersign_core::json::digest;
use serde::{Deserialize, Serialize};

use super::{Activation, Ageing, CandidateCaps, Caps, Matrix, Similarity, Strengths, Tiers};

/// A policy. It is kept whole with every build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "expected keys and their values")]
pub struct Policy {
    /// The name a packet carries.
    pub id: String,
    /// `major.minor.patch`.
    pub version: String,
    /// How many tokens, where the request does not say.
    pub max_tokens: u64,
    /// How many of a kind.
    pub caps: Caps,
    /// How many are looked at.
    pub candidates: CandidateCaps,
    /// How many days back episodes are looked for without a strong cue.
    pub episode_window: u32,
    /// When an episode is recalled of itself, needs a cue, needs a strong one.
    pub ageing: Ageing,
    /// What the words of the matrix weigh.
    pub strengths: Strengths,
    /// Who is given what.
    pub matrix: Matrix,
    /// How a section that cannot give everything divides its budget.
    pub tiers: Tiers,
    /// In tokens: longer items are always given shortened.
    pub longest_item: u64,
    /// In tokens: how long a shortened item is.
    pub short_item: u64,
    /// What a matching cue is worth.
    pub activation: Activation,
    /// How much nearness in meaning counts beside words.
    #[serde(default, skip_serializing_if = "Similarity::is_default")]
    pub similarity: Similarity,
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
    pub evidence: EvidenceMarks,
    /// How often a date is written.
    pub dates: Dates,
}

/// Whether lines name their evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvidenceMarks {
    /// They do not.
    None,
    /// By the number of the citation: `[3]`.
    Numbers,
}

/// How often a date is written among quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dates {
    /// Never.
    None,
    /// Once for all quotes of a day, which is once a session as sessions go.
    Day,
}

impl Policy {
    /// The digest of everything it says.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(&serde_json::to_value(self).expect("a policy is plain data"))
    }
}
