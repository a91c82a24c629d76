//! Reads the hooks of the index.

use std::collections::{BTreeMap, BTreeSet};

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::name_scope::ProtocolSymbols;
use super::protocol_file::ProtocolFile;
use super::read_duration::read_duration;
use super::read_pointer;
use super::symbol_table::SymbolTable;
use crate::{EngineField, HookDefinition, ProgramDefinition, WorkflowDefinition, WorkflowPhase};

/// Reads every hook.
pub(super) fn read_hooks(
    index: Option<&ProtocolFile>,
    programs: &SymbolTable<ProgramDefinition>,
    faults: &LoadDiagnostics,
) -> SymbolTable<HookDefinition> {
    let mut hooks = SymbolTable::new("hook");
    hooks.unread = index.is_none();
    let Some(index) = index else { return hooks };
    for (id, member) in index.root().get("hooks").iter().flat_map(FileNode::entries) {
        let sound = Some(&member).filter(|member| index.is_valid(member));
        hooks.add(id, sound.and_then(|member| read_hook(member, programs, faults)));
    }
    hooks
}

fn read_hook(
    member: &FileNode<'_>,
    programs: &SymbolTable<ProgramDefinition>,
    faults: &LoadDiagnostics,
) -> Option<HookDefinition> {
    let origin = member.origin();
    match (member.get("patch"), member.get("program")) {
        (Some(patch), None) => {
            if member.get("timeout").is_some() {
                let message = "`timeout` belongs to a hook with a `program`";
                faults.push(member.diagnose_key("misplaced_key", "timeout", message));
            }
            Some(HookDefinition::Patch { ops: patch.value.clone(), origin })
        }
        (None, Some(program)) => {
            programs.resolve_name(&program, faults)?;
            let timeout = member.get("timeout").map(|it| read_duration(&it, faults).ok_or(()));
            let timeout = timeout.transpose().ok()?;
            Some(HookDefinition::Program { program: program.text()?.to_owned(), timeout, origin })
        }
        (Some(_), Some(_)) => {
            let message = "a hook is a `patch` or a `program`, and this one has both";
            faults.push(member.diagnose_key("one_of", "program", message));
            None
        }
        (None, None) => {
            faults.push(member.diagnose("required", "a hook is a `patch` or a `program`"));
            None
        }
    }
}

/// Checks the pointers that hooks write: those of a hook in the documents of all workflows that
/// call it, and those of an uncalled hook in the document of the index.
pub(super) fn check_hook_pointers<'w>(
    names: &ProtocolSymbols,
    workflows: &'w BTreeMap<String, WorkflowDefinition>,
    faults: &LoadDiagnostics,
) {
    let mut callers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for workflow in workflows.values() {
        let hooks =
            |phase: &'w WorkflowPhase| [phase.on_enter.as_deref(), phase.on_exit.as_deref()];
        for id in workflow.phases.iter().flat_map(hooks).flatten() {
            callers.entry(id).or_default().insert(&workflow.id);
        }
    }
    for (id, hook) in &names.hooks.entries {
        let HookDefinition::Patch { origin, .. } = hook else { continue };
        let Some(value) = origin.tree.value.pointer(&origin.pointer) else { continue };
        let member = FileNode { tree: &origin.tree, pointer: origin.pointer.clone(), value };
        let callers = callers.get(id.as_str()).into_iter().flatten();
        let mut engines: Vec<&[EngineField]> =
            callers.map(|one| names.engine_fields_for(one)).collect();
        if engines.is_empty() {
            engines.push(&names.engine);
        }
        // Workflows without their own document share the one of the index.
        engines.sort_by_key(|engine| engine.as_ptr());
        engines.dedup_by_key(|engine| engine.as_ptr());
        for operation in member.get("patch").iter().flat_map(FileNode::items) {
            for engine in &engines {
                check_operation_pointers(&operation, engine, faults);
            }
        }
    }
}

/// Checks that the pointers of an operation are valid and write no engine-owned field.
fn check_operation_pointers(
    operation: &FileNode<'_>,
    engine: &[EngineField],
    faults: &LoadDiagnostics,
) {
    let verb = operation.text_at("op").unwrap_or_default();
    let moves = verb == "move";
    for (key, writes) in [("path", verb != "test"), ("from", moves)] {
        let Some(member) = operation.get(key) else { continue };
        let Some(pointer) = read_pointer::read_pointer(&member, faults) else { continue };
        if let Some(own) =
            read_pointer::find_overlapping_engine_field(&pointer, engine).filter(|_| writes)
        {
            read_pointer::report_engine_field(&member, &pointer, own, faults);
        }
    }
}
