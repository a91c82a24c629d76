//! The status of a run with its reasons, as the API sends it.

use std::collections::BTreeSet;

use countersign_protocol::{PhaseWork, WorkflowDefinition};
use countersign_run::{
    BlockReason, ClosedGate, LastReply, RunEndKind, RunState, RunWait, Timestamp,
};
use countersign_runtime::engine::InputOutcome;
use serde::Serialize;
use utoipa::ToSchema;

use super::{DecisionOutcomes, WaitRefusal, WaitView, WaitingChildView};
use crate::show::{RunOutputView, RunStatusReport, describe_action};

/// The status of a run, and its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunStatusView {
    /// The id of the run.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// The title of the run, in one line; empty if it has none.
    #[schema(example = "A shop for handmade lamps")]
    pub title: String,
    /// The id of the workflow.
    pub workflow: String,
    /// The user who started the run. Null if nobody is named.
    pub started_by: Option<String>,
    /// `running`, `waiting`, `halted`, `completed` or `failed`.
    #[schema(example = "waiting")]
    pub status: String,
    /// The id of the current phase.
    pub phase: String,
    /// The display name of the current phase.
    pub phase_name: Option<String>,
    /// When the run entered the phase, in Unix milliseconds.
    #[schema(value_type = i64)]
    pub entered_at: Timestamp,
    /// The version of the run: the number of inputs it has accepted.
    pub version: u64,
    /// The number of events in the log.
    pub events: u64,
    /// When the run was created, in Unix milliseconds.
    #[schema(value_type = i64)]
    pub created_at: Timestamp,
    /// When the run last changed, in Unix milliseconds.
    #[schema(value_type = i64)]
    pub updated_at: Timestamp,
    /// When the run continues without an input, in Unix milliseconds. Null if no timer is set.
    #[schema(value_type = Option<i64>)]
    pub wake_at: Option<Timestamp>,
    /// When the run ended, in Unix milliseconds. Null while it has not.
    #[schema(value_type = Option<i64>)]
    pub ended_at: Option<Timestamp>,
    /// How the run ended. Null while it has not.
    pub end: Option<RunEndView>,
    /// Who halted the run. Null if it is not halted.
    pub halted: Option<HaltView>,
    /// Why the run is parked: three workers died while working on this version. `resume` releases
    /// it. Null if it is not parked.
    pub parked: Option<String>,
    /// What blocks the run: `{"kind": "budget", "budget", "limit"}`, `refused`,
    /// `missing_ticket`, `incident`. Null if nothing does.
    #[schema(value_type = Option<Object>)]
    pub blocked: Option<BlockReason>,
    /// The output of the run. Empty until the run is completed.
    pub output: Vec<RunOutputView>,
    /// The open waits of the run.
    pub waits: Vec<WaitView>,
    /// The closed gates and their reasons: `{"transition", "to", "reason", "attempts", "retry_at"}`; `transition`
    /// is the index of the transition in the workflow.
    #[schema(value_type = Vec<Object>)]
    pub closed_gates: Vec<ClosedGate>,
    /// The actions that are not complete yet.
    pub pending: Vec<PendingActionRow>,
    /// The budgets that currently apply, and how much of each is spent.
    pub budgets: Vec<BudgetView>,
    /// The model that overrides those of the protocol. Null if the protocol decides.
    pub model: Option<String>,
    /// The number of model calls.
    pub model_calls: u64,
    /// The number of tokens sent to models.
    pub input_tokens: u64,
    /// The number of tokens received from models.
    pub output_tokens: u64,
    /// The cost of all model calls, in millionths of the currency.
    pub cost: u64,
    /// The last accepted reply: `{"phase", "attempt", "repairs"}`. Null if there is none.
    #[schema(value_type = Option<Object>)]
    pub last_reply: Option<LastReply>,
    /// The parent run that waits for this one. Null if there is none.
    pub parent: Option<ParentRunView>,
    /// The child runs that this run started.
    pub children: Vec<ChildRunRow>,
    /// The child run, or a child of a child, that waits for a person while this run waits for it.
    /// Null if there is none.
    pub waiting_child: Option<WaitingChildView>,
    /// The run that this one was forked from. Null if it is not a fork.
    pub fork: Option<ForkRunView>,
    /// The run whose conversation this one continues. Null if it begins one.
    pub continues: Option<String>,
    /// Whether a new run can follow up on this one: the run has ended, its workflow takes a text,
    /// and its protocol shows earlier turns to prompts.
    pub follow_up: bool,
    /// The size of the document as JSON, in bytes.
    pub document_bytes: usize,
    /// The protocol that the run is pinned to.
    pub protocol: ProtocolRef,
    /// The tickets that the run holds.
    pub tickets: BTreeSet<String>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunEndView {
    /// The kind of end: `completed`, `failed` or `cancelled`.
    #[schema(value_type = String)]
    pub kind: RunEndKind,
    /// The reason. Null if none was given.
    pub reason: Option<String>,
}

/// Who halted a run, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HaltView {
    /// The user who halted the run.
    pub by: String,
    /// The reason. Null if none was given.
    pub reason: Option<String>,
}

/// An action that is not complete yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PendingActionRow {
    /// The id of the action.
    pub action: String,
    /// The kind of action: `model`, `effect`, `tool`, `hook`, `child`, `notify`.
    pub kind: String,
    /// A short description of the action.
    pub description: String,
    /// The earliest time to perform the action, in Unix milliseconds. Null if it can be performed
    /// now.
    #[schema(value_type = Option<i64>)]
    pub not_before: Option<Timestamp>,
}

/// A budget, and how much of it is spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct BudgetView {
    /// The name of the budget: `tokens`, or `loops@draft` for the budget of a phase.
    pub name: String,
    /// The amount spent so far.
    pub spent: u64,
    /// The limit, including granted amounts.
    pub limit: u64,
    /// The part of the limit that was granted additionally.
    pub granted: u64,
}

/// A child run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChildRunRow {
    /// The id of the child run.
    pub run: String,
    /// The title of the child run; empty if it has none, or is not stored here.
    pub title: String,
    /// The status of the child: `running`, `waiting`, `halted`, `completed` or `failed`; `open` if
    /// it did not start yet, or is not stored here.
    pub status: String,
}

/// The run that another one was forked from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ForkRunView {
    /// The id of the original run.
    pub run: String,
    /// The version of the original run that the fork starts from.
    pub version: u64,
    /// The hash of that version, as it was when the fork was made.
    pub hash: String,
    /// The title of the original run; empty if it has none, or is not stored here.
    pub title: String,
}

/// The parent of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ParentRunView {
    /// The id of the parent run.
    pub run: String,
    /// The action of the parent that waits for this run.
    pub action: String,
    /// How many runs are above this one.
    pub depth: u32,
    /// The title of the parent run; empty if it has none, or is not stored here.
    pub title: String,
    /// The status of the parent run. Null if the parent is not stored here.
    pub status: Option<String>,
}

/// The protocol that a run is pinned to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProtocolRef {
    /// The name in the protocol's index.
    pub name: String,
    /// The version in the protocol's index.
    pub version: String,
    /// The digest of the protocol's files.
    pub digest: String,
    /// Whether the files of the protocol folder have changed since. Null if there is no folder to
    /// compare with.
    pub folder_changed: Option<bool>,
}

impl From<&RunStatusReport> for RunStatusView {
    fn from(report: &RunStatusReport) -> Self {
        let InputOutcome { state, protocol, .. } = &report.outcome;
        let workflow = protocol.workflows.get(&state.workflow);
        let phase = workflow.and_then(|workflow| workflow.find_phase(&state.phase));
        let (input_tokens, output_tokens, cost) = report.usage;
        Self {
            run: state.run.clone(),
            title: state.title.clone(),
            started_by: state.started_by.clone(),
            ended_at: state.ended_at,
            workflow: state.workflow.clone(),
            status: state.status().as_str().to_owned(),
            phase: state.phase.clone(),
            phase_name: phase.and_then(|phase| phase.name.clone()),
            entered_at: state.entered_at,
            version: state.version,
            events: state.seq,
            created_at: state.created_at,
            updated_at: state.updated_at,
            wake_at: report.wake_at,
            end: state.end.clone().map(|(how, reason)| RunEndView { kind: how, reason }),
            halted: state.halted.clone().map(|(by, reason)| HaltView { by, reason }),
            parked: report.parked.clone(),
            blocked: state.blocked.clone(),
            output: report.outputs.clone(),
            waits: list_waits(state, workflow),
            closed_gates: state.closed_gates.clone(),
            pending: list_pending_actions(state),
            budgets: list_budgets(report),
            model: state.model.clone(),
            model_calls: state.model_calls,
            input_tokens,
            output_tokens,
            cost,
            last_reply: state.last_reply.clone(),
            parent: state.parent.as_ref().map(|parent| {
                let head = report.family.parent.as_ref();
                ParentRunView {
                    run: parent.run.clone(),
                    action: parent.action.clone(),
                    depth: parent.depth,
                    title: head.map(|head| head.title.clone()).unwrap_or_default(),
                    status: head.map(|head| head.status.clone()),
                }
            }),
            children: report.list_children(),
            waiting_child: report.family.waiting_child.as_ref().map(WaitingChildView::new),
            fork: state.fork.as_ref().map(|fork| ForkRunView {
                run: fork.run.clone(),
                version: fork.version,
                hash: fork.hash.clone(),
                title: report
                    .family
                    .fork_origin
                    .as_ref()
                    .map(|head| head.title.clone())
                    .unwrap_or_default(),
            }),
            continues: state.continues.as_ref().map(|earlier| earlier.run.clone()),
            follow_up: can_follow_up(report),
            document_bytes: report.document_bytes,
            protocol: ProtocolRef {
                name: protocol.name.clone(),
                version: protocol.version.clone(),
                digest: protocol.digest.clone(),
                folder_changed: report.folder_changed,
            },
            tickets: state.tickets.clone(),
        }
    }
}

impl RunStatusView {
    /// Says of each open wait whether a person may answer it. `state` is the state that the view
    /// was built from, and `find_refusal` says why the person may not.
    #[must_use]
    pub fn with_refusals(
        mut self,
        state: &RunState,
        find_refusal: impl Fn(&RunWait) -> Option<WaitRefusal>,
    ) -> Self {
        for view in &mut self.waits {
            let Some(wait) = state.waits.get(&view.id) else { continue };
            view.refusal = find_refusal(wait);
            view.may_answer = Some(view.refusal.is_none());
        }
        self
    }
}

/// Returns whether a new run of the same workflow can continue the conversation of this one.
fn can_follow_up(report: &RunStatusReport) -> bool {
    let InputOutcome { state, protocol, .. } = &report.outcome;
    let workflow = protocol.workflows.get(&state.workflow);
    let input = workflow.and_then(|workflow| workflow.input.as_ref());
    let takes_text =
        input.is_some_and(|input| input.answer.schema.is_valid(&serde_json::json!("?")));
    let memory = &protocol.memory;
    takes_text && memory.window.is_some() && !memory.off && state.status().is_ended()
}

/// The open waits, each with who asks and what follows from a decision.
fn list_waits(state: &RunState, workflow: Option<&WorkflowDefinition>) -> Vec<WaitView> {
    let views = state.waits.values().map(|wait| WaitView {
        outcomes: workflow.and_then(|workflow| DecisionOutcomes::find(workflow, wait)),
        agent: workflow.and_then(|workflow| find_calling_agent(workflow, wait)),
        requested_by: match &state.started_by {
            Some(by) => vec![by.clone()],
            None => state.starters.iter().cloned().collect(),
        },
        ..WaitView::from(wait)
    });
    views.collect()
}

/// The agent whose call waits for an approval; `None` for other waits.
fn find_calling_agent(workflow: &WorkflowDefinition, wait: &RunWait) -> Option<String> {
    wait.action.as_ref()?;
    match &workflow.find_phase(&wait.phase)?.work {
        PhaseWork::Agent(work) => Some(work.agent.id.clone()),
        _ => None,
    }
}

fn list_pending_actions(state: &RunState) -> Vec<PendingActionRow> {
    let orders = state.pending.iter().map(|(id, order)| PendingActionRow {
        action: id.clone(),
        kind: order.kind().to_owned(),
        description: describe_action(order),
        not_before: order.not_before(),
    });
    orders.collect()
}

fn list_budgets(report: &RunStatusReport) -> Vec<BudgetView> {
    let budgets = report.budgets.iter().map(|one| BudgetView {
        name: one.name.clone(),
        spent: one.spent,
        limit: one.limit,
        granted: one.granted,
    });
    budgets.collect()
}

impl RunStatusReport {
    /// Lists the children in the order they were started, each with its title and status.
    #[must_use]
    pub fn list_children(&self) -> Vec<ChildRunRow> {
        let children = self.children.iter().map(|(run, completed)| {
            let head = self.family.children.get(run);
            let status = match (head, completed) {
                (Some(head), _) => &head.status,
                (None, None) => "open",
                (None, Some(true)) => "completed",
                (None, Some(false)) => "failed",
            };
            ChildRunRow {
                run: run.clone(),
                title: head.map(|head| head.title.clone()).unwrap_or_default(),
                status: status.to_owned(),
            }
        });
        children.collect()
    }
}
