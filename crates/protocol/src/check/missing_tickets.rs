//! Finds phases that a run could reach without the ticket they need, and tickets that nothing
//! issues.
//!
//! The analysis follows every path that a run may take with the tickets it would hold, whatever the
//! conditions of the gates.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use countersign_contract::find_similar_name;
use countersign_contract::limits::MAX_LISTED_NAMES;
use countersign_contract::source::{Diagnostic, DiagnosticCollector};

use super::analysis_budget::AnalysisBudget;
use super::failure_handlers;
use super::gate_analysis::GateAnalyses;
use super::reachability::{budget_targets, completion_target, failure_targets};
use super::standalone_workflows;
use crate::{
    BuiltinBudget, FailurePolicy, PhasesByTicket, Protocol, WorkflowDefinition, WorkflowPhase,
};

const SKIPPED: &str = "ticket_skipped";

pub(super) fn check(
    protocol: &Protocol,
    openings: &GateAnalyses<'_>,
    effort: &AnalysisBudget,
    findings: &mut DiagnosticCollector,
) {
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        if workflow.phases.iter().any(|phase| !phase.needs.is_empty()) {
            let unknown = report_unknown_tickets(workflow, findings);
            let (needs, elsewhere) =
                (workflow.phases_by_ticket(), budget_targets(&protocol.policy.budget));
            let elsewhere =
                elsewhere.into_iter().filter_map(|id| workflow.phase_position(id)).collect();
            TicketSearch {
                workflow,
                gate_analyses: openings,
                phases_by_ticket: needs,
                budget_targets: elsewhere,
                budget: effort,
            }
            .report_missing_tickets(&unknown, findings);
        }
    }
}

/// Collects every ticket that a phase or transition of a workflow issues.
fn collect_issued_tickets(workflow: &WorkflowDefinition) -> BTreeSet<&str> {
    let phases = workflow.phases.iter().flat_map(|phase| &phase.issues);
    let transitions = workflow.transitions.iter().flat_map(|transition| &transition.issues);
    phases.chain(transitions).map(String::as_str).collect()
}

/// Reports the tickets that nothing issues, and returns them.
fn report_unknown_tickets<'w>(
    workflow: &'w WorkflowDefinition,
    findings: &mut DiagnosticCollector,
) -> BTreeSet<&'w str> {
    let issued = collect_issued_tickets(workflow);
    let mut unknown = BTreeSet::new();
    for phase in &workflow.phases {
        for (index, need) in phase.needs.iter().enumerate() {
            if issued.contains(need.as_str()) {
                continue;
            }
            unknown.insert(need.as_str());
            let message = format!(
                "nothing issues the ticket `{need}`, so phase `{}` is never entered",
                phase.id
            );
            let near = (!findings.is_full("ticket_unknown"))
                .then(|| find_similar_name(need, issued.iter().copied()))
                .flatten();
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    format!(
                        "add `issues: {need}` to the phase or the transition that should issue it"
                    )
                }
            };
            let fault = locate_need(phase, index).diagnose("ticket_unknown", message);
            findings.push(fault.with_hint(Some(hint)));
        }
    }
    unknown
}

fn locate_need(phase: &WorkflowPhase, index: usize) -> crate::FileOrigin {
    let needs = phase.origin.child("needs");
    let listed = needs.tree.value.pointer(&needs.pointer).is_some_and(serde_json::Value::is_array);
    if listed { needs.child(&index.to_string()) } else { needs }
}

/// The search over the paths of one workflow.
struct TicketSearch<'w> {
    workflow: &'w WorkflowDefinition,
    gate_analyses: &'w GateAnalyses<'w>,
    phases_by_ticket: PhasesByTicket<'w>,
    /// Positions of the phases that a spent budget of the protocol sends a run to.
    budget_targets: BTreeSet<usize>,
    budget: &'w AnalysisBudget,
}

/// The tickets that a run holds.
type HeldTickets<'w> = BTreeSet<&'w str>;

/// A run in a phase with certain tickets, and how it got there.
#[derive(Debug)]
struct TicketSearchNode<'w> {
    phase: usize,
    held: HeldTickets<'w>,
    /// Position of the previous node; `None` for the first.
    previous: Option<usize>,
}

impl<'w> TicketSearch<'w> {
    /// Reports each phase and missing ticket once, with the shortest path on which it is missing.
    fn report_missing_tickets(&self, unknown: &BTreeSet<&str>, findings: &mut DiagnosticCollector) {
        let mut reported: BTreeSet<(usize, &str)> = BTreeSet::new();
        let mut seen: BTreeSet<(usize, HeldTickets<'w>)> = BTreeSet::new();
        let mut taken_by: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        let mut nodes: Vec<TicketSearchNode<'w>> = Vec::new();
        let mut open: VecDeque<(usize, HeldTickets<'w>, Option<usize>)> =
            VecDeque::from([(0, HeldTickets::new(), None)]);
        while let Some((index, mut held, from)) = open.pop_front() {
            let Some(phase) = self.workflow.phases.get(index) else { continue };
            let taken = taken_by.entry(index).or_insert_with(|| {
                let taken = self.workflow.tickets_revoked_with(phase, &self.phases_by_ticket);
                self.budget.spend(taken.len());
                taken
            });
            if !self.budget.spend(1 + phase.needs.len() + 2 * held.len()) {
                return;
            }
            held.retain(|ticket| !taken.contains(ticket));
            for (number, need) in phase.needs.iter().enumerate() {
                let missing = !held.contains(need.as_str()) && !unknown.contains(need.as_str());
                if missing && reported.insert((index, need)) {
                    let is_taken = taken.contains(need.as_str());
                    findings.push(if findings.is_full(SKIPPED) {
                        locate_need(phase, number).diagnose(SKIPPED, "")
                    } else {
                        let transition = self.trace_path(&nodes, from, index);
                        self.missing_ticket_diagnostic((phase, number), is_taken, &transition)
                    });
                }
            }
            // After a phase, everything it needs is held: no run gets past it otherwise.
            held.extend(phase.needs.iter().map(String::as_str));
            if !seen.insert((index, held.clone())) {
                continue;
            }
            nodes.push(TicketSearchNode { phase: index, held, previous: from });
            let here = nodes.len() - 1;
            let Some(next) = self.list_successors(&nodes[here]) else { return };
            open.extend(next.into_iter().map(|(to, held)| (to, held, Some(here))));
        }
    }

    /// Lists the phases that a run can enter next, with its tickets; `None` if the budget is spent.
    fn list_successors(
        &self,
        node: &TicketSearchNode<'w>,
    ) -> Option<Vec<(usize, HeldTickets<'w>)>> {
        let phase = &self.workflow.phases[node.phase];
        let mut next: Vec<(usize, HeldTickets<'w>)> = Vec::new();
        if phase.terminal {
            return Some(next);
        }
        let pays = |more: usize| self.budget.spend(1 + node.held.len() + more).then_some(());
        let mut worked = node.held.clone();
        worked.extend(phase.issues.iter().map(String::as_str));
        // Continuing without the work means continuing without the tickets it issues.
        let goes_on = failure_handlers::collect_phase_handlers(phase)
            .iter()
            .any(|one| one.then == FailurePolicy::GoOn);
        let without = goes_on.then(|| node.held.clone());
        for left in [Some(worked), without].into_iter().flatten() {
            for (index, transition) in self.workflow.transitions_from(&phase.id) {
                pays(transition.issues.len())?;
                if self.gate_analyses.never_opens(&self.workflow.id, index) {
                    continue;
                }
                let mut held = left.clone();
                held.extend(transition.issues.iter().map(String::as_str));
                next.extend(self.workflow.phase_position(&transition.to).map(|to| (to, held)));
                // A phase that was entered too often sends the run to another phase.
                let full = self.workflow.find_phase(&transition.to).and_then(loop_limit_target);
                let full = full.and_then(|to| self.workflow.phase_position(to));
                next.extend(full.map(|to| (to, left.clone())));
            }
            if let Some(to) =
                completion_target(phase).and_then(|to| self.workflow.phase_position(to))
            {
                next.push((to, left));
            }
        }
        let sent =
            failure_targets(phase).into_iter().filter_map(|to| self.workflow.phase_position(to));
        for to in sent.chain(self.budget_targets.iter().copied()) {
            pays(0)?;
            next.push((to, node.held.clone()));
        }
        Some(next)
    }

    /// Lists the phases on the path to a phase, ending with it; the middle of a long path is
    /// omitted.
    fn trace_path(
        &self,
        nodes: &[TicketSearchNode<'_>],
        from: Option<usize>,
        to: usize,
    ) -> Vec<&'w str> {
        let id = |index: usize| self.workflow.phases[index].id.as_str();
        let mut transition = vec![id(to)];
        let mut before = from;
        while let Some(node) = before.map(|index| &nodes[index]) {
            transition.push(id(node.phase));
            before = node.previous;
        }
        transition.reverse();
        if transition.len() > MAX_LISTED_NAMES {
            let half = MAX_LISTED_NAMES / 2;
            transition.splice(half..transition.len() - half, ["…"]);
        }
        transition
    }

    fn missing_ticket_diagnostic(
        &self,
        (phase, number): (&WorkflowPhase, usize),
        is_taken: bool,
        transition: &[&str],
    ) -> Diagnostic {
        let (id, need) = (&phase.id, &phase.needs[number]);
        let message = if is_taken {
            format!("phase `{id}` needs the ticket `{need}`, but entering the phase revokes it")
        } else if transition.len() == 1 {
            format!("phase `{id}` needs the ticket `{need}`, but runs start in this phase")
        } else {
            let transition = transition.join("` → `");
            format!(
                "phase `{id}` needs the ticket `{need}`, but the path `{transition}` leads to it without the ticket"
            )
        };
        let phases = self.workflow.phases.iter().filter(|one| one.issues.contains(need));
        let phases = phases.map(|one| format!("phase `{}`", one.id));
        let transitions =
            self.workflow.transitions.iter().filter(|transition| transition.issues.contains(need));
        let transitions = transitions.map(|transition| {
            format!("the transition from `{}` to `{}`", transition.from, transition.to)
        });
        let givers: Vec<String> = phases.chain(transitions).take(MAX_LISTED_NAMES).collect();
        let hint = format!(
            "it is issued by {}; let every path to this phase pass there",
            givers.join(" and by ")
        );
        locate_need(phase, number).diagnose(SKIPPED, message).with_hint(Some(hint))
    }
}

/// The phase that follows when a phase was entered too often.
fn loop_limit_target(phase: &WorkflowPhase) -> Option<&str> {
    phase.budget.limits.get(BuiltinBudget::Loops.as_str())?.then.target_phase()
}
