//! Where a run stands and why, as it is sent.

use std::collections::BTreeSet;

use countersign_core::run::{
    BlockReason, ClosedGate, ForkOrigin, LastReply, ParentRun, RunEndKind, Timestamp,
};
use countersign_runtime::engine::InputOutcome;
use serde::Serialize;
use utoipa::ToSchema;

use super::WaitView;
use crate::show::{RunOutputView, RunStatusReport, describe_action};

/// Where a run stands, and why.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunStatusView {
    /// Its id.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// Its workflow.
    pub workflow: String,
    /// `running`, `waiting`, `halted`, `completed` or `failed`.
    #[schema(example = "waiting")]
    pub status: String,
    /// The phase it stands in.
    pub phase: String,
    /// Its name for people.
    pub phase_name: Option<String>,
    /// Since when.
    #[schema(value_type = i64)]
    pub entered_at: Timestamp,
    /// How many inputs it has taken.
    pub version: u64,
    /// How many events it has.
    pub events: u64,
    /// When it began.
    #[schema(value_type = i64)]
    pub created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = i64)]
    pub updated_at: Timestamp,
    /// When it goes on by itself.
    #[schema(value_type = Option<i64>)]
    pub next_alarm: Option<Timestamp>,
    /// How it ended.
    pub end: Option<RunEndView>,
    /// Who stopped it.
    pub halted: Option<HaltView>,
    /// Why nobody works on it: three workers ended while working on this version. `resume` lets it go on.
    pub parked: Option<String>,
    /// What it cannot get past: `{"by": "budget", "budget", "limit"}`, `refused`, `no_ticket`, `trouble`.
    #[schema(value_type = Option<Object>)]
    pub blocked: Option<BlockReason>,
    /// What it made, once it is completed.
    pub output: Vec<RunOutputView>,
    /// What it waits for.
    pub waits: Vec<WaitView>,
    /// Which gates are closed, and why: `{"way", "to", "reason", "attempts", "again_at"}`.
    #[schema(value_type = Vec<Object>)]
    pub closed_gates: Vec<ClosedGate>,
    /// What is out.
    pub pending: Vec<PendingActionRow>,
    /// What was spent of what may be.
    pub budgets: Vec<BudgetView>,
    /// The model that is asked, whatever agents and index say.
    pub model: Option<String>,
    /// How many times models were asked.
    pub model_calls: u64,
    /// Tokens that went to models.
    pub input_tokens: u64,
    /// Tokens that came from them.
    pub output_tokens: u64,
    /// Millionths of the currency.
    pub cost: u64,
    /// How the last accepted reply came to be: `{"phase", "attempt", "repairs"}`.
    #[schema(value_type = Option<Object>)]
    pub last_reply: Option<LastReply>,
    /// The run that waits for it: `{"run", "action"}`.
    #[schema(value_type = Option<Object>)]
    pub parent: Option<ParentRun>,
    /// The runs it started.
    pub children: Vec<ChildRunRow>,
    /// What it was forked from: `{"run", "version", "hash"}`.
    #[schema(value_type = Option<Object>)]
    pub fork: Option<ForkOrigin>,
    /// How long its document is, as JSON.
    pub document_bytes: usize,
    /// What it is pinned to.
    pub protocol: ProtocolRef,
    /// The tickets it holds.
    pub tickets: BTreeSet<String>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunEndView {
    /// `completed`, `failed` or `cancelled`.
    #[schema(value_type = String)]
    pub how: RunEndKind,
    /// Why.
    pub reason: Option<String>,
}

/// Who stopped a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HaltView {
    /// Who.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

/// An order that is out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PendingActionRow {
    /// Its id.
    pub action: String,
    /// What kind: `model`, `effect`, `tool`, `hook`, `child`, `tell`.
    pub kind: String,
    /// In a few words.
    pub what: String,
    /// Not before.
    #[schema(value_type = Option<i64>)]
    pub not_before: Option<Timestamp>,
}

/// A budget, and what of it is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct BudgetView {
    /// `tokens`, or `loops@draft` where it is a phase's.
    pub name: String,
    /// What is gone.
    pub spent: u64,
    /// The limit, with what was granted.
    pub limit: u64,
    /// What of it was granted.
    pub granted: u64,
}

/// A run that a run started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChildRunRow {
    /// Its id.
    pub run: String,
    /// `open`, `completed` or `failed`.
    pub status: String,
}

/// What a run is pinned to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProtocolRef {
    /// The name in its index.
    pub name: String,
    /// The version in its index.
    pub version: String,
    /// The digest of its files.
    pub digest: String,
    /// Whether the folder has other files now; null where there is no folder to compare with.
    pub folder_changed: Option<bool>,
}

impl From<&RunStatusReport> for RunStatusView {
    fn from(standing: &RunStatusReport) -> Self {
        let InputOutcome { state, protocol, .. } = &standing.outcome;
        let workflow = protocol.workflows.get(&state.workflow);
        let phase = workflow.and_then(|workflow| workflow.find_phase(&state.phase));
        let (input_tokens, output_tokens, cost) = standing.usage;
        Self {
            run: state.run.clone(),
            workflow: state.workflow.clone(),
            status: state.status().as_str().to_owned(),
            phase: state.phase.clone(),
            phase_name: phase.and_then(|phase| phase.name.clone()),
            entered_at: state.entered_at,
            version: state.version,
            events: state.seq,
            created_at: state.created_at,
            updated_at: state.updated_at,
            next_alarm: standing.wake_at,
            end: state.end.clone().map(|(how, reason)| RunEndView { how, reason }),
            halted: state.halted.clone().map(|(by, reason)| HaltView { by, reason }),
            parked: standing.parked.clone(),
            blocked: state.blocked.clone(),
            output: standing.outputs.clone(),
            waits: state.waits.values().map(WaitView::from).collect(),
            closed_gates: state.closed.clone(),
            pending: list_pending_actions(state),
            budgets: list_budgets(standing),
            model: state.model.clone(),
            model_calls: state.calls,
            input_tokens,
            output_tokens,
            cost,
            last_reply: state.last_reply.clone(),
            parent: state.parent.clone(),
            children: standing.children.iter().map(ChildRunRow::from).collect(),
            fork: state.fork.clone(),
            document_bytes: standing.document_bytes,
            protocol: ProtocolRef {
                name: protocol.name.clone(),
                version: protocol.version.clone(),
                digest: protocol.digest.clone(),
                folder_changed: standing.folder_changed,
            },
            tickets: state.tickets.clone(),
        }
    }
}

fn list_pending_actions(state: &countersign_core::run::RunState) -> Vec<PendingActionRow> {
    let orders = state.pending.iter().map(|(id, order)| PendingActionRow {
        action: id.clone(),
        kind: order.kind().to_owned(),
        what: describe_action(order),
        not_before: order.not_before(),
    });
    orders.collect()
}

fn list_budgets(standing: &RunStatusReport) -> Vec<BudgetView> {
    let budgets = standing.budgets.iter().map(|one| BudgetView {
        name: one.name.clone(),
        spent: one.spent,
        limit: one.limit,
        granted: one.granted,
    });
    budgets.collect()
}

impl From<&(String, Option<bool>)> for ChildRunRow {
    fn from((run, completed): &(String, Option<bool>)) -> Self {
        let status = match completed {
            None => "open",
            Some(true) => "completed",
            Some(false) => "failed",
        };
        Self { run: run.clone(), status: status.to_owned() }
    }
}
