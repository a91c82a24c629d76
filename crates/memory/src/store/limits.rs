//! How much is looked at for one packet.

/// How many rows are found at most, by kind. Composing applies its own caps to what was found; these
/// bound the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Events that the cues activate, the best first.
    pub quotes: usize,
    /// The latest events of the session.
    pub window: usize,
    /// Facts of each level, the latest first.
    pub facts: usize,
    /// Facts of each level that others took the place of, the latest first.
    pub superseded: usize,
    /// Procedures.
    pub procedures: usize,
    /// Episodes, the latest first.
    pub episodes: usize,
    /// Guesses, the latest first.
    pub insights: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            quotes: 100,
            window: 10,
            facts: 1000,
            superseded: 100,
            procedures: 200,
            episodes: 500,
            insights: 200,
        }
    }
}
