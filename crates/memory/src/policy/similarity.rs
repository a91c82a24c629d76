//! How much nearness in meaning counts beside words. Off, unless a policy says otherwise.

use serde::{Deserialize, Serialize};

/// How vectors are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimilarityPolicy {
    /// How much the most similar event gets beside the best by words, in millionths; 0 asks no embedder.
    pub weight: i64,
    /// How many of the newest vectors are looked at.
    #[serde(default = "default_newest")]
    pub newest: usize,
}

/// Where a policy does not say.
const NEWEST: usize = 8_192;

fn default_newest() -> usize {
    NEWEST
}

impl SimilarityPolicy {
    /// For whoever looks for something without a policy: the most similar counts half as much as the best by words.
    /// More gained nothing where it was measured.
    pub(crate) const SEARCH: Self = Self { weight: 500_000, newest: NEWEST };

    /// Whether nothing is asked of it.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.weight == 0 || self.newest == 0
    }

    /// Whether it is as where a policy does not speak of it.
    #[must_use]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for SimilarityPolicy {
    fn default() -> Self {
        Self { weight: 0, newest: NEWEST }
    }
}
