//! Phases that a run could come to without the ticket they need, and tickets that nothing gives.
//!
//! Every way a run may take is followed with the tickets it would hold, whatever the gates say.

use std::collections::{BTreeSet, VecDeque};

use super::opening::Openings;
use super::outcomes;
use super::ways::{completes_to, sent_to, spent_to};
use super::whole;
use crate::nearest::nearest;
use crate::protocol::{BudgetName, Otherwise, Phase, Protocol, Workflow};
use crate::spec::Diagnostic;

/// How many pairs of a phase and the tickets held there are looked at in one workflow.
const MOST_STANDINGS: usize = 20_000;

pub(super) fn check(protocol: &Protocol, openings: &Openings<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in whole::workflows(protocol) {
        if workflow.phases.iter().any(|phase| !phase.needs.is_empty()) {
            let unknown = unknown(workflow, &mut findings);
            let ways = Ways { protocol, workflow, openings };
            findings.extend(ways.skipped(&unknown));
        }
    }
    findings
}

/// Everything that some phase or way of a workflow gives.
fn given(workflow: &Workflow) -> BTreeSet<&str> {
    let phases = workflow.phases.iter().flat_map(|phase| &phase.gives);
    let ways = workflow.transitions.iter().flat_map(|way| &way.gives);
    phases.chain(ways).map(String::as_str).collect()
}

/// Tells the tickets that nothing gives, and names them.
fn unknown<'w>(workflow: &'w Workflow, findings: &mut Vec<Diagnostic>) -> BTreeSet<&'w str> {
    let given = given(workflow);
    let mut unknown = BTreeSet::new();
    for phase in &workflow.phases {
        for (index, need) in phase.needs.iter().enumerate() {
            if given.contains(need.as_str()) {
                continue;
            }
            unknown.insert(need.as_str());
            let message = format!(
                "nothing gives the ticket `{need}`, so phase `{}` is never entered",
                phase.id
            );
            let hint = match nearest(need, given.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("say `gives: {need}` on the phase or the way that earns it"),
            };
            let fault = need_origin(phase, index).fault("ticket_unknown", message);
            findings.push(fault.hinting(Some(hint)));
        }
    }
    unknown
}

fn need_origin(phase: &Phase, index: usize) -> crate::protocol::Origin {
    let needs = phase.origin.child("needs");
    let listed = needs.tree.value.pointer(&needs.pointer).is_some_and(serde_json::Value::is_array);
    if listed { needs.child(&index.to_string()) } else { needs }
}

/// The ways of one workflow.
struct Ways<'w> {
    protocol: &'w Protocol,
    workflow: &'w Workflow,
    openings: &'w Openings<'w>,
}

/// A run that stands in a phase with these tickets, and how it came there.
#[derive(Debug)]
struct Standing {
    phase: usize,
    held: BTreeSet<String>,
    /// The standing before; none for the first.
    from: Option<usize>,
}

impl<'w> Ways<'w> {
    /// One finding for each phase and ticket, with the shortest way on which it is missing.
    fn skipped(&self, unknown: &BTreeSet<&str>) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let mut told: BTreeSet<(usize, &str)> = BTreeSet::new();
        let mut seen: BTreeSet<(usize, BTreeSet<String>)> = BTreeSet::new();
        let mut standings: Vec<Standing> = Vec::new();
        let mut open: VecDeque<(usize, BTreeSet<String>, Option<usize>)> =
            VecDeque::from([(0, BTreeSet::new(), None)]);
        while let Some((index, mut held, from)) = open.pop_front() {
            let Some(phase) = self.workflow.phases.get(index) else { continue };
            let taken = self.workflow.taken_back_by(phase);
            held.retain(|ticket| !taken.contains(ticket.as_str()));
            for (number, need) in phase.needs.iter().enumerate() {
                let missing = !held.contains(need) && !unknown.contains(need.as_str());
                if missing && told.insert((index, need)) {
                    let way = self.way(&standings, from, index);
                    findings.push(self.finding(phase, number, &way));
                }
            }
            // Beyond a phase everything it needs is held: no run gets there without.
            held.extend(phase.needs.iter().cloned());
            if seen.len() >= MOST_STANDINGS || !seen.insert((index, held.clone())) {
                continue;
            }
            standings.push(Standing { phase: index, held, from });
            let here = standings.len() - 1;
            open.extend(
                self.next(&standings[here]).into_iter().map(|(to, held)| (to, held, Some(here))),
            );
        }
        findings
    }

    /// Where a run can go from here, and with which tickets.
    fn next(&self, standing: &Standing) -> Vec<(usize, BTreeSet<String>)> {
        let phase = &self.workflow.phases[standing.phase];
        let mut next: Vec<(usize, BTreeSet<String>)> = Vec::new();
        if phase.terminal {
            return next;
        }
        let mut worked = standing.held.clone();
        worked.extend(phase.gives.iter().cloned());
        // Who goes on without the work goes on without what it gives.
        let goes_on = outcomes::of_phase(phase).iter().any(|one| one.then == Otherwise::GoOn);
        let without = goes_on.then(|| standing.held.clone());
        for left in [Some(worked), without].into_iter().flatten() {
            for (index, way) in self.workflow.ways_out(&phase.id) {
                if self.openings.is_never(&self.workflow.id, index) {
                    continue;
                }
                let mut held = left.clone();
                held.extend(way.gives.iter().cloned());
                next.extend(self.position(&way.to).map(|to| (to, held)));
                // A phase that may not be entered so often sends whoever comes on to another.
                let full = self.workflow.phase(&way.to).and_then(loops_lead_to);
                let full = full.and_then(|to| self.position(to));
                next.extend(full.map(|to| (to, left.clone())));
            }
            if let Some(to) = completes_to(phase).and_then(|to| self.position(to)) {
                next.push((to, left));
            }
        }
        let elsewhere = sent_to(phase).into_iter().chain(spent_to(&self.protocol.policy.budget));
        let elsewhere = elsewhere.filter_map(|to| self.position(to));
        next.extend(elsewhere.map(|to| (to, standing.held.clone())));
        next
    }

    fn position(&self, id: &str) -> Option<usize> {
        self.workflow.phases.iter().position(|phase| phase.id == id)
    }

    /// The phases on the way to one, itself last.
    fn way(&self, standings: &[Standing], from: Option<usize>, to: usize) -> Vec<&'w str> {
        let id = |index: usize| self.workflow.phases[index].id.as_str();
        let mut way = vec![id(to)];
        let mut before = from;
        while let Some(standing) = before.map(|index| &standings[index]) {
            way.push(id(standing.phase));
            before = standing.from;
        }
        way.reverse();
        way
    }

    fn finding(&self, phase: &Phase, number: usize, way: &[&str]) -> Diagnostic {
        let (id, need) = (&phase.id, &phase.needs[number]);
        let message = if self.workflow.taken_back_by(phase).contains(need.as_str()) {
            format!("phase `{id}` needs the ticket `{need}`, which entering it takes back")
        } else if way.len() == 1 {
            format!("phase `{id}` needs the ticket `{need}`, and runs begin in it")
        } else {
            let way = way.join("` → `");
            format!("phase `{id}` needs the ticket `{need}`, and `{way}` leads to it without")
        };
        let phases = self.workflow.phases.iter().filter(|one| one.gives.contains(need));
        let mut givers: Vec<String> = phases.map(|one| format!("phase `{}`", one.id)).collect();
        let ways = self.workflow.transitions.iter().filter(|way| way.gives.contains(need));
        givers.extend(ways.map(|way| format!("the way from `{}` to `{}`", way.from, way.to)));
        let hint =
            format!("it is given by {}; let every way here pass there", givers.join(" and by "));
        need_origin(phase, number).fault("ticket_skipped", message).hinting(Some(hint))
    }
}

/// The phase that follows where another was entered too often.
fn loops_lead_to(phase: &Phase) -> Option<&str> {
    phase.budget.limits.get(BudgetName::Loops.as_str())?.then.target()
}
