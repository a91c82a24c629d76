//! Budgets that are spent and never limited, or limited and never spent; hooks nobody calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::nearest::nearest;
use crate::protocol::{BudgetName, Hook, Origin, Protocol, Work};
use crate::spec::{Diagnostic, Findings, Source, Tree};

pub(super) fn check(protocol: &Protocol, findings: &mut Findings) {
    findings.extend(unused_hooks(protocol));
    let spent = spent(protocol);
    let own = limited(protocol);
    let spent_names: BTreeSet<&str> = spent.iter().map(|(name, _)| *name).collect();
    let own_names: BTreeSet<&str> = own.iter().map(|(name, _)| *name).collect();
    for (name, origin) in &spent {
        if is_counted(name) || own_names.contains(name) {
            continue;
        }
        let message = format!("`{name}` is spent here, and no budget limits it");
        if findings.is_full("unknown_budget") {
            findings.push(origin.fault("unknown_budget", message));
            continue;
        }
        let known = own_names.iter().copied().filter(|name| !is_counted(name));
        let hint = match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("say how much there is: `policy: {{ budget: {{ {name}: 3 }} }}`"),
        };
        findings.push(origin.fault("unknown_budget", message).hinting(Some(hint)));
    }
    for (name, origin) in &own {
        if is_counted(name) || spent_names.contains(name) {
            continue;
        }
        let message = format!("nothing spends from the budget `{name}`");
        let hint = match nearest(name, BudgetName::ALL.map(BudgetName::as_str)) {
            Some(near) => format!("did you mean `{near}`, which is counted by itself?"),
            None => format!("say `spends: {name}` on a transition, or delete the budget"),
        };
        let Some(origin) = origin else { continue };
        findings.push(origin.fault("unused_budget", message).warning().hinting(Some(hint)));
    }
}

fn is_counted(name: &str) -> bool {
    BudgetName::ALL.iter().any(|known| known.as_str() == name)
}

/// Every name that is spent, with its place.
fn spent(protocol: &Protocol) -> Vec<(&str, Origin)> {
    let workflows = protocol.workflows.values();
    workflows
        .flat_map(|workflow| {
            let ways = workflow.transitions.iter().filter_map(|way| {
                way.spends.as_deref().map(|name| (name, way.origin.child("spends")))
            });
            let phases = workflow.phases.iter().filter_map(|phase| match &phase.work {
                Work::Agent(work) => work
                    .refusal_spends
                    .as_deref()
                    .map(|name| (name, phase.origin.child("refusal_spends"))),
                _ => None,
            });
            ways.chain(phases)
        })
        .collect()
}

/// Every name that has a limit, with its place where the file is at hand.
fn limited(protocol: &Protocol) -> Vec<(&str, Option<Origin>)> {
    let index = index_file(protocol);
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

/// The index as a file with places: the policy does not remember where it was said.
pub(super) fn index_file(protocol: &Protocol) -> Option<Origin> {
    ["index.yaml", "index.yml", "index.json"].into_iter().find_map(|name| {
        let text = protocol.bundle.files.get(name)?;
        let tree = Tree::parse(Source::new(name, text.clone())).ok()?;
        Some(Origin::root(&Arc::new(tree)))
    })
}

fn unused_hooks(protocol: &Protocol) -> Vec<Diagnostic> {
    let phases = protocol.workflows.values().flat_map(|workflow| &workflow.phases);
    let called: BTreeSet<&str> = phases
        .flat_map(|phase| [phase.on_enter.as_deref(), phase.on_exit.as_deref()])
        .flatten()
        .collect();
    let unused = protocol.hooks.iter().filter(|(id, _)| !called.contains(id.as_str()));
    unused
        .map(|(id, hook)| {
            let (Hook::Patch { origin, .. } | Hook::Program { origin, .. }) = hook;
            let message = format!("no phase calls the hook `{id}`");
            let hint = format!("say `on_enter: {id}` or `on_exit: {id}` on a phase, or delete it");
            origin.fault("unused_hook", message).warning().hinting(Some(hint))
        })
        .collect()
}
