//! What follows from a decision, as the API sends it: a person reads it before deciding.

use countersign_protocol::{DecisionTrigger, FailurePolicy, PhaseWork, WorkflowDefinition};
use countersign_run::{RunWait, WaitKind};
use serde::Serialize;
use utoipa::ToSchema;

use crate::show::graph::describe_work;

/// What follows from each decision on a wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DecisionOutcomes {
    /// What follows when enough people approve.
    pub approve: DecisionResult,
    /// What follows from a denial. Absent if the server does not know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny: Option<DecisionResult>,
    /// What follows if nobody decides before the deadline. Absent without a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire: Option<DecisionResult>,
}

/// What follows from one decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DecisionResult {
    /// The kind of result: `phase` (the run enters a phase), `action` (the held action is
    /// performed), `told` (the agent reads that its call was denied, and goes on), `skip` (the
    /// action is not performed, and the phase goes on), `wait` (the action is not performed, and
    /// the run waits for a person), `retry` (the run continues where it stopped), `stay` (the run
    /// stays in its phase until somebody changes the document or resumes it), or `end` (the run
    /// fails).
    #[schema(example = "phase")]
    pub kind: String,
    /// The phase that the run enters. Absent for other kinds of result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The display name of the phase. Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_name: Option<String>,
    /// The work of the phase, in a few words. Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<String>,
    /// Whether the run ends there.
    pub ends: bool,
    /// Whether another gate decides first: the phase is the first of several that the run may
    /// enter.
    pub conditional: bool,
}

impl DecisionResult {
    fn new(kind: &str) -> Self {
        let (phase, phase_name, work) = (None, None, None);
        Self { kind: kind.to_owned(), phase, phase_name, work, ends: false, conditional: false }
    }

    fn enter_phase(workflow: &WorkflowDefinition, id: &str, conditional: bool) -> Self {
        let phase = workflow.find_phase(id);
        Self {
            phase: Some(id.to_owned()),
            phase_name: phase.and_then(|phase| phase.name.clone()),
            work: phase.and_then(|phase| describe_work(&phase.work)),
            ends: phase.is_some_and(|phase| workflow.ends_in(phase)),
            conditional,
            ..Self::new("phase")
        }
    }

    /// What follows when a held call is not made; `None` if its phase makes no calls.
    fn without_call(workflow: &WorkflowDefinition, wait: &RunWait) -> Option<Self> {
        match &workflow.find_phase(&wait.phase)?.work {
            PhaseWork::Agent(_) => Some(Self::new("told")),
            PhaseWork::Effect { on_failed, for_each, .. } => Some(match &on_failed.then {
                FailurePolicy::GoTo(phase) => Self::enter_phase(workflow, phase, false),
                FailurePolicy::Fail => Self::new("end"),
                FailurePolicy::Wait if for_each.is_none() => Self::new("wait"),
                FailurePolicy::GoOn | FailurePolicy::Wait => Self::new("skip"),
            }),
            PhaseWork::None | PhaseWork::Ask(_) | PhaseWork::Invoke(_) => None,
        }
    }

    /// What follows when an approval of this phase ends without a yes: the transitions that are
    /// declared for it, or nothing.
    fn after_decision(
        workflow: &WorkflowDefinition,
        phase: &str,
        trigger: DecisionTrigger,
    ) -> Self {
        let transitions = workflow.transitions_from(phase);
        let declared = transitions.iter().map(|(_, transition)| transition);
        let mut declared = declared.filter(|transition| transition.after == Some(trigger));
        let Some(first) = declared.next() else { return Self::new("stay") };
        Self::enter_phase(workflow, &first.to, first.gate.is_some() || declared.next().is_some())
    }
}

impl DecisionOutcomes {
    /// Finds what follows from a decision on a wait; `None` if the wait takes no decision.
    #[must_use]
    pub fn find(workflow: &WorkflowDefinition, wait: &RunWait) -> Option<Self> {
        match wait.kind {
            WaitKind::Approval if wait.action.is_some() => {
                let denied = DecisionResult::without_call(workflow, wait);
                Some(Self {
                    approve: DecisionResult::new("action"),
                    expire: wait.deadline.and_then(|_| denied.clone()),
                    deny: denied,
                })
            }
            WaitKind::Approval => {
                let transition = workflow.transitions.get(wait.transition?)?;
                let after =
                    |trigger| DecisionResult::after_decision(workflow, &transition.from, trigger);
                Some(Self {
                    approve: DecisionResult::enter_phase(workflow, &transition.to, false),
                    deny: Some(after(DecisionTrigger::Denied)),
                    expire: wait.deadline.map(|_| after(DecisionTrigger::Expired)),
                })
            }
            WaitKind::Budget | WaitKind::Incident => Some(Self {
                approve: DecisionResult::new("retry"),
                deny: Some(DecisionResult::new("end")),
                expire: None,
            }),
            WaitKind::Question | WaitKind::Document | WaitKind::Work => None,
        }
    }
}
