//! Collects what an export cannot express.

use std::collections::BTreeSet;

use super::exported_contract::{ExportLoss, LossEffect};

/// The losses of one export so far, in the order in which they were found.
#[derive(Default)]
pub(super) struct LossRecorder {
    losses: Vec<ExportLoss>,
    /// The recorded losses by pointer, keyword and reason, so that each is listed once.
    recorded: BTreeSet<(String, String, String)>,
}

impl LossRecorder {
    /// Records a loss, unless the same one is already recorded.
    pub(super) fn record(
        &mut self,
        pointer: &str,
        keyword: &str,
        reason: &str,
        effect: LossEffect,
    ) {
        let key = (pointer.to_owned(), keyword.to_owned(), reason.to_owned());
        if self.recorded.insert(key) {
            self.losses.push(ExportLoss::new(pointer, keyword, reason, effect));
        }
    }

    /// Returns all recorded losses.
    pub(super) fn into_losses(self) -> Vec<ExportLoss> {
        self.losses
    }
}
