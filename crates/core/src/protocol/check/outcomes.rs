//! Every outcome that a workflow says: where it sends a run, and what it writes on the way.

use crate::protocol::{Budget, Change, Outcome, Phase, Protocol, Work, Workflow};

/// The outcomes of a phase: of its time, its limits and its work.
pub(super) fn of_phase(phase: &Phase) -> Vec<&Outcome> {
    let mut all: Vec<&Outcome> = phase.timeout.iter().map(|(_, then)| then).collect();
    all.extend(of_budget(&phase.budget));
    match &phase.work {
        Work::None => {}
        Work::Agent(work) => all.extend(&work.on_refused),
        Work::Ask(questions) => all.extend(questions.iter().map(|one| &one.otherwise)),
        Work::Effect { on_failed, .. } => all.push(on_failed),
        Work::Invoke(invoke) => all.push(&invoke.on_failed),
    }
    all
}

/// The outcomes of limits.
pub(super) fn of_budget(budget: &Budget) -> impl Iterator<Item = &Outcome> {
    budget.limits.values().map(|limit| &limit.then)
}

/// The changes of all outcomes that a run of a workflow can come to.
pub(super) fn changes<'p>(
    protocol: &'p Protocol,
    workflow: &'p Workflow,
) -> impl Iterator<Item = &'p Change> {
    let own = workflow.phases.iter().flat_map(of_phase);
    own.chain(of_budget(&protocol.policy.budget)).flat_map(|outcome| &*outcome.apply)
}
