//! Reads phases: ids, hooks, authority, time-outs and limits; `read_work.rs` reads the work itself.

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::name_scope::{NameScope, ProtocolSymbols, WritablePointers};
use super::read_budget::read_budget;
use super::read_duration::read_duration;
use super::read_failure_handler::read_failure_handler;
use super::symbol_table::SymbolTable;
use super::{read_pointer, read_work};
use crate::{DurationMillis, EXPRESSION_NAMES, EngineField, FailureHandler, WorkflowPhase};

/// Reads a phase; `None` if it is invalid.
pub(super) fn read_phase(
    member: &FileNode<'_>,
    names: &ProtocolSymbols,
    (phases, engine): (&SymbolTable<()>, &[EngineField]),
    faults: &LoadDiagnostics,
) -> Option<WorkflowPhase> {
    let writes = member
        .get("writes")
        .map(|writes| WritablePointers::new(read_writes(&writes, engine, faults)));
    let (reads, texts) = (&EXPRESSION_NAMES[..], &EXPRESSION_NAMES[..2]);
    let scope = NameScope {
        names,
        phases,
        engine,
        writes: writes.as_ref(),
        change_names: reads,
        text_names: texts,
        faults,
    };
    let hook = |key: &str| {
        let hook = member.get(key)?;
        names.hooks.resolve_name(&hook, faults);
        hook.text().map(str::to_owned)
    };
    let (on_enter, on_exit) = (hook("on_enter"), hook("on_exit"));
    let work = read_work::read_work(member, &scope);
    let timeout = member.get("timeout").and_then(|it| read_timeout(&it, &scope));
    let budget = member.get("budget").map(|it| read_budget(&it, &scope));
    Some(WorkflowPhase {
        id: member.string_at("id")?,
        name: member.string_at("name"),
        description: member.string_at("description"),
        terminal: member.value["terminal"] == true,
        on_enter,
        on_exit,
        work: work?,
        writes: writes.map(|writes| writes.pointers),
        timeout,
        budget: budget.unwrap_or_default(),
        needs: member.strings_at("needs"),
        issues: member.strings_at("issues"),
        origin: member.origin(),
    })
}

fn read_writes(
    writes: &FileNode<'_>,
    engine: &[EngineField],
    faults: &LoadDiagnostics,
) -> Vec<String> {
    let allowed = |item: &FileNode<'_>| {
        let pointer = read_pointer::read_pointer(item, faults)?;
        if let Some(own) = read_pointer::find_enclosing_engine_field(&pointer, engine) {
            read_pointer::report_engine_field(item, &pointer, own, faults);
        }
        Some(pointer)
    };
    writes.items().iter().filter_map(allowed).collect()
}

fn read_timeout(
    member: &FileNode<'_>,
    scope: &NameScope<'_>,
) -> Option<(DurationMillis, FailureHandler)> {
    let after = if member.text().is_some() { member.clone() } else { member.get("after")? };
    let then = read_failure_handler(member.get("then").as_ref(), scope);
    Some((read_duration(&after, scope.faults)?, then))
}
