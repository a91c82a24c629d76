//! Gates that never open, and ways that are never reached because one before them is always open.

use std::collections::BTreeSet;

use super::opening::{Opening, Openings};
use super::whole;
use super::written::gate_origin;
use crate::protocol::{Check, Hook, Phase, Protocol, Transition, Workflow};
use crate::spec::Diagnostic;

pub(super) fn check(protocol: &Protocol, openings: &Openings<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in whole::workflows(protocol) {
        never_open(workflow, openings, &mut findings);
        for phase in &workflow.phases {
            tell_shadowed(protocol, workflow, phase, openings, &mut findings);
        }
    }
    findings
}

fn never_open(workflow: &Workflow, openings: &Openings<'_>, findings: &mut Vec<Diagnostic>) {
    for (index, way) in workflow.transitions.iter().enumerate() {
        let Opening::Never(reason) = openings.get(&workflow.id, index) else { continue };
        let message =
            format!("the way from `{}` to `{}` never opens: {}", way.from, way.to, reason.message);
        let code = "gate_never_opens";
        let fault = match (way.gate.as_ref().map(|gate| &gate.check), &reason.span) {
            (Some(Check::Expression(expr)), Some(span)) => {
                gate_origin(&way.origin).fault_within(code, message, expr.source(), span)
            }
            (Some(Check::Status { .. }), _) => {
                way.origin.child("gate").child("value").fault(code, message)
            }
            _ => way.origin.child("gate").fault(code, message),
        };
        findings.push(fault.hinting(reason.hint.clone()));
    }
}

/// The ways of a phase behind one that is always open, and that one.
fn shadowed<'w>(
    protocol: &Protocol,
    workflow: &'w Workflow,
    phase: &Phase,
    openings: &Openings<'_>,
) -> Option<(&'w Transition, Vec<(usize, &'w Transition)>)> {
    // A program that runs before the move may choose another way.
    let hook = phase.on_exit.as_ref().and_then(|id| protocol.hooks.get(id));
    if phase.terminal || matches!(hook, Some(Hook::Program { .. })) {
        return None;
    }
    let mut ways = workflow.ways_out(&phase.id);
    let first = ways.iter().position(|(index, _)| openings.is_always(&workflow.id, *index))?;
    let behind = ways.split_off(first + 1);
    Some((ways[first].1, behind))
}

/// The ways that no run takes: gates that never open, ways behind open ones, ways out of an end.
pub(super) fn never_taken(
    protocol: &Protocol,
    workflow: &Workflow,
    openings: &Openings<'_>,
) -> BTreeSet<usize> {
    let ways = 0..workflow.transitions.len();
    let mut never: BTreeSet<usize> =
        ways.filter(|index| openings.is_never(&workflow.id, *index)).collect();
    for phase in &workflow.phases {
        if let Some((_, behind)) = shadowed(protocol, workflow, phase, openings) {
            never.extend(behind.iter().map(|(index, _)| *index));
        }
        if phase.terminal {
            never.extend(workflow.ways_out(&phase.id).iter().map(|(index, _)| *index));
        }
    }
    never
}

fn tell_shadowed(
    protocol: &Protocol,
    workflow: &Workflow,
    phase: &Phase,
    openings: &Openings<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let Some((open, behind)) = shadowed(protocol, workflow, phase, openings) else { return };
    for (index, way) in behind {
        if openings.is_never(&workflow.id, index) {
            continue;
        }
        let message = format!(
            "the way from `{}` to `{}` is never taken: the way to `{}` is asked before it and is \
             always open",
            way.from, way.to, open.to
        );
        let hint = if open.gate.is_none() {
            format!("give the way to `{}` a gate, or a higher `priority` number than this", open.to)
        } else {
            format!("the gate of the way to `{}` is true for every document", open.to)
        };
        let fault = way.origin.child("to").fault("shadowed_transition", message);
        findings.push(fault.warning().hinting(Some(hint)));
    }
}
