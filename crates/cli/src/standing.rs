//! Where a run stands and why: everything `status` tells, for people and for programs.

use std::collections::BTreeMap;

use countersign_core::protocol::{BudgetName, Limit};
use countersign_core::run::{
    Effect, Entry, Event, Incoming, Pending, State, Time, ToolCall, next_alarm, view,
};
use countersign_runtime::engine::Outcome;
use serde_json::{Value, json};

use crate::product::{self, Product};

/// Where a run stands.
pub(crate) struct Standing {
    pub(crate) outcome: Outcome,
    /// What it made, where it is completed.
    pub(crate) products: Vec<Product>,
    /// What was spent of what may be.
    pub(crate) budgets: Vec<Spending>,
    /// Tokens in, tokens out, millionths of the currency.
    pub(crate) usage: (u64, u64, u64),
    /// Child runs in the order they were asked for, and whether they reached their end.
    pub(crate) children: Vec<(String, Option<bool>)>,
    pub(crate) next_alarm: Option<Time>,
    pub(crate) document_bytes: usize,
    /// Whether the folder has other files now; `None` where there is no folder to compare with.
    pub(crate) folder_changed: Option<bool>,
}

/// A budget, and what of it is gone.
pub(crate) struct Spending {
    /// `tokens`, or `loops@draft` where it is a phase's.
    pub(crate) name: String,
    pub(crate) spent: u64,
    /// The limit with what was granted.
    pub(crate) most: u64,
    pub(crate) granted: u64,
}

impl Standing {
    /// Puts together what state, log and protocol say.
    pub(crate) fn of(
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
        }
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> Value {
        let Outcome { state, protocol, .. } = &self.outcome;
        let pending = state.pending.iter().map(|(id, order)| {
            json!({
                "action": id,
                "kind": order.kind(),
                "what": order_told(order),
                "not_before": order.not_before(),
            })
        });
        let budgets = self.budgets.iter().map(|one| {
            json!({
                "name": one.name, "spent": one.spent, "limit": one.most, "granted": one.granted,
            })
        });
        let children = self.children.iter().map(|(run, completed)| {
            let status = match completed {
                None => "open",
                Some(true) => "completed",
                Some(false) => "failed",
            };
            json!({ "run": run, "status": status })
        });
        let workflow = protocol.workflows.get(&state.workflow);
        let phase = workflow.and_then(|workflow| workflow.phase(&state.phase));
        json!({
            "run": state.run,
            "workflow": state.workflow,
            "status": state.status().as_str(),
            "phase": state.phase,
            "phase_name": phase.and_then(|phase| phase.name.as_ref()),
            "entered_at": state.entered_at,
            "version": state.version,
            "events": state.seq,
            "created_at": state.created_at,
            "updated_at": state.updated_at,
            "next_alarm": self.next_alarm,
            "end": state.end.as_ref().map(|(end, reason)| json!({ "how": end, "reason": reason })),
            "halted": state.halted.as_ref().map(|(by, reason)| json!({ "by": by, "reason": reason })),
            "blocked": state.blocked,
            "output": product::as_json(&self.products),
            "waits": state.waits.values().collect::<Vec<_>>(),
            "closed_gates": state.closed,
            "pending": pending.collect::<Vec<_>>(),
            "budgets": budgets.collect::<Vec<_>>(),
            "model": state.model,
            "model_calls": state.calls,
            "input_tokens": self.usage.0,
            "output_tokens": self.usage.1,
            "cost": self.usage.2,
            "last_reply": state.last_reply,
            "parent": state.parent,
            "children": children.collect::<Vec<_>>(),
            "fork": state.fork,
            "document_bytes": self.document_bytes,
            "protocol": {
                "name": protocol.name,
                "version": protocol.version,
                "digest": protocol.digest,
                "folder_changed": self.folder_changed,
            },
            "tickets": state.tickets,
        })
    }
}

/// Child runs in the order they were asked for, and whether they reached their end.
pub(crate) fn children(run: &str, log: &[Entry]) -> Vec<(String, Option<bool>)> {
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
pub(crate) fn order_told(order: &Pending) -> String {
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
pub(crate) fn effect_told(effect: &Effect) -> String {
    match effect {
        Effect::Write { path, .. } => format!("write {path}"),
        Effect::Copy { from, to, .. } => format!("copy {from} to {to}"),
        Effect::Run { program, .. } => format!("run {program}"),
        Effect::Http { method, url, .. } => format!("{method} {url}"),
        Effect::Retrieve { source, .. } => format!("look up in {source}"),
    }
}

/// What a tool does, in a few words.
pub(crate) fn tool_told(call: &ToolCall) -> String {
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
