//! Gates that never open, and ways that are never reached because one before them is always open.

use super::opening::{Opening, Openings};
use super::whole;
use super::written::gate_origin;
use crate::protocol::{Check, Hook, Phase, Protocol, Workflow};
use crate::spec::Diagnostic;

pub(super) fn check(protocol: &Protocol, openings: &Openings<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in whole::workflows(protocol) {
        never_open(workflow, openings, &mut findings);
        for phase in &workflow.phases {
            shadowed(protocol, workflow, phase, openings, &mut findings);
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

fn shadowed(
    protocol: &Protocol,
    workflow: &Workflow,
    phase: &Phase,
    openings: &Openings<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    // A program that runs before the move may choose another way.
    let hook = phase.on_exit.as_ref().and_then(|id| protocol.hooks.get(id));
    if phase.terminal || matches!(hook, Some(Hook::Program { .. })) {
        return;
    }
    let ways = workflow.ways_out(&phase.id);
    let Some(first) = ways.iter().position(|(index, _)| openings.is_always(&workflow.id, *index))
    else {
        return;
    };
    let open = ways[first].1;
    for (index, way) in &ways[first + 1..] {
        if openings.is_never(&workflow.id, *index) {
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
