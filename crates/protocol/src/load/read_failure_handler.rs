//! Reads failure handlers: `wait`, `fail`, `go_on`, `{ goto: PHASE }`, and with changes
//! `{ then: …, apply: … }`.

use super::file_node::FileNode;
use super::name_scope::{FAILURE, NameScope};
use super::read_changes::read_apply;
use crate::{EXPRESSION_NAMES, FailureHandler, FailurePolicy};

/// Reads a failure handler. The default is to wait, because a person can always undo waiting.
pub(super) fn read_failure_handler(
    member: Option<&FileNode<'_>>,
    scope: &NameScope<'_>,
) -> FailureHandler {
    let Some(member) = member else { return FailurePolicy::Wait.into() };
    if !member.value.is_object() {
        return read_failure_policy(member, scope).into();
    }
    match (member.get("goto"), member.get("then")) {
        (Some(_), None) => {
            if member.get("apply").is_some() {
                let message = "`apply` needs `then`";
                let hint = "write `{ then: { goto: PHASE }, apply: … }`".to_owned();
                let fault = member.diagnose_key("misplaced_key", "apply", message);
                scope.faults.push(fault.with_hint(Some(hint)));
            }
            read_failure_policy(member, scope).into()
        }
        (None, Some(then)) => {
            // No model influences these changes, so the phase's `writes` do not restrict them.
            let reads = scope
                .change_names
                .iter()
                .map(|name| if *name == EXPRESSION_NAMES[2] { FAILURE } else { name });
            let reads: Vec<&str> = reads.collect();
            let apply =
                read_apply(member, &NameScope { writes: None, change_names: &reads, ..*scope });
            FailureHandler { then: read_failure_policy(&then, scope), apply: apply.into() }
        }
        (Some(_), Some(_)) => {
            let message = "an outcome has either `goto` or `then`, and this one has both";
            scope.faults.push(member.diagnose_key("one_of", "then", message));
            FailurePolicy::Wait.into()
        }
        (None, None) => {
            let message = "an outcome needs `goto`, or `then` with `apply`";
            scope.faults.push(member.diagnose("required", message));
            FailurePolicy::Wait.into()
        }
    }
}

fn read_failure_policy(member: &FileNode<'_>, scope: &NameScope<'_>) -> FailurePolicy {
    if let Some(phase) = member.get("goto") {
        scope.phases.resolve_name(&phase, scope.faults);
        return FailurePolicy::GoTo(phase.text().unwrap_or_default().to_owned());
    }
    match member.text() {
        Some("fail") => FailurePolicy::Fail,
        Some("go_on") => FailurePolicy::GoOn,
        _ => FailurePolicy::Wait,
    }
}
