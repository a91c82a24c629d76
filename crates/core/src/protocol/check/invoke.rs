//! Workflows that invoke one another in a ring.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::names;
use super::opening::Openings;
use super::ways::Ways;
use crate::protocol::{Phase, Protocol, Work, Workflow};
use crate::spec::Diagnostic;

pub(super) fn check(protocol: &Protocol, openings: &Openings<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for workflow in protocol.workflows.values() {
        if told.contains(workflow.id.as_str()) {
            continue;
        }
        let Some(ring) = ring(protocol, &workflow.id) else { continue };
        told.extend(&ring);
        let avoidable = ring.iter().any(|id| {
            protocol
                .workflows
                .get(*id)
                .is_some_and(|one| ends_without(protocol, one, &ring, openings))
        });
        let calls = workflow
            .phases
            .iter()
            .find(|phase| invoked(phase).is_some_and(|id| ring.contains(&id)));
        let Some(phase) = calls else { continue };
        findings.push(finding(phase, &ring, avoidable));
    }
    findings
}

fn invoked(phase: &Phase) -> Option<&str> {
    match &phase.work {
        Work::Invoke(invoke) => Some(&invoke.workflow),
        _ => None,
    }
}

fn finding(phase: &Phase, ring: &[&str], avoidable: bool) -> Diagnostic {
    let origin = phase.origin.child("invoke").child("workflow");
    let round = match ring {
        [only] => format!("workflow `{only}` invokes itself"),
        _ => format!("workflows {} invoke one another in a ring", names(ring.iter().copied())),
    };
    if avoidable {
        let message = format!("{round}; at most 10 runs may stand inside one another");
        let hint = "see that the way that ends it is always taken in time";
        return origin.fault("invoke_cycle", message).warning().hinting(Some(hint.to_owned()));
    }
    let message = format!("{round}, and none of them can end without invoking the next");
    let hint = "give one of them a way to its end that does not pass the phase that invokes";
    origin.fault("invoke_cycle", message).hinting(Some(hint.to_owned()))
}

/// The shortest ring of invocations that begins and ends with a workflow.
fn ring<'p>(protocol: &'p Protocol, start: &'p str) -> Option<Vec<&'p str>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut open = std::collections::VecDeque::from([start]);
    while let Some(here) = open.pop_front() {
        let phases = protocol.workflows.get(here).map(|one| one.phases.as_slice());
        for next in phases.unwrap_or_default().iter().filter_map(invoked) {
            if next == start {
                let mut ring = vec![here];
                while let Some(before) = came_from.get(ring[ring.len() - 1]) {
                    ring.push(before);
                }
                ring.reverse();
                return Some(ring);
            }
            if !came_from.contains_key(next) {
                came_from.insert(next, here);
                open.push_back(next);
            }
        }
    }
    None
}

/// Whether a run of a workflow can end without invoking another of the ring.
fn ends_without(
    protocol: &Protocol,
    workflow: &Workflow,
    ring: &[&str],
    openings: &Openings<'_>,
) -> bool {
    let calls =
        |index: usize| invoked(&workflow.phases[index]).is_some_and(|id| ring.contains(&id));
    let ways = Ways::of(protocol, workflow, openings);
    let reached = ways.reached_from(&[0], |index| !calls(index));
    reached.into_iter().any(|index| ways.is_end(index) && !calls(index))
}
