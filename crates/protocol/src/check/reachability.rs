//! Finds phases that a run never reaches, and phases that it never leaves.

use std::collections::BTreeSet;

use countersign_contract::source::Diagnostic;

use super::endless_loops;
use super::failure_handlers;
use super::gate_analysis::GateAnalyses;
use super::standalone_workflows;
use super::wording::format_names;
use crate::{
    BudgetLimits, FailureHandler, GateCheck, PhaseWork, Protocol, WorkflowDefinition, WorkflowPhase,
};

pub(super) fn check(protocol: &Protocol, openings: &GateAnalyses<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut unreached: Vec<(&WorkflowDefinition, &WorkflowPhase)> = Vec::new();
    // A phase that several workflows include counts as reached if one of them reaches it.
    let mut reached_at: BTreeSet<(&str, &str)> = BTreeSet::new();
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        let transitions = PhaseGraph::from_workflow(protocol, workflow, |index| {
            !openings.never_opens(&workflow.id, index)
        });
        let reached = transitions.reachable_from(&[0], |_| true);
        for (index, phase) in workflow.phases.iter().enumerate() {
            if reached.contains(&index) {
                reached_at.insert(definition_key(phase));
            } else {
                unreached.push((workflow, phase));
            }
        }
        report_traps(protocol, workflow, openings, &transitions, &reached, &mut findings);
        report_terminal_exits(workflow, &mut findings);
    }
    unreached.retain(|(_, phase)| !reached_at.contains(&definition_key(phase)));
    let mut led_to: BTreeSet<(&str, &str)> = BTreeSet::new();
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        let transitions =
            workflow.transitions.iter().filter(|transition| transition.to != transition.from);
        led_to.extend(transitions.map(|transition| (workflow.id.as_str(), transition.to.as_str())));
    }
    findings.extend(unreached.into_iter().map(|(workflow, phase)| {
        unreachable_diagnostic(
            workflow,
            phase,
            led_to.contains(&(workflow.id.as_str(), phase.id.as_str())),
        )
    }));
    findings
}

fn definition_key(phase: &WorkflowPhase) -> (&str, &str) {
    (&phase.origin.tree.source.name, &phase.origin.pointer)
}

fn unreachable_diagnostic(
    workflow: &WorkflowDefinition,
    phase: &WorkflowPhase,
    into: bool,
) -> Diagnostic {
    let id = &phase.id;
    let first = workflow.phases.first().map_or("", |first| &first.id);
    let (message, hint) = if into {
        (
            format!(
                "no run reaches phase `{id}`: no transition that can open leads here from `{first}`"
            ),
            "find out why the transitions that lead here are never taken",
        )
    } else {
        (
            format!("no run reaches phase `{id}`: no transition leads here"),
            "add a transition to it, or delete it; a run starts in the first phase of the list",
        )
    };
    let fault = phase.origin.child("id").diagnose("unreachable_phase", message);
    fault.into_warning().with_hint(Some(hint.to_owned()))
}

/// The moves between the phases of a workflow, as positions. One extra position after the phases
/// stands for a spent budget of the protocol, which sends a run to the same phases from everywhere.
#[derive(Debug)]
pub(super) struct PhaseGraph {
    successors: Vec<BTreeSet<usize>>,
    ends: Vec<bool>,
}

impl PhaseGraph {
    /// Collects every move that a run may make: transitions that are open, by their positions, and
    /// moves caused by a deadline, a refusal, a failure, a child or a spent budget.
    pub(super) fn from_workflow(
        protocol: &Protocol,
        workflow: &WorkflowDefinition,
        opens: impl Fn(usize) -> bool,
    ) -> Self {
        let position = |id: &str| workflow.phase_position(id);
        let mut ends: Vec<bool> =
            workflow.phases.iter().map(|phase| workflow.ends_in(phase)).collect();
        let elsewhere: BTreeSet<usize> =
            budget_targets(&protocol.policy.budget).into_iter().filter_map(position).collect();
        let passage = workflow.phases.len();
        let mut successors: Vec<BTreeSet<usize>> = workflow
            .phases
            .iter()
            .map(|phase| {
                if phase.terminal {
                    return BTreeSet::new();
                }
                let targets = failure_targets(phase).into_iter().chain(completion_target(phase));
                let targets = targets.filter_map(position);
                targets.chain((!elsewhere.is_empty()).then_some(passage)).collect()
            })
            .collect();
        successors.push(elsewhere);
        ends.push(false);
        for (index, transition) in workflow.transitions.iter().enumerate() {
            if !opens(index) {
                continue;
            }
            if let (Some(from), Some(to)) = (position(&transition.from), position(&transition.to))
                && !workflow.phases[from].terminal
            {
                successors[from].insert(to);
            }
        }
        Self { successors, ends }
    }

    /// The extra position that is not a phase.
    fn budget_node(&self) -> usize {
        self.successors.len() - 1
    }

    /// Finds every phase that can be reached, including the first ones. The search continues only
    /// from phases for which `passes` returns true.
    pub(super) fn reachable_from(
        &self,
        first: &[usize],
        passes: impl Fn(usize) -> bool,
    ) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<usize> =
            first.iter().copied().filter(|index| *index < self.budget_node()).collect();
        while let Some(index) = open.pop() {
            if reached.insert(index) && (index == self.budget_node() || passes(index)) {
                open.extend(&self.successors[index]);
            }
        }
        reached.remove(&self.budget_node());
        reached
    }

    /// Whether a run that reaches this phase ends there.
    pub(super) fn is_end(&self, index: usize) -> bool {
        self.ends[index]
    }

    /// Finds every phase from which an end can be reached.
    fn phases_reaching_end(&self) -> BTreeSet<usize> {
        let before = self.predecessors();
        let mut ending = BTreeSet::new();
        let mut open: Vec<usize> = (0..self.ends.len()).filter(|index| self.ends[*index]).collect();
        while let Some(index) = open.pop() {
            if ending.insert(index) {
                open.extend(&before[index]);
            }
        }
        ending
    }

    /// Finds the smallest sets of these phases that lead only to themselves.
    fn find_closed_cycles(&self, among: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
        let mut finished = Vec::new();
        let mut seen = BTreeSet::new();
        for start in among {
            let mut path = vec![(*start, false)];
            while let Some((index, left)) = path.pop() {
                if left {
                    finished.push(index);
                } else if seen.insert(index) {
                    path.push((index, true));
                    path.extend(self.successors[index].iter().map(|next| (*next, false)));
                }
            }
        }
        // Follows the moves backwards, from the last finished phase on: each walk stays in one
        // component.
        let before = self.predecessors();
        let mut ring_of: Vec<Option<usize>> = vec![None; self.successors.len()];
        let mut rings: Vec<BTreeSet<usize>> = Vec::new();
        for start in finished.into_iter().rev() {
            let mut ring = BTreeSet::new();
            let mut open = vec![start];
            while let Some(index) = open.pop() {
                if ring_of[index].is_none() && seen.contains(&index) {
                    ring_of[index] = Some(rings.len());
                    ring.insert(index);
                    open.extend(&before[index]);
                }
            }
            rings.push(ring);
        }
        let closed = |ring: &BTreeSet<usize>| {
            ring.iter().all(|index| self.successors[*index].iter().all(|next| ring.contains(next)))
        };
        rings.retain(|ring| !ring.is_empty() && closed(ring));
        for ring in &mut rings {
            ring.remove(&self.budget_node());
        }
        rings.retain(|ring| !ring.is_empty());
        rings.sort();
        rings
    }

    fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.successors.len()];
        for (index, targets) in self.successors.iter().enumerate() {
            for target in targets {
                before[*target].push(index);
            }
        }
        before
    }
}

/// Whether a run gets to a phase only by a transition that somebody approved.
#[must_use]
pub fn is_behind_approval(protocol: &Protocol, workflow: &WorkflowDefinition, phase: &str) -> bool {
    let Some(position) = workflow.phase_position(phase) else { return false };
    let needs_approval = |index: usize| {
        let gate = workflow.transitions[index].gate.as_ref();
        gate.is_some_and(|gate| matches!(gate.check, GateCheck::Manual { .. }))
    };
    let reaches = |opens: &dyn Fn(usize) -> bool| {
        let graph = PhaseGraph::from_workflow(protocol, workflow, opens);
        graph.reachable_from(&[0], |_| true).contains(&position)
    };
    !reaches(&|index| !needs_approval(index)) && reaches(&|_| true)
}

/// The phase that follows a completed child, if the author sets one.
pub(super) fn completion_target(phase: &WorkflowPhase) -> Option<&str> {
    match &phase.work {
        PhaseWork::Invoke(invoke) => invoke.on_complete.as_deref(),
        _ => None,
    }
}

/// The phases that a failure or a spent budget of this phase sends a run to.
pub(super) fn failure_targets(phase: &WorkflowPhase) -> Vec<&str> {
    failure_handlers::collect_phase_handlers(phase)
        .into_iter()
        .filter_map(FailureHandler::target_phase)
        .collect()
}

/// The phases that a spent budget sends a run to.
pub(super) fn budget_targets(budget: &BudgetLimits) -> Vec<&str> {
    failure_handlers::collect_budget_handlers(budget)
        .filter_map(FailureHandler::target_phase)
        .collect()
}

/// Reports each smallest set of phases that a run can enter and never leave.
fn report_traps(
    protocol: &Protocol,
    workflow: &WorkflowDefinition,
    openings: &GateAnalyses<'_>,
    transitions: &PhaseGraph,
    reached: &BTreeSet<usize>,
    findings: &mut Vec<Diagnostic>,
) {
    let ending = transitions.phases_reaching_end();
    let trapped: BTreeSet<usize> =
        reached.iter().copied().filter(|index| !ending.contains(index)).collect();
    let traps = transitions.find_closed_cycles(&trapped);
    let mut trap_of: Vec<Option<usize>> = vec![None; workflow.phases.len()];
    for (number, trap) in traps.iter().enumerate() {
        for index in trap {
            trap_of[*index] = Some(number);
        }
    }
    // A loop that cannot stop is reported by its own analysis.
    let mut is_told = vec![false; traps.len()];
    for ring in endless_loops::find_endless_loops(protocol, workflow, openings) {
        if let Some(number) = trap_of[ring[0]]
            && ring.iter().all(|index| trap_of[*index] == Some(number))
        {
            is_told[number] = true;
        }
    }
    for (trap, is_told) in traps.iter().zip(is_told) {
        if !is_told {
            findings.push(trap_diagnostic(workflow, trap));
        }
    }
}

fn trap_diagnostic(workflow: &WorkflowDefinition, trap: &BTreeSet<usize>) -> Diagnostic {
    let first = trap.first().copied().unwrap_or_default();
    let phase = &workflow.phases[first];
    let id = |index: &usize| workflow.phases[*index].id.as_str();
    let message = if trap.len() > 1 {
        let all = format_names(trap.iter().map(id));
        format!("a run that reaches {all} never ends: their transitions lead only to each other")
    } else if workflow
        .transitions_from(&phase.id)
        .iter()
        .any(|(_, transition)| transition.to != phase.id)
    {
        format!("a run that reaches `{}` never ends: no transition from it can open", phase.id)
    } else {
        format!(
            "a run that reaches `{}` never ends: its only transition leads back to it",
            phase.id
        )
    };
    let hint =
        "add a transition to a phase that ends the run, or mark the last phase `terminal: true`";
    phase.origin.child("id").diagnose("no_path_to_end", message).with_hint(Some(hint.to_owned()))
}

/// Reports transitions out of a terminal phase.
fn report_terminal_exits(workflow: &WorkflowDefinition, findings: &mut Vec<Diagnostic>) {
    for transition in &workflow.transitions {
        if !workflow.find_phase(&transition.from).is_some_and(|phase| phase.terminal) {
            continue;
        }
        let message = format!(
            "the transition from `{}` to `{}` is never taken: `{}` is terminal, so the run ends there",
            transition.from, transition.to, transition.from
        );
        let hint =
            format!("remove `terminal` from `{}`, or delete the transition", transition.from);
        let fault = transition.origin.child("from").diagnose("transition_from_end", message);
        findings.push(fault.into_warning().with_hint(Some(hint)));
    }
}
