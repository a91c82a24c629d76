//! Phases that a run could come to without the ticket they need, and tickets that nothing gives.
//!
//! Every way a run may take is followed with the tickets it would hold, whatever the gates say.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::effort::Effort;
use super::opening::Openings;
use super::outcomes;
use super::ways::{completes_to, sent_to, spent_to};
use super::whole;
use crate::limits::MAX_LISTED_NAMES;
use crate::nearest::nearest;
use crate::protocol::{BudgetName, Needs, Otherwise, Phase, Protocol, Workflow};
use crate::spec::{Diagnostic, Findings};

const SKIPPED: &str = "ticket_skipped";

pub(super) fn check(
    protocol: &Protocol,
    openings: &Openings<'_>,
    effort: &Effort,
    findings: &mut Findings,
) {
    for workflow in whole::workflows(protocol) {
        if workflow.phases.iter().any(|phase| !phase.needs.is_empty()) {
            let unknown = unknown(workflow, findings);
            let (needs, elsewhere) =
                (workflow.needs_by_ticket(), spent_to(&protocol.policy.budget));
            let elsewhere = elsewhere.into_iter().filter_map(|id| workflow.position(id)).collect();
            Ways { workflow, openings, needs, elsewhere, effort }.skipped(&unknown, findings);
        }
    }
}

/// Everything that some phase or way of a workflow gives.
fn given(workflow: &Workflow) -> BTreeSet<&str> {
    let phases = workflow.phases.iter().flat_map(|phase| &phase.gives);
    let ways = workflow.transitions.iter().flat_map(|way| &way.gives);
    phases.chain(ways).map(String::as_str).collect()
}

/// Tells the tickets that nothing gives, and names them.
fn unknown<'w>(workflow: &'w Workflow, findings: &mut Findings) -> BTreeSet<&'w str> {
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
            let near = (!findings.is_full("ticket_unknown"))
                .then(|| nearest(need, given.iter().copied()))
                .flatten();
            let hint = match near {
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
    workflow: &'w Workflow,
    openings: &'w Openings<'w>,
    needs: Needs<'w>,
    /// The phases that a spent budget of the protocol sends a run to.
    elsewhere: BTreeSet<usize>,
    effort: &'w Effort,
}

/// The tickets a run holds.
type Held<'w> = BTreeSet<&'w str>;

/// A run that stands in a phase with these tickets, and how it came there.
#[derive(Debug)]
struct Standing<'w> {
    phase: usize,
    held: Held<'w>,
    /// The standing before; none for the first.
    from: Option<usize>,
}

impl<'w> Ways<'w> {
    /// One finding for each phase and ticket, with the shortest way on which it is missing.
    fn skipped(&self, unknown: &BTreeSet<&str>, findings: &mut Findings) {
        let mut told: BTreeSet<(usize, &str)> = BTreeSet::new();
        let mut seen: BTreeSet<(usize, Held<'w>)> = BTreeSet::new();
        let mut taken_by: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        let mut standings: Vec<Standing<'w>> = Vec::new();
        let mut open: VecDeque<(usize, Held<'w>, Option<usize>)> =
            VecDeque::from([(0, Held::new(), None)]);
        while let Some((index, mut held, from)) = open.pop_front() {
            let Some(phase) = self.workflow.phases.get(index) else { continue };
            let taken = taken_by.entry(index).or_insert_with(|| {
                let taken = self.workflow.taken_back_with(phase, &self.needs);
                self.effort.spend(taken.len());
                taken
            });
            if !self.effort.spend(1 + phase.needs.len() + 2 * held.len()) {
                return;
            }
            held.retain(|ticket| !taken.contains(ticket));
            for (number, need) in phase.needs.iter().enumerate() {
                let missing = !held.contains(need.as_str()) && !unknown.contains(need.as_str());
                if missing && told.insert((index, need)) {
                    let is_taken = taken.contains(need.as_str());
                    findings.push(if findings.is_full(SKIPPED) {
                        need_origin(phase, number).fault(SKIPPED, "")
                    } else {
                        let way = self.way(&standings, from, index);
                        self.finding((phase, number), is_taken, &way)
                    });
                }
            }
            // Beyond a phase everything it needs is held: no run gets there without.
            held.extend(phase.needs.iter().map(String::as_str));
            if !seen.insert((index, held.clone())) {
                continue;
            }
            standings.push(Standing { phase: index, held, from });
            let here = standings.len() - 1;
            let Some(next) = self.next(&standings[here]) else { return };
            open.extend(next.into_iter().map(|(to, held)| (to, held, Some(here))));
        }
    }

    /// Where a run can go from here, and with which tickets; `None` where the effort does not last.
    fn next(&self, standing: &Standing<'w>) -> Option<Vec<(usize, Held<'w>)>> {
        let phase = &self.workflow.phases[standing.phase];
        let mut next: Vec<(usize, Held<'w>)> = Vec::new();
        if phase.terminal {
            return Some(next);
        }
        let pays = |more: usize| self.effort.spend(1 + standing.held.len() + more).then_some(());
        let mut worked = standing.held.clone();
        worked.extend(phase.gives.iter().map(String::as_str));
        // Who goes on without the work goes on without what it gives.
        let goes_on = outcomes::of_phase(phase).iter().any(|one| one.then == Otherwise::GoOn);
        let without = goes_on.then(|| standing.held.clone());
        for left in [Some(worked), without].into_iter().flatten() {
            for (index, way) in self.workflow.ways_out(&phase.id) {
                pays(way.gives.len())?;
                if self.openings.is_never(&self.workflow.id, index) {
                    continue;
                }
                let mut held = left.clone();
                held.extend(way.gives.iter().map(String::as_str));
                next.extend(self.workflow.position(&way.to).map(|to| (to, held)));
                // A phase that may not be entered so often sends whoever comes on to another.
                let full = self.workflow.phase(&way.to).and_then(loops_lead_to);
                let full = full.and_then(|to| self.workflow.position(to));
                next.extend(full.map(|to| (to, left.clone())));
            }
            if let Some(to) = completes_to(phase).and_then(|to| self.workflow.position(to)) {
                next.push((to, left));
            }
        }
        let sent = sent_to(phase).into_iter().filter_map(|to| self.workflow.position(to));
        for to in sent.chain(self.elsewhere.iter().copied()) {
            pays(0)?;
            next.push((to, standing.held.clone()));
        }
        Some(next)
    }

    /// The phases on the way to one, itself last; the middle of a long way is left out.
    fn way(&self, standings: &[Standing<'_>], from: Option<usize>, to: usize) -> Vec<&'w str> {
        let id = |index: usize| self.workflow.phases[index].id.as_str();
        let mut way = vec![id(to)];
        let mut before = from;
        while let Some(standing) = before.map(|index| &standings[index]) {
            way.push(id(standing.phase));
            before = standing.from;
        }
        way.reverse();
        if way.len() > MAX_LISTED_NAMES {
            let half = MAX_LISTED_NAMES / 2;
            way.splice(half..way.len() - half, ["…"]);
        }
        way
    }

    fn finding(
        &self,
        (phase, number): (&Phase, usize),
        is_taken: bool,
        way: &[&str],
    ) -> Diagnostic {
        let (id, need) = (&phase.id, &phase.needs[number]);
        let message = if is_taken {
            format!("phase `{id}` needs the ticket `{need}`, which entering it takes back")
        } else if way.len() == 1 {
            format!("phase `{id}` needs the ticket `{need}`, and runs begin in it")
        } else {
            let way = way.join("` → `");
            format!("phase `{id}` needs the ticket `{need}`, and `{way}` leads to it without")
        };
        let phases = self.workflow.phases.iter().filter(|one| one.gives.contains(need));
        let phases = phases.map(|one| format!("phase `{}`", one.id));
        let ways = self.workflow.transitions.iter().filter(|way| way.gives.contains(need));
        let ways = ways.map(|way| format!("the way from `{}` to `{}`", way.from, way.to));
        let givers: Vec<String> = phases.chain(ways).take(MAX_LISTED_NAMES).collect();
        let hint =
            format!("it is given by {}; let every way here pass there", givers.join(" and by "));
        need_origin(phase, number).fault(SKIPPED, message).hinting(Some(hint))
    }
}

/// The phase that follows where another was entered too often.
fn loops_lead_to(phase: &Phase) -> Option<&str> {
    phase.budget.limits.get(BudgetName::Loops.as_str())?.then.target()
}
