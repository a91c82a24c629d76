//! What stands on the ways themselves: changes that are made when one is taken.

use super::deciding::Deciding;
use super::effects::first;
use super::writing::Written;
use crate::protocol::Transition;

impl Deciding<'_> {
    /// What taking a way changes, if anything; the reason where it cannot be made.
    pub(super) fn changes_of_way(&self, index: usize) -> Result<Option<Written>, String> {
        let changes = &self.workflow.transitions[index].apply;
        if changes.is_empty() {
            return Ok(None);
        }
        let written = self.written_by_author(changes, &[]);
        written
            .map(Some)
            .map_err(|faults| format!("its changes cannot be made: {}", first(&faults)))
    }

    /// Whether taking a way changes the document. One that does goes nowhere in circles.
    pub(super) fn changes_something(&self, way: &Transition) -> bool {
        !way.apply.is_empty()
            && self.written_by_author(&way.apply, &[]).is_ok_and(|written| !written.is_empty())
    }
}
