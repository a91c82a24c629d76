//! The status of a run with its reasons, collected from its state, log and protocol.

use std::collections::BTreeMap;

use countersign_protocol::{BudgetLimit, BuiltinBudget};
use countersign_run::{
    EffectCall, InputKind, PendingAction, RunEvent, RunLogEntry, RunState, Timestamp, ToolCall,
    build_run_value, next_alarm,
};
use countersign_runtime::engine::InputOutcome;

use super::{RunFamily, RunOutputView};

/// The status of a run and its reasons.
pub struct RunStatusReport {
    /// The state of the run and its protocol.
    pub outcome: InputOutcome,
    /// The output of the run; empty until it is completed.
    pub outputs: Vec<RunOutputView>,
    /// The budgets that currently apply.
    pub budgets: Vec<BudgetStatus>,
    /// Input tokens, output tokens, and cost in millionths of the currency.
    pub usage: (u64, u64, u64),
    /// Child runs in the order they were started, and whether they completed; `None` while a child
    /// is running.
    pub children: Vec<(String, Option<bool>)>,
    /// When the run continues without an input; `None` if no timer is set.
    pub wake_at: Option<Timestamp>,
    /// The size of the document as JSON, in bytes.
    pub document_bytes: usize,
    /// Whether the files of the protocol folder differ from the run's protocol; `None` if there is
    /// no folder to compare with.
    pub folder_changed: Option<bool>,
    /// The parent and the children as they are now; empty unless `with_family` sets it.
    pub family: RunFamily,
    /// Why the run is parked, if too many workers died while working on it.
    pub parked: Option<String>,
}

/// A budget and how much of it is spent.
pub struct BudgetStatus {
    /// The name of the budget: `tokens`, or `loops@draft` for the budget of a phase.
    pub name: String,
    /// The amount spent so far.
    pub spent: u64,
    /// The limit, including granted amounts.
    pub limit: u64,
    /// The part of the limit that was granted additionally.
    pub granted: u64,
}

impl RunStatusReport {
    /// Builds the report from state, log and protocol.
    #[must_use]
    pub fn build(
        outcome: InputOutcome,
        log: &[RunLogEntry],
        now: Timestamp,
        folder_digest: Option<&str>,
        outputs: Vec<RunOutputView>,
    ) -> Self {
        let state = &outcome.state;
        let mut usage = (0, 0, 0);
        for event in log.iter().flat_map(|one| one.decode_events(&state.run).unwrap_or_default()) {
            if let RunEvent::InputReceived { input } = event
                && let InputKind::ModelReplied(reply) = &input.payload
            {
                usage.0 += reply.usage.input_tokens;
                usage.1 += reply.usage.output_tokens;
                usage.2 += reply.usage.cost;
            }
        }
        let children = list_child_runs(&state.run, log);
        let folder_changed = folder_digest.map(|digest| digest != state.protocol);
        let document_bytes = state.document.to_string().len();
        let wake_at = next_alarm(&outcome.protocol, state);
        let budgets = compute_budgets(&outcome, now);
        Self {
            outcome,
            outputs,
            budgets,
            usage,
            children,
            wake_at,
            document_bytes,
            folder_changed,
            family: RunFamily::default(),
            parked: None,
        }
    }

    /// Sets the parent and the children.
    #[must_use]
    pub fn with_family(self, family: RunFamily) -> Self {
        Self { family, ..self }
    }

    /// Sets the description of a parked run.
    #[must_use]
    pub fn with_parking(self, parked: Option<String>) -> Self {
        Self { parked, ..self }
    }
}

/// Returns the child runs in the order they were started, and whether they completed.
#[must_use]
pub fn list_child_runs(run: &str, log: &[RunLogEntry]) -> Vec<(String, Option<bool>)> {
    let (mut children, mut indices) = (Vec::new(), BTreeMap::new());
    for event in log.iter().flat_map(|one| one.decode_events(run).unwrap_or_default()) {
        match event {
            RunEvent::ChildRequested { action, run, .. } => {
                indices.insert(action, children.len());
                children.push((run, None));
            }
            RunEvent::ChildEnded { action, completed } => {
                if let Some(index) = indices.get(&action) {
                    children[*index].1 = Some(completed);
                }
            }
            _ => {}
        }
    }
    children
}

/// Describes a pending action in a few words.
#[must_use]
pub fn describe_action(order: &PendingAction) -> String {
    match order {
        PendingAction::Model { .. } => "call a model".to_owned(),
        PendingAction::Effect { effect, .. } => describe_effect(effect),
        PendingAction::Tool { call } => describe_tool_call(call),
        PendingAction::ListMcpTools { server, .. } => {
            format!("list the tools of MCP server {server}")
        }
        PendingAction::Hook { hook, .. } => format!("run hook {hook}"),
        PendingAction::Child { run, workflow, .. } => {
            format!("child run {run} of workflow {workflow}")
        }
        PendingAction::Notify { run, .. } => format!("notify run {run}"),
        PendingAction::Delivery { attempt, delivery, .. } => {
            let again = if *attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
            format!("deliver {} to channel {}{again}", delivery.event.as_str(), delivery.channel)
        }
    }
}

/// Describes an effect in a few words.
#[must_use]
pub fn describe_effect(effect: &EffectCall) -> String {
    match effect {
        EffectCall::Write { path, .. } => format!("write {path}"),
        EffectCall::Copy { from, to, .. } => format!("copy {from} to {to}"),
        EffectCall::Run { program, .. } => format!("run {program}"),
        EffectCall::Http { method, url, .. } => format!("{method} {url}"),
        EffectCall::Retrieve { source, .. } => format!("retrieve from {source}"),
    }
}

/// Describes a tool call in a few words.
#[must_use]
pub fn describe_tool_call(call: &ToolCall) -> String {
    match call {
        ToolCall::Read { path } => format!("read {path}"),
        ToolCall::Write { path, .. } => format!("write {path}"),
        ToolCall::List { path } => format!("list {}", if path.is_empty() { "." } else { path }),
        ToolCall::Search { query, .. } => format!("search {query}"),
        ToolCall::Skill { name } => format!("read the skill {name}"),
        ToolCall::Mcp { server, name, .. } => format!("call {server}.{name}"),
    }
}

/// Returns the limits that currently apply: those of the run and those of its current phase.
fn compute_budgets(outcome: &InputOutcome, now: Timestamp) -> Vec<BudgetStatus> {
    let InputOutcome { state, protocol, .. } = outcome;
    let workflow = protocol.workflows.get(&state.workflow);
    let phase = workflow.and_then(|workflow| workflow.find_phase(&state.phase));
    let mut limits: BTreeMap<String, &BudgetLimit> = BTreeMap::new();
    for (name, limit) in &protocol.policy.budget.limits {
        limits.insert(budget_key(name, state), limit);
    }
    for (name, limit) in phase.into_iter().flat_map(|phase| &phase.budget.limits) {
        limits.insert(format!("{name}@{}", state.phase), limit);
    }
    let spent = |key: &str| match key.split('@').next().unwrap_or(key) {
        "wall_time" if state.end.is_none() => now.millis_since(state.created_at),
        "wall_time" => state.updated_at.millis_since(state.created_at),
        "violations" => {
            state.step.as_ref().map_or(0, |step| u64::from(step.attempt.saturating_sub(1)))
        }
        "provider_failures" => {
            state.step.as_ref().map_or(0, |step| u64::from(step.provider_failures))
        }
        "tool_rounds" => state.step.as_ref().map_or(0, |step| u64::from(step.tool_rounds)),
        _ => state.amount_spent(key),
    };
    let run = build_run_value(state);
    let spending = limits.into_iter().filter_map(|(name, limit)| {
        let granted = state.granted.get(&name).copied().unwrap_or(0);
        let plain = name.split('@').next().unwrap_or(&name);
        // A limit that cannot be computed now is reported when the run needs it.
        let most =
            limit.amount.resolve_amount(plain, &state.document, &run).ok()?.saturating_add(granted);
        Some(BudgetStatus { spent: spent(&name), limit: most, granted, name })
    });
    spending.collect()
}

/// Loops and the counts within a step are tracked per phase, no matter where the limit is set.
fn budget_key(name: &str, state: &RunState) -> String {
    let own = [BuiltinBudget::Loops, BuiltinBudget::ProviderFailures, BuiltinBudget::ToolRounds];
    if own.iter().any(|one| one.as_str() == name) {
        format!("{name}@{}", state.phase)
    } else {
        name.to_owned()
    }
}
