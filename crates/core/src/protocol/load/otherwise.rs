//! What follows when something went wrong for good: `wait`, `fail`, `go_on`, `{ goto: PHASE }`, and with
//! changes `{ then: …, apply: … }`.

use super::change::applied;
use super::member::Member;
use super::scope::{FAILURE, Scope};
use crate::protocol::{NAMES, Otherwise, Outcome};

/// Reads what follows; a run waits where nothing is said, because a person can always undo waiting.
pub(super) fn outcome(member: Option<&Member<'_>>, scope: &Scope<'_>) -> Outcome {
    let Some(member) = member else { return Otherwise::Wait.into() };
    if !member.value.is_object() {
        return way(member, scope).into();
    }
    match (member.get("goto"), member.get("then")) {
        (Some(_), None) => {
            if member.get("apply").is_some() {
                let message = "`apply` stands beside `then`";
                let hint = "write `{ then: { goto: PHASE }, apply: … }`".to_owned();
                let fault = member.fault_at_key("misplaced_key", "apply", message);
                scope.faults.push(fault.hinting(Some(hint)));
            }
            way(member, scope).into()
        }
        (None, Some(then)) => {
            // No model has a hand in these changes, so what the phase may write does not bind them.
            let reads =
                scope.reads.iter().map(|name| if *name == NAMES[2] { FAILURE } else { name });
            let reads: Vec<&str> = reads.collect();
            let apply = applied(member, &Scope { writes: None, reads: &reads, ..*scope });
            Outcome { then: way(&then, scope), apply: apply.into() }
        }
        (Some(_), Some(_)) => {
            let message = "an outcome says `goto` or `then`, and this one has both";
            scope.faults.push(member.fault_at_key("one_of", "then", message));
            Otherwise::Wait.into()
        }
        (None, None) => {
            let message = "an outcome says where the run goes: `goto`, or `then` beside `apply`";
            scope.faults.push(member.fault("required", message));
            Otherwise::Wait.into()
        }
    }
}

fn way(member: &Member<'_>, scope: &Scope<'_>) -> Otherwise {
    if let Some(phase) = member.get("goto") {
        scope.phases.find(&phase, scope.faults);
        return Otherwise::Phase(phase.text().unwrap_or_default().to_owned());
    }
    match member.text() {
        Some("fail") => Otherwise::Fail,
        Some("go_on") => Otherwise::GoOn,
        _ => Otherwise::Wait,
    }
}
