//! Reads the input of a workflow: what its runs may be started with.

use super::name_scope::NameScope;
use super::protocol_file::ProtocolFile;
use super::read_changes::read_apply;
use super::read_localized::read_localized_text;
use super::read_questions::read_answer_contract;
use crate::WorkflowInput;

/// Reads the input from the workflow's own file; `None` if it is absent or invalid.
pub(super) fn read_workflow_input(
    file: &ProtocolFile,
    scope: &NameScope<'_>,
) -> Option<WorkflowInput> {
    let section = file.valid_member("input")?;
    let (answer, apply) = (read_answer_contract(&section, scope), read_apply(&section, scope));
    let question = section.get("question").and_then(|question| read_localized_text(&question));
    Some(WorkflowInput { answer: answer?, apply, question })
}
