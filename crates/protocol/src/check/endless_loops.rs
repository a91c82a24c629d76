//! Finds loops that have no work and cannot stop: a run would repeat them until its budget is
//! spent.

use countersign_contract::source::Diagnostic;

use super::gate_analysis::GateAnalyses;
use super::standalone_workflows;
use super::wording::format_names;
use crate::{HookDefinition, PhaseWork, Protocol, WorkflowDefinition, WorkflowPhase};

pub(super) fn check(protocol: &Protocol, openings: &GateAnalyses<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        for ring in find_endless_loops(protocol, workflow, openings) {
            let phase = &workflow.phases[ring[0]];
            let all = format_names(ring.iter().map(|index| workflow.phases[*index].id.as_str()));
            let message = if ring.len() == 1 {
                format!(
                    "phase {all} loops forever: it has no work, and its transition to itself is always open"
                )
            } else {
                format!(
                    "a run loops through {all} forever: none of them has work, and the transitions between them are always open"
                )
            };
            let hint = "give one of the transitions a gate, or one of the phases work";
            let fault = phase.origin.child("id").diagnose("endless_loop", message);
            findings.push(fault.with_hint(Some(hint.to_owned())));
        }
    }
    findings
}

/// Finds the loops of a workflow as positions of phases, starting with the lowest position.
pub(super) fn find_endless_loops(
    protocol: &Protocol,
    workflow: &WorkflowDefinition,
    openings: &GateAnalyses<'_>,
) -> Vec<Vec<usize>> {
    let next: Vec<Option<usize>> = workflow
        .phases
        .iter()
        .map(|phase| find_forced_successor(protocol, workflow, phase, openings))
        .collect();
    let mut rings: Vec<Vec<usize>> = Vec::new();
    let mut seen = vec![false; next.len()];
    for start in 0..next.len() {
        let mut path = Vec::new();
        let mut here = Some(start);
        while let Some(index) = here.filter(|index| !seen[*index]) {
            seen[index] = true;
            path.push(index);
            here = next[index];
        }
        // Phases that only lead into a loop are not part of it.
        let ring = here.and_then(|end| path.iter().position(|index| *index == end));
        if let Some(from) = ring {
            let mut ring = path.split_off(from);
            let first = (0..ring.len()).min_by_key(|at| ring[*at]).unwrap_or(0);
            ring.rotate_left(first);
            rings.push(ring);
        }
    }
    rings
}

/// Finds the phase that follows immediately, whatever the document contains.
fn find_forced_successor(
    protocol: &Protocol,
    workflow: &WorkflowDefinition,
    phase: &WorkflowPhase,
    openings: &GateAnalyses<'_>,
) -> Option<usize> {
    let program = |id: &Option<String>| {
        let hook = id.as_ref().and_then(|id| protocol.hooks.get(id));
        matches!(hook, Some(HookDefinition::Program { .. }))
    };
    let leaves = phase.budget.limits.values().any(|limit| limit.then.target_phase().is_some());
    let idle = matches!(phase.work, PhaseWork::None) && !phase.terminal && !leaves;
    if !idle || program(&phase.on_enter) || program(&phase.on_exit) {
        return None;
    }
    let transitions = workflow.transitions_from(&phase.id);
    let mut possible =
        transitions.iter().filter(|(index, _)| !openings.never_opens(&workflow.id, *index));
    let (index, transition) = possible.next()?;
    let free = openings.always_opens(&workflow.id, *index) && transition.spends.is_none();
    if !free {
        return None;
    }
    workflow.phase_position(&transition.to)
}
