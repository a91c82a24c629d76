//! Limits for reading candidates of one packet.

use crate::policy::{
    InjectionMatrix, InjectionStrength, MemoryPolicy, SimilarityPolicy, limit_quotes,
};

/// The maximum number of rows to retrieve, by kind. Composing applies its own caps to the result;
/// these limits bound the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetrievalLimits {
    /// Events that match the cues, best first, for a packet of `max_tokens`.
    pub quotes: usize,
    /// The budget that `quotes` is meant for, in tokens; a request with a larger one reads more.
    pub max_tokens: u64,
    /// The latest events of the session; 0 if the policy injects no window for any purpose.
    pub window: usize,
    /// Active and disputed facts of each level, latest first.
    pub facts: usize,
    /// Superseded facts of each level, latest first.
    pub superseded: usize,
    /// Procedures of the task type, latest first.
    pub procedures: usize,
    /// Episodes of the subject, latest first.
    pub episodes: usize,
    /// Insights of the subject, latest first.
    pub insights: usize,
    /// How vectors are used if the request has one.
    pub similarity: SimilarityPolicy,
}

/// How many more events are retrieved than may be quoted, because some repeat others or must not be
/// visible.
const SPARE_QUOTES: usize = 10;

/// The most events that a large budget leads to.
const MAX_QUOTES: usize = 1_000;

impl RetrievalLimits {
    /// Returns limits that are high enough for everything a policy can select.
    #[must_use]
    pub fn from_policy(policy: &MemoryPolicy) -> Self {
        let (usual, caps) = (Self::default(), policy.caps);
        let InjectionMatrix { planner, tool, responder } = policy.matrix;
        let gives_window =
            [planner, tool, responder].iter().any(|row| row.window != InjectionStrength::None);
        Self {
            quotes: limit_quotes(caps, policy.candidates, policy.max_tokens) + SPARE_QUOTES,
            max_tokens: policy.max_tokens,
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

impl RetrievalLimits {
    /// Returns the number of quotes for a packet of this budget: in proportion to `max_tokens`.
    pub(super) fn quotes_for_budget(&self, max_tokens: Option<u64>) -> usize {
        let most = max_tokens.unwrap_or(self.max_tokens).max(1_000);
        let usual = u128::from(self.max_tokens.max(1_000));
        let scaled = (self.quotes as u128 * u128::from(most)).div_ceil(usual);
        usize::try_from(scaled).unwrap_or(usize::MAX).min(self.quotes.max(MAX_QUOTES))
    }
}

impl Default for RetrievalLimits {
    fn default() -> Self {
        Self {
            quotes: 40 + SPARE_QUOTES,
            max_tokens: 2048,
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
