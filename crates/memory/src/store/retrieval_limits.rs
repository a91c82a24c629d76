//! How much is looked at for one packet.

use crate::policy::{InjectionMatrix, InjectionStrength, MemoryPolicy, SimilarityPolicy};

/// How many rows are found at most, by kind. Composing applies its own caps to what was found; these
/// bound the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetrievalLimits {
    /// Events that the cues activate, the best first.
    pub quotes: usize,
    /// The latest events of the session; none where a policy gives no purpose a window.
    pub window: usize,
    /// Facts of each level, the latest first.
    pub facts: usize,
    /// Facts of each level that others took the place of, the latest first.
    pub superseded: usize,
    /// Procedures of the kind of task, the latest first.
    pub procedures: usize,
    /// Episodes, the latest first.
    pub episodes: usize,
    /// Guesses, the latest first.
    pub insights: usize,
    /// How vectors are used, where the request has one.
    pub similarity: SimilarityPolicy,
}

/// So many more events are found than may be quoted: some say the same, or must not be seen.
const SPARE_QUOTES: usize = 10;

impl RetrievalLimits {
    /// Enough for a policy: whatever it lets in can be found.
    #[must_use]
    pub fn from_policy(policy: &MemoryPolicy) -> Self {
        let (usual, caps) = (Self::default(), policy.caps);
        let InjectionMatrix { planner, tool, responder } = policy.matrix;
        let gives_window =
            [planner, tool, responder].iter().any(|row| row.window != InjectionStrength::None);
        Self {
            quotes: caps.quotes.min(policy.candidates.each) + SPARE_QUOTES,
            window: if gives_window { usual.window.max(caps.window) } else { 0 },
            facts: usual.facts.max(caps.facts),
            procedures: usual.procedures.max(caps.procedures),
            episodes: usual.episodes.max(caps.episodes),
            insights: usual.insights.max(caps.insights),
            similarity: policy.similarity,
            ..usual
        }
    }
}

impl Default for RetrievalLimits {
    fn default() -> Self {
        Self {
            quotes: 10 + SPARE_QUOTES,
            window: 10,
            facts: 1000,
            superseded: 100,
            procedures: 200,
            episodes: 500,
            insights: 200,
            similarity: SimilarityPolicy::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_policy_lets_in_can_be_found() {
        let recall = MemoryPolicy::load_shipped("recall").unwrap();
        assert!(recall.caps.quotes > RetrievalLimits::default().quotes);
        assert!(RetrievalLimits::from_policy(&recall).quotes > recall.caps.quotes);
        let mut default = MemoryPolicy::load_shipped("default").unwrap();
        assert_eq!(
            RetrievalLimits::from_policy(&default),
            RetrievalLimits { window: 0, ..RetrievalLimits::default() }
        );
        default.matrix.responder.window = InjectionStrength::Weak;
        assert_eq!(RetrievalLimits::from_policy(&default), RetrievalLimits::default());
    }
}
