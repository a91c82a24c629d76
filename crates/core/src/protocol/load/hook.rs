//! Hooks of the index.

use super::duration::duration;
use super::faults::Faults;
use super::file::File;
use super::known::Known;
use super::member::Member;
use super::place;
use crate::protocol::{EnginePlace, Hook, Program};

/// Reads every hook.
pub(super) fn hooks(
    index: Option<&File>,
    programs: &Known<Program>,
    engine: &[EnginePlace],
    faults: &Faults,
) -> Known<Hook> {
    let mut hooks = Known::new("hook");
    hooks.unread = index.is_none();
    let Some(index) = index else { return hooks };
    for (id, member) in index.root().get("hooks").iter().flat_map(Member::entries) {
        let sound = Some(&member).filter(|member| index.is_sound(member));
        hooks.add(id, sound.and_then(|member| hook(member, programs, engine, faults)));
    }
    hooks
}

fn hook(
    member: &Member<'_>,
    programs: &Known<Program>,
    engine: &[EnginePlace],
    faults: &Faults,
) -> Option<Hook> {
    let origin = member.origin();
    match (member.get("patch"), member.get("program")) {
        (Some(patch), None) => {
            if member.get("timeout").is_some() {
                let message = "`timeout` belongs to a hook with a `program`";
                faults.push(member.fault_at_key("misplaced_key", "timeout", message));
            }
            patch.items().iter().for_each(|operation| look(operation, engine, faults));
            Some(Hook::Patch { ops: patch.value.clone(), origin })
        }
        (None, Some(program)) => {
            programs.find(&program, faults)?;
            let timeout = member.get("timeout").map(|it| duration(&it, faults).ok_or(()));
            let timeout = timeout.transpose().ok()?;
            Some(Hook::Program { program: program.text()?.to_owned(), timeout, origin })
        }
        (Some(_), Some(_)) => {
            let message = "a hook is a `patch` or a `program`, and this one has both";
            faults.push(member.fault_at_key("one_of", "program", message));
            None
        }
        (None, None) => {
            faults.push(member.fault("required", "a hook is a `patch` or a `program`"));
            None
        }
    }
}

/// The places of an operation: pointers, and none of the engine's.
fn look(operation: &Member<'_>, engine: &[EnginePlace], faults: &Faults) {
    let verb = operation.text_of("op").unwrap_or_default();
    let moves = verb == "move";
    for (key, writes) in [("path", verb != "test"), ("from", moves)] {
        let Some(member) = operation.get(key) else { continue };
        let Some(place) = place::pointer(&member, faults) else { continue };
        if let Some(own) = place::engine_at(&place, engine).filter(|_| writes) {
            place::tell_engine(&member, &place, own, faults);
        }
    }
}
