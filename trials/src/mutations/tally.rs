//! Counts: by system, and by what was done to the reply.

use std::collections::BTreeMap;

use super::case::Case;
use super::judge::Outcome;

/// Outcomes of cases of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) right: usize,
    pub(crate) decoy: usize,
    pub(crate) wrong: usize,
    pub(crate) refused: usize,
}

impl Counts {
    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Right => self.right += 1,
            Outcome::Decoy => self.decoy += 1,
            Outcome::Wrong => self.wrong += 1,
            Outcome::Refused => self.refused += 1,
        }
    }
}

/// How one system fared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Corrupted replies whose meaning is still there.
    pub(crate) recoverable: Counts,
    /// Corrupted replies whose meaning is gone: refusing is right.
    pub(crate) spoiled: Counts,
    /// Replies with a decoy.
    pub(crate) decoys: Counts,
    /// Corrupted replies, by what was done to them; a case counts under each of its corruptions.
    pub(crate) by_corruption: BTreeMap<&'static str, Counts>,
    /// Replies with a decoy, by where it stands and by what the real one is.
    pub(crate) by_decoy: BTreeMap<&'static str, Counts>,
}

impl Tally {
    /// Counts one case.
    pub(crate) fn add(&mut self, case: &Case, outcome: Outcome) {
        let kind = match (&case.decoy, case.tolerable) {
            (Some(_), _) => &mut self.decoys,
            (None, true) => &mut self.recoverable,
            (None, false) => &mut self.spoiled,
        };
        kind.add(outcome);
        let by_label =
            if case.decoy.is_some() { &mut self.by_decoy } else { &mut self.by_corruption };
        for label in &case.labels {
            by_label.entry(label).or_default().add(outcome);
        }
    }
}
