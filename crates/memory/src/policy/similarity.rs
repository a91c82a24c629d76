//! How much vector similarity counts beside words. It is off by default.

use serde::{Deserialize, Serialize};

/// How a policy uses embedding vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimilarityPolicy {
    /// The score of the most similar event relative to the best match by words, in millionths, up
    /// to 10,000,000. With 0 no embedder is called.
    pub weight: i64,
    /// The number of newest vectors to compare; 8,192 by default.
    #[serde(default = "default_newest")]
    pub newest: usize,
}

/// The default of `newest`.
const NEWEST: usize = 8_192;

fn default_newest() -> usize {
    NEWEST
}

impl SimilarityPolicy {
    /// The setting for searches without a policy: the most similar event counts half as much as the
    /// best match by words. Higher weights brought no improvement in measurements.
    pub(crate) const SEARCH: Self = Self { weight: 500_000, newest: NEWEST };

    /// Returns whether similarity is not used.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.weight == 0 || self.newest == 0
    }

    /// Returns whether this is the setting of a policy that does not mention similarity.
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
