//! Where a run stands and why: everything that is told of its status.

use std::collections::BTreeMap;

use countersign_core::protocol::{BudgetLimit, BuiltinBudget};
use countersign_core::run::{
    EffectCall, InputKind, PendingAction, RunEvent, RunLogEntry, RunState, Timestamp, ToolCall,
    build_run_value, next_alarm,
};
use countersign_runtime::engine::InputOutcome;

use super::RunOutputView;

/// Where a run stands.
pub struct RunStatusReport {
    /// The run and its protocol.
    pub outcome: InputOutcome,
    /// What it made, where it is completed.
    pub outputs: Vec<RunOutputView>,
    /// What was spent of what may be.
    pub budgets: Vec<BudgetStatus>,
    /// Tokens in, tokens out, millionths of the currency.
    pub usage: (u64, u64, u64),
    /// Child runs in the order they were asked for, and whether they reached their end.
    pub children: Vec<(String, Option<bool>)>,
    /// When it goes on by itself.
    pub wake_at: Option<Timestamp>,
    /// How long its document is, as JSON.
    pub document_bytes: usize,
    /// Whether the folder has other files now; `Empty` where there is no folder to compare with.
    pub folder_changed: Option<bool>,
    /// Why nobody works on it, where too many workers ended on it.
    pub parked: Option<String>,
}

/// A budget, and what of it is gone.
pub struct BudgetStatus {
    /// `tokens`, or `loops@draft` where it is a phase's.
    pub name: String,
    /// What is gone.
    pub spent: u64,
    /// The limit with what was granted.
    pub limit: u64,
    /// What of the limit was granted.
    pub granted: u64,
}

impl RunStatusReport {
    /// Puts together what state, log and protocol say.
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
            if let RunEvent::Received { input } = event
                && let InputKind::ModelReplied(reply) = &input.what
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
            parked: None,
        }
    }

    /// The same, with the sentence of a parked run.
    #[must_use]
    pub fn with_parking(self, parked: Option<String>) -> Self {
        Self { parked, ..self }
    }
}

/// Child runs in the order they were asked for, and whether they reached their end.
#[must_use]
pub fn list_child_runs(run: &str, log: &[RunLogEntry]) -> Vec<(String, Option<bool>)> {
    let (mut children, mut asked) = (Vec::new(), BTreeMap::new());
    for event in log.iter().flat_map(|one| one.decode_events(run).unwrap_or_default()) {
        match event {
            RunEvent::ChildAsked { action, run, .. } => {
                asked.insert(action, children.len());
                children.push((run, None));
            }
            RunEvent::ChildEnded { action, completed } => {
                if let Some(index) = asked.get(&action) {
                    children[*index].1 = Some(completed);
                }
            }
            _ => {}
        }
    }
    children
}

/// What an order is, in a few words.
#[must_use]
pub fn describe_action(order: &PendingAction) -> String {
    match order {
        PendingAction::Model { .. } => "ask a model".to_owned(),
        PendingAction::Effect { effect, .. } => describe_effect(effect),
        PendingAction::Tool { call } => describe_tool_call(call),
        PendingAction::Hook { hook, .. } => format!("run hook {hook}"),
        PendingAction::Child { run, workflow, .. } => format!("run {run} of workflow {workflow}"),
        PendingAction::Tell { run, .. } => format!("tell run {run}"),
    }
}

/// What an effect does, in a few words.
#[must_use]
pub fn describe_effect(effect: &EffectCall) -> String {
    match effect {
        EffectCall::Write { path, .. } => format!("write {path}"),
        EffectCall::Copy { from, to, .. } => format!("copy {from} to {to}"),
        EffectCall::Run { program, .. } => format!("run {program}"),
        EffectCall::Http { method, url, .. } => format!("{method} {url}"),
        EffectCall::Retrieve { source, .. } => format!("look up in {source}"),
    }
}

/// What a tool does, in a few words.
#[must_use]
pub fn describe_tool_call(call: &ToolCall) -> String {
    match call {
        ToolCall::Read { path } => format!("read {path}"),
        ToolCall::Write { path, .. } => format!("write {path}"),
        ToolCall::List { path } => format!("list {}", if path.is_empty() { "." } else { path }),
        ToolCall::Search { query, .. } => format!("search {query}"),
    }
}

/// The limits that hold now, the run's and those of the phase it stands in.
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
        // One that cannot be told now is told when it is asked for.
        let most =
            limit.amount.resolve_amount(plain, &state.document, &run).ok()?.saturating_add(granted);
        Some(BudgetStatus { spent: spent(&name), limit: most, granted, name })
    });
    spending.collect()
}

/// Loops and what is counted inside a step are each phase's own, whoever sets the limit.
fn budget_key(name: &str, state: &RunState) -> String {
    let own = [BuiltinBudget::Loops, BuiltinBudget::ProviderFailures, BuiltinBudget::ToolRounds];
    if own.iter().any(|one| one.as_str() == name) {
        format!("{name}@{}", state.phase)
    } else {
        name.to_owned()
    }
}
