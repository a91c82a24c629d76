//! Reads the input of a workflow: what its runs may be started with.

use super::name_scope::NameScope;
use super::read_changes::read_apply;
use super::read_localized::read_localized_text;
use super::read_questions::read_answer_contract;
use super::workflow_settings::WorkflowSettings;
use crate::WorkflowInput;

/// Reads the input from the settings of the workflow; `None` if it is absent or invalid.
pub(super) fn read_workflow_input(
    settings: &WorkflowSettings<'_>,
    scope: &NameScope<'_>,
) -> Option<WorkflowInput> {
    let section = settings.valid_member("input")?;
    let (answer, apply) = (read_answer_contract(&section, scope), read_apply(&section, scope));
    let question = section.get("question").and_then(|question| read_localized_text(&question));
    Some(WorkflowInput { answer: answer?, apply, question })
}
