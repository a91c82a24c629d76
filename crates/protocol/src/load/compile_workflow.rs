//! Compiles workflows: collects the files by id, merges their includes and compiles their parts.

use std::collections::BTreeMap;

use super::file_node::FileNode;
use super::include_merger::{MergedIncludes, RawWorkflow};
use super::load_diagnostics::LoadDiagnostics;
use super::name_scope::{NameScope, ProtocolSymbols};
use super::protocol_contracts::file_stem;
use super::protocol_file::ProtocolFile;
use super::read_changes::read_apply;
use super::read_gate::read_gate;
use super::read_localized::read_localized_template;
use super::read_phase::read_phase;
use super::read_workflow_input::read_workflow_input;
use super::read_workflow_output::read_workflow_output;
use super::symbol_table::SymbolTable;
use super::workflow_settings::WorkflowSettings;
use crate::{
    DecisionTrigger, EXPRESSION_NAMES, EngineField, WorkflowDefinition, WorkflowIndex,
    WorkflowPhase, WorkflowTransition,
};

/// Collects the workflows of the files by id, and records the names of broken ones in `known`.
pub(super) fn collect_workflows<'f>(
    files: &'f [ProtocolFile],
    index: Option<&'f ProtocolFile>,
    known: &mut SymbolTable<()>,
    faults: &LoadDiagnostics,
) -> BTreeMap<&'f str, RawWorkflow<'f>> {
    let mut raws: BTreeMap<&'f str, RawWorkflow<'f>> = BTreeMap::new();
    for file in files {
        let root = file.root();
        if let (Some(_), Some(steps)) = (root.get("phases"), root.get("steps")) {
            let message = "`phases` and `steps` mean the same; keep one";
            faults.push(steps.diagnose("duplicate_key", message));
        }
        if root.value.is_object() && root.get("phases").or_else(|| root.get("steps")).is_none() {
            faults.push(
                root.diagnose("required", "a workflow needs `phases`, and this one has none"),
            );
        }
        let Some(id) = root.get("id").filter(|id| id.text().is_some()) else {
            known.broken.insert(file_stem(&file.tree.source.name).to_owned());
            continue;
        };
        let name = id.text().unwrap_or_default();
        if name.trim().is_empty() {
            faults.push(id.diagnose("min_length", "a workflow needs an id, and this one is blank"));
            continue;
        }
        if let Some(first) = raws.get(name).and_then(|raw| raw.file.root().get("id")) {
            faults.push_with("duplicate_id", &id, || {
                let message =
                    format!("workflow `{name}` is already defined at {}", first.format_location());
                id.diagnose("duplicate_id", message)
            });
            continue;
        }
        known.entries.insert(name.to_owned(), ());
        let settings = WorkflowSettings::find(index, name);
        raws.insert(name, RawWorkflow { id: name, file, settings });
    }
    raws
}

/// Lists the budgets that transitions and phases spend from.
pub(super) fn collect_spent_budgets<'f>(
    raws: &BTreeMap<&'f str, RawWorkflow<'f>>,
) -> impl Iterator<Item = String> {
    let mut names = Vec::new();
    for raw in raws.values() {
        names.extend(
            raw.transitions().iter().filter_map(|transition| transition.string_at("spends")),
        );
        names.extend(raw.phases().iter().filter_map(|phase| phase.string_at("refusal_spends")));
    }
    names.into_iter()
}

/// Compiles one workflow with everything it includes, and returns it with its phase ids.
pub(super) fn compile_workflow<'f>(
    raw: &RawWorkflow<'f>,
    merged: MergedIncludes<'_, 'f>,
    names: &ProtocolSymbols,
    faults: &LoadDiagnostics,
) -> (WorkflowDefinition, SymbolTable<()>) {
    let MergedIncludes { parts, is_complete: whole, has_cycle: ring } = merged;
    let mut known = SymbolTable::new("phase");
    known.unread = !whole;
    let members = collect_phases(&parts, ring, &mut known, faults);
    let node = raw.file.root();
    if let Some(node) = node.get("phases").or_else(|| node.get("steps"))
        && members.is_empty()
        && whole
        && raw.file.is_valid(&node)
    {
        faults.push(node.diagnose("min_items", "a workflow needs at least one phase"));
    }
    let engine = names.engine_fields_for(raw.id);
    let phases: Vec<WorkflowPhase> = members
        .iter()
        .filter_map(|member| read_phase(member, names, (&known, engine), faults))
        .collect();
    let transitions: Vec<FileNode<'f>> = parts.iter().flat_map(|part| part.transitions()).collect();
    let transitions: Vec<WorkflowTransition> = transitions
        .iter()
        .filter_map(|transition| read_transition(transition, names, (&known, engine), faults))
        .collect();
    let complete = phases.len() == members.len() && transitions.len() == transitions.len();
    debug_assert!(complete || faults.has_errors(), "a part that was left out has a diagnostic");
    let scope = NameScope { engine, ..NameScope::for_protocol(names, &known, faults) };
    let input = read_workflow_input(&raw.settings, &scope);
    let output = read_workflow_output(&raw.settings, faults);
    let root = raw.file.root();
    let (name, description) = (root.string_at("name"), root.string_at("description"));
    let title = raw.settings.valid_member("title");
    let title =
        title.and_then(|title| read_localized_template(&title, &EXPRESSION_NAMES[..2], faults));
    let (id, origin) = (raw.id.to_owned(), root.origin());
    let (document, index) = (None, WorkflowIndex::new(&phases, &transitions));
    let workflow = WorkflowDefinition {
        id,
        name,
        description,
        title,
        document,
        input,
        output,
        phases,
        transitions,
        origin,
        settings_origin: raw.settings.origin(),
        index,
    };
    (workflow, known)
}

/// Collects the phases of all parts and reports duplicate ids.
fn collect_phases<'f>(
    parts: &[&RawWorkflow<'f>],
    ring: bool,
    known: &mut SymbolTable<()>,
    faults: &LoadDiagnostics,
) -> Vec<FileNode<'f>> {
    let mut seen: BTreeMap<&'f str, (&'f str, FileNode<'f>)> = BTreeMap::new();
    let mut members = Vec::new();
    for part in parts {
        for member in part.phases() {
            let Some(id) = member.get("id").filter(|id| id.text().is_some()) else { continue };
            let name = id.text().unwrap_or_default();
            if name.trim().is_empty() {
                faults
                    .push(id.diagnose("min_length", "a phase needs an id, and this one is blank"));
                continue;
            }
            match seen.get(name) {
                Some((owner, first)) if *owner == part.id => {
                    faults.push_with("duplicate_id", &id, || {
                        let location = first.format_location();
                        let message = format!("phase `{name}` is already defined at {location}");
                        id.diagnose("duplicate_id", message)
                    });
                }
                // The include cycle itself is reported, so duplicates that it causes are not.
                Some(_) if ring => {}
                Some((owner, first)) => faults.push_with("include_clash", &id, || {
                    let location = first.format_location();
                    let message = format!(
                        "`{}` includes a phase `{name}`, which `{owner}` defines at {location}",
                        part.id
                    );
                    let hint = "included phases share one list of ids; rename one".to_owned();
                    id.diagnose("include_clash", message).with_hint(Some(hint))
                }),
                None => {
                    known.entries.insert(name.to_owned(), ());
                    seen.insert(name, (part.id, id));
                    members.push(member);
                }
            }
        }
    }
    members
}

fn read_transition(
    member: &FileNode<'_>,
    names: &ProtocolSymbols,
    (phases, engine): (&SymbolTable<()>, &[EngineField]),
    faults: &LoadDiagnostics,
) -> Option<WorkflowTransition> {
    let gate = member.get("gate").map(|it| read_gate(&it, faults).ok_or(()));
    // The author writes the changes of a transition: there is no reply to read, and no phase's
    // `writes` restrict them.
    let reads = &EXPRESSION_NAMES[..2];
    let scope =
        NameScope { engine, change_names: reads, ..NameScope::for_protocol(names, phases, faults) };
    let apply = read_apply(member, &scope);
    for key in ["from", "to"] {
        phases.resolve_name(&member.get(key)?, faults);
    }
    Some(WorkflowTransition {
        from: member.string_at("from")?,
        to: member.string_at("to")?,
        priority: member.value["priority"].as_i64().unwrap_or(0),
        gate: gate.transpose().ok()?,
        after: member.text_at("after").and_then(DecisionTrigger::parse),
        spends: member.string_at("spends"),
        apply,
        issues: member.strings_at("issues"),
        origin: member.origin(),
    })
}
