//! Finds gates that never open, and transitions that are never reached because an earlier one is
//! always open.

use std::collections::BTreeSet;

use countersign_contract::source::Diagnostic;

use super::gate_analysis::{GateAnalyses, GateAnalysis};
use super::located_expressions::gate_origin;
use super::standalone_workflows;
use crate::{
    GateCheck, HookDefinition, Protocol, WorkflowDefinition, WorkflowPhase, WorkflowTransition,
};

pub(super) fn check(protocol: &Protocol, openings: &GateAnalyses<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        check_never_open(workflow, openings, &mut findings);
        for phase in &workflow.phases {
            check_shadowed(protocol, workflow, phase, openings, &mut findings);
        }
    }
    findings
}

fn check_never_open(
    workflow: &WorkflowDefinition,
    openings: &GateAnalyses<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    for (index, transition) in workflow.transitions.iter().enumerate() {
        let GateAnalysis::Never(reason) = openings.get(&workflow.id, index) else { continue };
        let message = format!(
            "the transition from `{}` to `{}` never opens: {}",
            transition.from, transition.to, reason.message
        );
        let code = "gate_never_opens";
        let fault = match (transition.gate.as_ref().map(|gate| &gate.check), &reason.span) {
            (Some(GateCheck::Expression(expr)), Some(span)) => {
                gate_origin(&transition.origin).diagnose_within(code, message, expr.source(), span)
            }
            (Some(GateCheck::Status { .. }), _) => {
                transition.origin.child("gate").child("value").diagnose(code, message)
            }
            _ => transition.origin.child("gate").diagnose(code, message),
        };
        findings.push(fault.with_hint(reason.hint.clone()));
    }
}

/// Finds the first transition of a phase that is always open, and the transitions behind it.
fn find_shadowed<'w>(
    protocol: &Protocol,
    workflow: &'w WorkflowDefinition,
    phase: &WorkflowPhase,
    openings: &GateAnalyses<'_>,
) -> Option<(&'w WorkflowTransition, Vec<(usize, &'w WorkflowTransition)>)> {
    // A program that runs before the phase is left may choose another phase.
    let hook = phase.on_exit.as_ref().and_then(|id| protocol.hooks.get(id));
    if phase.terminal || matches!(hook, Some(HookDefinition::Program { .. })) {
        return None;
    }
    let mut transitions = workflow.transitions_from(&phase.id);
    let first =
        transitions.iter().position(|(index, _)| openings.always_opens(&workflow.id, *index))?;
    let behind = transitions.split_off(first + 1);
    Some((transitions[first].1, behind))
}

/// Finds the transitions that no run takes: gates that never open, transitions behind open ones,
/// and transitions out of a terminal phase.
pub(super) fn find_never_taken(
    protocol: &Protocol,
    workflow: &WorkflowDefinition,
    openings: &GateAnalyses<'_>,
) -> BTreeSet<usize> {
    let transitions = 0..workflow.transitions.len();
    let mut never: BTreeSet<usize> =
        transitions.filter(|index| openings.never_opens(&workflow.id, *index)).collect();
    for phase in &workflow.phases {
        if let Some((_, behind)) = find_shadowed(protocol, workflow, phase, openings) {
            never.extend(behind.iter().map(|(index, _)| *index));
        }
        if phase.terminal {
            never.extend(workflow.transitions_from(&phase.id).iter().map(|(index, _)| *index));
        }
    }
    never
}

fn check_shadowed(
    protocol: &Protocol,
    workflow: &WorkflowDefinition,
    phase: &WorkflowPhase,
    openings: &GateAnalyses<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let Some((open, behind)) = find_shadowed(protocol, workflow, phase, openings) else { return };
    for (index, transition) in behind {
        if openings.never_opens(&workflow.id, index) {
            continue;
        }
        let message = format!(
            "the transition from `{}` to `{}` is never taken: the transition to `{}` is evaluated first and is always open",
            transition.from, transition.to, open.to
        );
        let hint = if open.gate.is_none() {
            format!(
                "give the transition to `{}` a gate, or a higher `priority` number than this one",
                open.to
            )
        } else {
            format!("the gate of the transition to `{}` is true for every document", open.to)
        };
        let fault = transition.origin.child("to").diagnose("shadowed_transition", message);
        findings.push(fault.into_warning().with_hint(Some(hint)));
    }
}
