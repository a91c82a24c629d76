//! Loops in which nothing is done and nothing can stop: a run would go round until its budget is spent.

use super::finding::names;
use super::opening::Openings;
use super::whole;
use crate::protocol::{Hook, Phase, Protocol, Work, Workflow};
use crate::spec::Diagnostic;

pub(super) fn check(protocol: &Protocol, openings: &Openings<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in whole::workflows(protocol) {
        for ring in endless(protocol, workflow, openings) {
            let phase = &workflow.phases[ring[0]];
            let all = names(ring.iter().map(|index| workflow.phases[*index].id.as_str()));
            let message = if ring.len() == 1 {
                format!(
                    "phase {all} leads back to itself for ever: it has no work, and the way is always open"
                )
            } else {
                format!(
                    "a run goes round {all} for ever: none has work, and the ways between them are always open"
                )
            };
            let hint = "give one of the ways a gate, or one of the phases some work";
            let fault = phase.origin.child("id").fault("endless_loop", message);
            findings.push(fault.hinting(Some(hint.to_owned())));
        }
    }
    findings
}

/// The rings of a workflow, each by the positions of its phases, the first in the list first.
pub(super) fn endless(
    protocol: &Protocol,
    workflow: &Workflow,
    openings: &Openings<'_>,
) -> Vec<Vec<usize>> {
    let next: Vec<Option<usize>> =
        workflow.phases.iter().map(|phase| forced(protocol, workflow, phase, openings)).collect();
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
        // Phases that only lead into a ring are no part of it.
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

/// The phase that follows at once, whatever the document says.
fn forced(
    protocol: &Protocol,
    workflow: &Workflow,
    phase: &Phase,
    openings: &Openings<'_>,
) -> Option<usize> {
    let program = |id: &Option<String>| {
        let hook = id.as_ref().and_then(|id| protocol.hooks.get(id));
        matches!(hook, Some(Hook::Program { .. }))
    };
    let leaves = phase.budget.limits.values().any(|limit| limit.then.target().is_some());
    let idle = matches!(phase.work, Work::None) && !phase.terminal && !leaves;
    if !idle || program(&phase.on_enter) || program(&phase.on_exit) {
        return None;
    }
    let ways = workflow.ways_out(&phase.id);
    let mut possible = ways.iter().filter(|(index, _)| !openings.is_never(&workflow.id, *index));
    let (index, way) = possible.next()?;
    let free = openings.is_always(&workflow.id, *index) && way.spends.is_none();
    if !free {
        return None;
    }
    workflow.position(&way.to)
}
