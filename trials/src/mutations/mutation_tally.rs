//! Counts: by system, and by what was done to the reply.

use std::collections::BTreeMap;

use super::case::MutationCase;
use super::judge::CaseOutcome;

/// Outcomes of cases of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OutcomeCounts {
    pub(crate) right: usize,
    pub(crate) decoy: usize,
    pub(crate) wrong: usize,
    pub(crate) refused: usize,
}

impl OutcomeCounts {
    fn add(&mut self, outcome: CaseOutcome) {
        match outcome {
            CaseOutcome::Right => self.right += 1,
            CaseOutcome::Decoy => self.decoy += 1,
            CaseOutcome::Wrong => self.wrong += 1,
            CaseOutcome::Refused => self.refused += 1,
        }
    }
}

/// How one system fared.
#[derive(Debug, Clone, Default)]
pub(crate) struct MutationTally {
    /// Corrupted replies whose meaning is still there.
    pub(crate) recoverable: OutcomeCounts,
    /// Corrupted replies whose meaning is gone: refusing is right.
    pub(crate) unrecoverable: OutcomeCounts,
    /// Replies with a decoy.
    pub(crate) decoys: OutcomeCounts,
    /// Corrupted replies, by what was done to them; a case counts under each of its corruptions.
    pub(crate) by_corruption: BTreeMap<&'static str, OutcomeCounts>,
    /// Replies with a decoy, by where it stands and by what the real one is.
    pub(crate) by_decoy: BTreeMap<&'static str, OutcomeCounts>,
}

impl MutationTally {
    /// Counts one case.
    pub(crate) fn add(&mut self, case: &MutationCase, outcome: CaseOutcome) {
        let kind = match (&case.decoy, case.recoverable) {
            (Some(_), _) => &mut self.decoys,
            (None, true) => &mut self.recoverable,
            (None, false) => &mut self.unrecoverable,
        };
        kind.add(outcome);
        let by_label =
            if case.decoy.is_some() { &mut self.by_decoy } else { &mut self.by_corruption };
        for label in &case.labels {
            by_label.entry(label).or_default().add(outcome);
        }
    }
}
