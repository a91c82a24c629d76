//! Finds workflows that invoke one another in a cycle.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::source::Diagnostic;

use super::analysis_budget::AnalysisBudget;
use super::gate_analysis::GateAnalyses;
use super::reachability::PhaseGraph;
use super::wording::format_names;
use crate::{PhaseWork, Protocol, WorkflowDefinition, WorkflowPhase};

pub(super) fn check(
    protocol: &Protocol,
    openings: &GateAnalyses<'_>,
    effort: &AnalysisBudget,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut reported: BTreeSet<&str> = BTreeSet::new();
    let calls = InvocationGraph::from_protocol(protocol);
    let in_rings = calls.find_cyclic_workflows();
    for workflow in protocol.workflows.values() {
        let id = workflow.id.as_str();
        if reported.contains(id) || !in_rings.contains(id) {
            continue;
        }
        let Some(ring) = calls.find_cycle(id, effort) else { continue };
        reported.extend(&ring);
        let ring_set: BTreeSet<&str> = ring.iter().copied().collect();
        let avoidable = ring.iter().any(|id| {
            protocol
                .workflows
                .get(*id)
                .is_some_and(|one| can_end_without(protocol, one, &ring_set, openings))
        });
        let calls = workflow
            .phases
            .iter()
            .find(|phase| invoked_workflow(phase).is_some_and(|id| ring_set.contains(id)));
        let Some(phase) = calls else { continue };
        findings.push(report_cycle(phase, &ring, avoidable));
    }
    findings
}

fn invoked_workflow(phase: &WorkflowPhase) -> Option<&str> {
    match &phase.work {
        PhaseWork::Invoke(invoke) => Some(&invoke.workflow),
        _ => None,
    }
}

fn report_cycle(phase: &WorkflowPhase, ring: &[&str], avoidable: bool) -> Diagnostic {
    let origin = phase.origin.child("invoke").child("workflow");
    let round = match ring {
        [only] => format!("workflow `{only}` invokes itself"),
        _ => {
            format!("workflows {} invoke each other in a cycle", format_names(ring.iter().copied()))
        }
    };
    if avoidable {
        let message = format!("{round}; runs can be nested at most 10 deep");
        let hint = "make sure that the transition that ends the cycle is always taken in time";
        return origin
            .diagnose("invoke_cycle", message)
            .into_warning()
            .with_hint(Some(hint.to_owned()));
    }
    let message = format!("{round}, and none of them can end without invoking the next");
    let hint = "give one of them a path to its end that avoids the phase that invokes";
    origin.diagnose("invoke_cycle", message).with_hint(Some(hint.to_owned()))
}

/// Which workflows invoke which.
struct InvocationGraph<'p> {
    /// Invoked workflows in the order of the phases, each once.
    callees: BTreeMap<&'p str, Vec<&'p str>>,
}

impl<'p> InvocationGraph<'p> {
    fn from_protocol(protocol: &'p Protocol) -> Self {
        let called = |workflow: &'p WorkflowDefinition| {
            let mut seen = BTreeSet::new();
            let called = workflow.phases.iter().filter_map(invoked_workflow);
            (workflow.id.as_str(), called.filter(|id| seen.insert(*id)).collect())
        };
        Self { callees: protocol.workflows.values().map(called).collect() }
    }

    /// Finds the workflows that can reach a cycle of invocations and are reached by one. It
    /// repeatedly removes the workflows that invoke none or that none invokes.
    fn find_cyclic_workflows(&self) -> BTreeSet<&'p str> {
        let mut before: BTreeMap<&str, Vec<&'p str>> = BTreeMap::new();
        for (id, called) in &self.callees {
            for other in called {
                before.entry(other).or_default().push(id);
            }
        }
        let called = |id: &str| self.callees.get(id).map_or(&[][..], Vec::as_slice);
        let calling = |id: &str| before.get(id).map_or(&[][..], Vec::as_slice);
        let mut left: BTreeSet<&'p str> = self.callees.keys().copied().collect();
        for forward in [true, false] {
            let count = |id: &str| if forward { called(id).len() } else { calling(id).len() };
            let mut counts: BTreeMap<&str, usize> =
                left.iter().map(|id| (*id, count(id))).collect();
            let mut open: Vec<&str> = left.iter().copied().filter(|id| counts[id] == 0).collect();
            while let Some(id) = open.pop() {
                left.remove(id);
                for other in if forward { calling(id) } else { called(id) } {
                    let Some(count) = counts.get_mut(other) else { continue };
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        open.push(other);
                    }
                }
            }
        }
        left
    }

    /// Finds the shortest cycle of invocations that starts and ends with a workflow.
    fn find_cycle(&self, start: &'p str, effort: &AnalysisBudget) -> Option<Vec<&'p str>> {
        let mut predecessors: BTreeMap<&str, &str> = BTreeMap::new();
        let mut open = std::collections::VecDeque::from([start]);
        while let Some(here) = open.pop_front() {
            let called = self.callees.get(here).map_or(&[][..], Vec::as_slice);
            if !effort.spend(1 + called.len()) {
                return None;
            }
            for next in called.iter().copied() {
                if next == start {
                    let mut ring = vec![here];
                    while let Some(before) = predecessors.get(ring[ring.len() - 1]) {
                        ring.push(before);
                    }
                    ring.reverse();
                    return Some(ring);
                }
                if !predecessors.contains_key(next) {
                    predecessors.insert(next, here);
                    open.push_back(next);
                }
            }
        }
        None
    }
}

/// Whether a run of a workflow can end without invoking another one of the cycle.
fn can_end_without(
    protocol: &Protocol,
    workflow: &WorkflowDefinition,
    ring: &BTreeSet<&str>,
    openings: &GateAnalyses<'_>,
) -> bool {
    let calls = |index: usize| {
        invoked_workflow(&workflow.phases[index]).is_some_and(|id| ring.contains(id))
    };
    let transitions = PhaseGraph::from_workflow(protocol, workflow, |index| {
        !openings.never_opens(&workflow.id, index)
    });
    let reached = transitions.reachable_from(&[0], |index| !calls(index));
    reached.into_iter().any(|index| transitions.is_end(index) && !calls(index))
}
