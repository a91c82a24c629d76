//! Hooks of the index.

use std::collections::{BTreeMap, BTreeSet};

use super::duration::duration;
use super::faults::Faults;
use super::file::File;
use super::known::Known;
use super::member::Member;
use super::place;
use super::scope::Names;
use crate::protocol::{EnginePlace, Hook, Phase, Program, Workflow};

/// Reads every hook.
pub(super) fn hooks(
    index: Option<&File>,
    programs: &Known<Program>,
    faults: &Faults,
) -> Known<Hook> {
    let mut hooks = Known::new("hook");
    hooks.unread = index.is_none();
    let Some(index) = index else { return hooks };
    for (id, member) in index.root().get("hooks").iter().flat_map(Member::entries) {
        let sound = Some(&member).filter(|member| index.is_sound(member));
        hooks.add(id, sound.and_then(|member| hook(member, programs, faults)));
    }
    hooks
}

fn hook(member: &Member<'_>, programs: &Known<Program>, faults: &Faults) -> Option<Hook> {
    let origin = member.origin();
    match (member.get("patch"), member.get("program")) {
        (Some(patch), None) => {
            if member.get("timeout").is_some() {
                let message = "`timeout` belongs to a hook with a `program`";
                faults.push(member.fault_at_key("misplaced_key", "timeout", message));
            }
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

/// Looks at the places that hooks write: each hook in the documents of the workflows that call it, and
/// one that nobody calls in the document of the index.
pub(super) fn look_at_places<'w>(
    names: &Names,
    workflows: &'w BTreeMap<String, Workflow>,
    faults: &Faults,
) {
    let mut callers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for workflow in workflows.values() {
        let hooks = |phase: &'w Phase| [phase.on_enter.as_deref(), phase.on_exit.as_deref()];
        for id in workflow.phases.iter().flat_map(hooks).flatten() {
            callers.entry(id).or_default().insert(&workflow.id);
        }
    }
    for (id, hook) in &names.hooks.things {
        let Hook::Patch { origin, .. } = hook else { continue };
        let Some(value) = origin.tree.value.pointer(&origin.pointer) else { continue };
        let member = Member { tree: &origin.tree, pointer: origin.pointer.clone(), value };
        let callers = callers.get(id.as_str()).into_iter().flatten();
        let mut engines: Vec<&[EnginePlace]> = callers.map(|one| names.engine_of(one)).collect();
        if engines.is_empty() {
            engines.push(&names.engine);
        }
        // Workflows without a document of their own share the one of the index.
        engines.sort_by_key(|engine| engine.as_ptr());
        engines.dedup_by_key(|engine| engine.as_ptr());
        for operation in member.get("patch").iter().flat_map(Member::items) {
            for engine in &engines {
                look(&operation, engine, faults);
            }
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
