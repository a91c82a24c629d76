//! Workflows that invoke one another in a ring.

use std::collections::{BTreeMap, BTreeSet};

use super::effort::Effort;
use super::finding::names;
use super::opening::Openings;
use super::ways::Ways;
use crate::protocol::{Phase, Protocol, Work, Workflow};
use crate::spec::Diagnostic;

pub(super) fn check(
    protocol: &Protocol,
    openings: &Openings<'_>,
    effort: &Effort,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let calls = Calls::of(protocol);
    let in_rings = calls.in_rings();
    for workflow in protocol.workflows.values() {
        let id = workflow.id.as_str();
        if told.contains(id) || !in_rings.contains(id) {
            continue;
        }
        let Some(ring) = calls.ring(id, effort) else { continue };
        told.extend(&ring);
        let ring_set: BTreeSet<&str> = ring.iter().copied().collect();
        let avoidable = ring.iter().any(|id| {
            protocol
                .workflows
                .get(*id)
                .is_some_and(|one| ends_without(protocol, one, &ring_set, openings))
        });
        let calls = workflow
            .phases
            .iter()
            .find(|phase| invoked(phase).is_some_and(|id| ring_set.contains(id)));
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

/// Which workflows invoke which.
struct Calls<'p> {
    /// In the order of the phases, each once.
    next: BTreeMap<&'p str, Vec<&'p str>>,
}

impl<'p> Calls<'p> {
    fn of(protocol: &'p Protocol) -> Self {
        let called = |workflow: &'p Workflow| {
            let mut seen = BTreeSet::new();
            let called = workflow.phases.iter().filter_map(invoked);
            (workflow.id.as_str(), called.filter(|id| seen.insert(*id)).collect())
        };
        Self { next: protocol.workflows.values().map(called).collect() }
    }

    /// The workflows from which a ring of invocations can be reached and that a ring reaches: what is
    /// left when those are taken away, again and again, that invoke none or are invoked by none.
    fn in_rings(&self) -> BTreeSet<&'p str> {
        let mut before: BTreeMap<&str, Vec<&'p str>> = BTreeMap::new();
        for (id, called) in &self.next {
            for other in called {
                before.entry(other).or_default().push(id);
            }
        }
        let called = |id: &str| self.next.get(id).map_or(&[][..], Vec::as_slice);
        let calling = |id: &str| before.get(id).map_or(&[][..], Vec::as_slice);
        let mut left: BTreeSet<&'p str> = self.next.keys().copied().collect();
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

    /// The shortest ring of invocations that begins and ends with a workflow.
    fn ring(&self, start: &'p str, effort: &Effort) -> Option<Vec<&'p str>> {
        let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
        let mut open = std::collections::VecDeque::from([start]);
        while let Some(here) = open.pop_front() {
            let called = self.next.get(here).map_or(&[][..], Vec::as_slice);
            if !effort.spend(1 + called.len()) {
                return None;
            }
            for next in called.iter().copied() {
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
}

/// Whether a run of a workflow can end without invoking another of the ring.
fn ends_without(
    protocol: &Protocol,
    workflow: &Workflow,
    ring: &BTreeSet<&str>,
    openings: &Openings<'_>,
) -> bool {
    let calls = |index: usize| invoked(&workflow.phases[index]).is_some_and(|id| ring.contains(id));
    let ways = Ways::of(protocol, workflow, openings);
    let reached = ways.reached_from(&[0], |index| !calls(index));
    reached.into_iter().any(|index| ways.is_end(index) && !calls(index))
}
