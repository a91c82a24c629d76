//! Where a run stands and why: everything that is told of its status.

use std::collections::BTreeMap;

use countersign_core::protocol::{BudgetName, Limit};
use countersign_core::run::{
    Effect, Entry, Event, Incoming, Pending, State, Time, ToolCall, next_alarm, view,
};
use countersign_runtime::engine::Outcome;

use super::Product;

/// Where a run stands.
pub struct Standing {
    /// The run and its protocol.
    pub outcome: Outcome,
    /// What it made, where it is completed.
    pub products: Vec<Product>,
    /// What was spent of what may be.
    pub budgets: Vec<Spending>,
    /// Tokens in, tokens out, millionths of the currency.
    pub usage: (u64, u64, u64),
    /// Child runs in the order they were asked for, and whether they reached their end.
    pub children: Vec<(String, Option<bool>)>,
    /// When it goes on by itself.
    pub next_alarm: Option<Time>,
    /// How long its document is, as JSON.
    pub document_bytes: usize,
    /// Whether the folder has other files now; `None` where there is no folder to compare with.
    pub folder_changed: Option<bool>,
    /// Why nobody works on it, where too many workers ended on it.
    pub parked: Option<String>,
}

/// A budget, and what of it is gone.
pub struct Spending {
    /// `tokens`, or `loops@draft` where it is a phase's.
    pub name: String,
    /// What is gone.
    pub spent: u64,
    /// The limit with what was granted.
    pub most: u64,
    /// What of the limit was granted.
    pub granted: u64,
}

impl Standing {
    /// Puts together what state, log and protocol say.
    #[must_use]
    pub fn of(
        outcome: Outcome,
        log: &[Entry],
        now: Time,
        folder_digest: Option<&str>,
        products: Vec<Product>,
    ) -> Self {
        let state = &outcome.state;
        let mut usage = (0, 0, 0);
        for event in log.iter().flat_map(|one| one.open(&state.run).unwrap_or_default()) {
            if let Event::Received { input } = event
                && let Incoming::ModelReplied(reply) = &input.what
            {
                usage.0 += reply.usage.input_tokens;
                usage.1 += reply.usage.output_tokens;
                usage.2 += reply.usage.cost;
            }
        }
        let children = children(&state.run, log);
        let folder_changed = folder_digest.map(|digest| digest != state.protocol);
        let document_bytes = state.document.to_string().len();
        let next_alarm = next_alarm(&outcome.protocol, state);
        let budgets = budgets(&outcome, now);
        Self {
            outcome,
            products,
            budgets,
            usage,
            children,
            next_alarm,
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
pub fn children(run: &str, log: &[Entry]) -> Vec<(String, Option<bool>)> {
    let (mut children, mut asked) = (Vec::new(), BTreeMap::new());
    for event in log.iter().flat_map(|one| one.open(run).unwrap_or_default()) {
        match event {
            Event::ChildAsked { action, run, .. } => {
                asked.insert(action, children.len());
                children.push((run, None));
            }
            Event::ChildEnded { action, completed } => {
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
pub fn order_told(order: &Pending) -> String {
    match order {
        Pending::Model { .. } => "ask a model".to_owned(),
        Pending::Effect { effect, .. } => effect_told(effect),
        Pending::Tool { call } => tool_told(call),
        Pending::Hook { hook, .. } => format!("run hook {hook}"),
        Pending::Child { run, workflow, .. } => format!("run {run} of workflow {workflow}"),
        Pending::Tell { run, .. } => format!("tell run {run}"),
    }
}

/// What an effect does, in a few words.
#[must_use]
pub fn effect_told(effect: &Effect) -> String {
    match effect {
        Effect::Write { path, .. } => format!("write {path}"),
        Effect::Copy { from, to, .. } => format!("copy {from} to {to}"),
        Effect::Run { program, .. } => format!("run {program}"),
        Effect::Http { method, url, .. } => format!("{method} {url}"),
        Effect::Retrieve { source, .. } => format!("look up in {source}"),
    }
}

/// What a tool does, in a few words.
#[must_use]
pub fn tool_told(call: &ToolCall) -> String {
    match call {
        ToolCall::Read { path } => format!("read {path}"),
        ToolCall::Write { path, .. } => format!("write {path}"),
        ToolCall::List { path } => format!("list {}", if path.is_empty() { "." } else { path }),
        ToolCall::Search { query, .. } => format!("search {query}"),
    }
}

/// The limits that hold now, the run's and those of the phase it stands in.
fn budgets(outcome: &Outcome, now: Time) -> Vec<Spending> {
    let Outcome { state, protocol, .. } = outcome;
    let workflow = protocol.workflows.get(&state.workflow);
    let phase = workflow.and_then(|workflow| workflow.phase(&state.phase));
    let mut limits: BTreeMap<String, &Limit> = BTreeMap::new();
    for (name, limit) in &protocol.policy.budget.limits {
        limits.insert(per_phase(name, state), limit);
    }
    for (name, limit) in phase.into_iter().flat_map(|phase| &phase.budget.limits) {
        limits.insert(format!("{name}@{}", state.phase), limit);
    }
    let spent = |key: &str| match key.split('@').next().unwrap_or(key) {
        "wall_time" if state.end.is_none() => now.since(state.created_at),
        "wall_time" => state.updated_at.since(state.created_at),
        "violations" => {
            state.step.as_ref().map_or(0, |step| u64::from(step.attempt.saturating_sub(1)))
        }
        "provider_failures" => {
            state.step.as_ref().map_or(0, |step| u64::from(step.provider_failures))
        }
        "tool_rounds" => state.step.as_ref().map_or(0, |step| u64::from(step.tool_rounds)),
        _ => state.spent_of(key),
    };
    let run = view(state);
    let spending = limits.into_iter().filter_map(|(name, limit)| {
        let granted = state.granted.get(&name).copied().unwrap_or(0);
        let plain = name.split('@').next().unwrap_or(&name);
        // One that cannot be told now is told when it is asked for.
        let most = limit.most.of(plain, &state.document, &run).ok()?.saturating_add(granted);
        Some(Spending { spent: spent(&name), most, granted, name })
    });
    spending.collect()
}

/// Loops and what is counted inside a step are each phase's own, whoever sets the limit.
fn per_phase(name: &str, state: &State) -> String {
    let own = [BudgetName::Loops, BudgetName::ProviderFailures, BudgetName::ToolRounds];
    if own.iter().any(|one| one.as_str() == name) {
        format!("{name}@{}", state.phase)
    } else {
        name.to_owned()
    }
}
