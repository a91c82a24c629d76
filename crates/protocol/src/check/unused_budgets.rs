//! Finds budgets that are spent but never limited, or limited but never spent, and hooks that no
//! phase calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use countersign_contract::find_similar_name;
use countersign_contract::source::{Diagnostic, DiagnosticCollector, ParsedSourceFile, SourceFile};

use crate::{BuiltinBudget, FileOrigin, HookDefinition, PhaseWork, Protocol};

pub(super) fn check(protocol: &Protocol, findings: &mut DiagnosticCollector) {
    findings.extend(find_unused_hooks(protocol));
    let spent = collect_spent_budgets(protocol);
    let own = collect_limited_budgets(protocol);
    let spent_names: BTreeSet<&str> = spent.iter().map(|(name, _)| *name).collect();
    let own_names: BTreeSet<&str> = own.iter().map(|(name, _)| *name).collect();
    for (name, origin) in &spent {
        if is_builtin(name) || own_names.contains(name) {
            continue;
        }
        let message = format!("`{name}` is spent here, but no budget limits it");
        if findings.is_full("unknown_budget") {
            findings.push(origin.diagnose("unknown_budget", message));
            continue;
        }
        let known = own_names.iter().copied().filter(|name| !is_builtin(name));
        let hint = match find_similar_name(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("set a limit: `policy: {{ budget: {{ {name}: 3 }} }}`"),
        };
        findings.push(origin.diagnose("unknown_budget", message).with_hint(Some(hint)));
    }
    for (name, origin) in &own {
        if is_builtin(name) || spent_names.contains(name) {
            continue;
        }
        let message = format!("nothing spends from the budget `{name}`");
        let hint = match find_similar_name(name, BuiltinBudget::ALL.map(BuiltinBudget::as_str)) {
            Some(near) => format!("did you mean `{near}`, which the engine counts?"),
            None => format!("add `spends: {name}` to a transition, or delete the budget"),
        };
        let Some(origin) = origin else { continue };
        findings
            .push(origin.diagnose("unused_budget", message).into_warning().with_hint(Some(hint)));
    }
}

fn is_builtin(name: &str) -> bool {
    BuiltinBudget::ALL.iter().any(|known| known.as_str() == name)
}

/// Collects every budget that is spent, with its location.
fn collect_spent_budgets(protocol: &Protocol) -> Vec<(&str, FileOrigin)> {
    let workflows = protocol.workflows.values();
    workflows
        .flat_map(|workflow| {
            let transitions = workflow.transitions.iter().filter_map(|transition| {
                transition.spends.as_deref().map(|name| (name, transition.origin.child("spends")))
            });
            let phases = workflow.phases.iter().filter_map(|phase| match &phase.work {
                PhaseWork::Agent(work) => work
                    .refusal_spends
                    .as_deref()
                    .map(|name| (name, phase.origin.child("refusal_spends"))),
                _ => None,
            });
            transitions.chain(phases)
        })
        .collect()
}

/// Collects every budget that has a limit, with its location if the file is available.
fn collect_limited_budgets(protocol: &Protocol) -> Vec<(&str, Option<FileOrigin>)> {
    let index = parse_index_file(protocol);
    let whole = protocol.policy.budget.limits.keys().map(|name| {
        let origin = index.as_ref().map(|file| file.child("policy").child("budget").child(name));
        (name.as_str(), origin)
    });
    let phases = protocol.workflows.values().flat_map(|workflow| &workflow.phases);
    let phases = phases.flat_map(|phase| {
        phase
            .budget
            .limits
            .keys()
            .map(|name| (name.as_str(), Some(phase.origin.child("budget").child(name))))
    });
    whole.chain(phases).collect()
}

/// Parses the index again for locations, because the policy does not record where it was defined.
pub(super) fn parse_index_file(protocol: &Protocol) -> Option<FileOrigin> {
    ["index.yaml", "index.yml", "index.json"].into_iter().find_map(|name| {
        let text = protocol.bundle.files.get(name)?;
        let tree = ParsedSourceFile::parse(SourceFile::new(name, text.clone())).ok()?;
        Some(FileOrigin::root(&Arc::new(tree)))
    })
}

fn find_unused_hooks(protocol: &Protocol) -> Vec<Diagnostic> {
    let phases = protocol.workflows.values().flat_map(|workflow| &workflow.phases);
    let called: BTreeSet<&str> = phases
        .flat_map(|phase| [phase.on_enter.as_deref(), phase.on_exit.as_deref()])
        .flatten()
        .collect();
    let unused = protocol.hooks.iter().filter(|(id, _)| !called.contains(id.as_str()));
    unused
        .map(|(id, hook)| {
            let (HookDefinition::Patch { origin, .. } | HookDefinition::Program { origin, .. }) =
                hook;
            let message = format!("no phase calls the hook `{id}`");
            let hint =
                format!("add `on_enter: {id}` or `on_exit: {id}` to a phase, or delete the hook");
            origin.diagnose("unused_hook", message).into_warning().with_hint(Some(hint))
        })
        .collect()
}
