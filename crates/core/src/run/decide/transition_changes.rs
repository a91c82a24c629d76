//! What stands on the ways themselves: changes that are made when one is taken.

use super::document_update::DocumentUpdate;
use super::effects::describe_first_violation;
use super::run_decision::RunDecision;
use crate::protocol::WorkflowTransition;

impl RunDecision<'_> {
    /// What taking a way changes, if anything; the reason where it cannot be made.
    pub(super) fn build_transition_update(
        &self,
        index: usize,
    ) -> Result<Option<DocumentUpdate>, String> {
        let changes = &self.workflow.transitions[index].apply;
        if changes.is_empty() {
            return Ok(None);
        }
        let written = self.build_author_update(changes, &[]);
        written.map(Some).map_err(|faults| {
            format!("its changes cannot be made: {}", describe_first_violation(&faults))
        })
    }

    /// Whether taking a way changes the document. One that does goes nowhere in circles.
    pub(super) fn transition_changes_document(&self, way: &WorkflowTransition) -> bool {
        !way.apply.is_empty()
            && self.build_author_update(&way.apply, &[]).is_ok_and(|written| !written.is_empty())
    }
}
