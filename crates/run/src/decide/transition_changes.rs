//! Builds the changes that a transition itself declares; the run makes them when it takes the
//! transition.

use countersign_protocol::WorkflowTransition;

use super::document_update::DocumentUpdate;
use super::effects::describe_first_violation;
use super::run_decision::RunDecision;

impl RunDecision<'_> {
    /// Builds the update of taking a transition; `None` if it declares no changes, the reason if
    /// they cannot be made.
    pub(super) fn build_transition_update(
        &self,
        index: usize,
    ) -> Result<Option<DocumentUpdate>, String> {
        let changes = &self.workflow.transitions[index].apply;
        if changes.is_empty() {
            return Ok(None);
        }
        let update = self.build_author_update(changes, &[]);
        update.map(Some).map_err(|faults| {
            format!("its changes were refused: {}", describe_first_violation(&faults))
        })
    }

    /// Whether taking a transition changes the document. Such a transition cannot loop without
    /// effect.
    pub(super) fn transition_changes_document(&self, transition: &WorkflowTransition) -> bool {
        !transition.apply.is_empty()
            && self
                .build_author_update(&transition.apply, &[])
                .is_ok_and(|update| !update.is_empty())
    }
}
