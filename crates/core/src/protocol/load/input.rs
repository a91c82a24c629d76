//! The input of a workflow: what its runs may be started with.

use super::change::applied;
use super::file::File;
use super::question::answer;
use super::scope::Scope;
use super::text::text;
use crate::protocol::WorkflowInput;

/// Reads the input of a workflow's own file; `None` where there is none, or it has a fault.
pub(super) fn input(file: &File, scope: &Scope<'_>) -> Option<WorkflowInput> {
    let section = file.sound("input")?;
    let (answer, apply) = (answer(&section, scope), applied(&section, scope));
    let question = section.get("question").and_then(|question| text(&question));
    Some(WorkflowInput { answer: answer?, apply, question })
}
