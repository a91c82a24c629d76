//! What follows when something went wrong for good: `wait`, `fail`, `{ goto: PHASE }`.

use super::faults::Faults;
use super::known::Known;
use super::member::Member;
use crate::protocol::Otherwise;

/// Reads what follows; a run waits where nothing is said, because a person can always undo waiting.
pub(super) fn otherwise(
    member: Option<&Member<'_>>,
    phases: &Known<()>,
    faults: &Faults,
) -> Otherwise {
    let Some(member) = member else { return Otherwise::Wait };
    if let Some(phase) = member.get("goto") {
        phases.find(&phase, faults);
        return Otherwise::Phase(phase.text().unwrap_or_default().to_owned());
    }
    if member.text() == Some("fail") { Otherwise::Fail } else { Otherwise::Wait }
}
