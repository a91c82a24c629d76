//! Collects the failure handlers of a workflow: where they send a run, and what they write.

use crate::{
    BudgetLimits, DocumentChange, FailureHandler, PhaseWork, Protocol, WorkflowDefinition,
    WorkflowPhase,
};

/// Collects the failure handlers of a phase: of its time-out, its limits and its work.
pub(super) fn collect_phase_handlers(phase: &WorkflowPhase) -> Vec<&FailureHandler> {
    let mut all: Vec<&FailureHandler> = phase.timeout.iter().map(|(_, then)| then).collect();
    all.extend(collect_budget_handlers(&phase.budget));
    match &phase.work {
        PhaseWork::None => {}
        PhaseWork::Agent(work) => all.extend(&work.on_refused),
        PhaseWork::Ask(questions) => all.extend(questions.iter().map(|one| &one.on_timeout)),
        PhaseWork::Effect { on_failed, .. } => all.push(on_failed),
        PhaseWork::Invoke(invoke) => all.push(&invoke.on_failed),
    }
    all
}

/// Collects the failure handlers of budget limits.
pub(super) fn collect_budget_handlers(
    budget: &BudgetLimits,
) -> impl Iterator<Item = &FailureHandler> {
    budget.limits.values().map(|limit| &limit.then)
}

/// Collects the changes of every failure handler that a run of a workflow can trigger.
pub(super) fn collect_handler_changes<'p>(
    protocol: &'p Protocol,
    workflow: &'p WorkflowDefinition,
) -> impl Iterator<Item = &'p DocumentChange> {
    let own = workflow.phases.iter().flat_map(collect_phase_handlers);
    own.chain(collect_budget_handlers(&protocol.policy.budget)).flat_map(|outcome| &*outcome.apply)
}
