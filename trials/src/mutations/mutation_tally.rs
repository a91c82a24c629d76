//! Counts outcomes by system and by corruption.

use std::collections::BTreeMap;

use super::case::MutationCase;
use super::judge::CaseOutcome;

/// The number of outcomes for one kind of case.
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

/// The outcomes of one system.
#[derive(Debug, Clone, Default)]
pub(crate) struct MutationTally {
    /// Corrupted replies that still have their meaning.
    pub(crate) recoverable: OutcomeCounts,
    /// Corrupted replies that lost their meaning, so that refusing is correct.
    pub(crate) unrecoverable: OutcomeCounts,
    /// Replies that contain a decoy.
    pub(crate) decoys: OutcomeCounts,
    /// Corrupted replies, by corruption; a case counts for each of its corruptions.
    pub(crate) by_corruption: BTreeMap<&'static str, OutcomeCounts>,
    /// Replies with a decoy, by its position and by the condition of the real reply.
    pub(crate) by_decoy: BTreeMap<&'static str, OutcomeCounts>,
}

impl MutationTally {
    /// Adds the outcome of one case.
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
