//! The value of `run` in expressions: what gates, templates and rules can read beside the document.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::state::LastReply;
use super::{RunState, Timestamp};

/// Builds the value that expressions read as `run`.
#[must_use]
pub fn build_run_value(state: &RunState) -> Value {
    let mut members = Map::with_capacity(15);
    for (name, value) in [
        ("id", json!(state.run)),
        ("workflow", json!(state.workflow)),
        ("phase", json!(state.phase)),
        ("status", json!(state.status().as_str())),
        ("blocked", blocked_value(state)),
        ("version", json!(state.version)),
        ("created_at", json!(state.created_at.to_string())),
        ("updated_at", json!(state.updated_at.to_string())),
        ("elapsed_ms", json!(elapsed_millis(state))),
        ("loops", json!(count_loops(state))),
        ("spent", spent_value(state)),
        ("last_reply", last_reply_value(state.last_reply.as_ref())),
        ("decision", decision_value(state)),
        ("depth", json!(state.parent.as_ref().map_or(0, |parent| parent.depth))),
    ] {
        members.insert(name.to_owned(), value);
    }
    Value::Object(members)
}

/// The kind of obstacle that keeps the run from continuing, or null.
fn blocked_value(state: &RunState) -> Value {
    state.blocked.as_ref().map_or(Value::Null, |reason| json!(reason.kind()))
}

/// Time from the start of the run to the input being decided.
fn elapsed_millis(state: &RunState) -> u64 {
    state.updated_at.millis_since(state.created_at)
}

fn count_loops(state: &RunState) -> u64 {
    state.amount_spent(&format!("loops@{}", state.phase))
}

fn spent_value(state: &RunState) -> Value {
    let spent = state.spent.iter().map(|(budget, amount)| (budget.clone(), json!(amount)));
    Value::Object(spent.collect())
}

fn last_reply_value(last: Option<&LastReply>) -> Value {
    match last {
        Some(LastReply { phase, attempt, repairs }) => {
            json!({ "phase": phase, "attempt": attempt, "repairs": repairs })
        }
        None => Value::Null,
    }
}

/// The last decision on a manual gate of the current phase.
fn decision_value(state: &RunState) -> Value {
    match state.last_decision() {
        Some(decision) => json!({
            "outcome": decision.outcome().as_str(),
            "by": decision.by,
            "note": decision.note,
        }),
        None => Value::Null,
    }
}

/// The same value, cached during a decision; only changed members are rebuilt.
#[derive(Debug)]
pub(super) struct RunValueCache {
    value: Rc<Value>,
    /// The parts of the state that the value was built from, as far as they must be compared.
    seq: u64,
    updated_at: Timestamp,
    last_reply: Option<LastReply>,
}

impl RunValueCache {
    pub(super) fn new(state: &RunState) -> Self {
        let (seq, updated_at) = (state.seq, state.updated_at);
        Self {
            value: Rc::new(build_run_value(state)),
            seq,
            updated_at,
            last_reply: state.last_reply.clone(),
        }
    }

    /// Returns the value for this state of the same run.
    pub(super) fn value_at(&mut self, state: &RunState) -> Rc<Value> {
        if self.seq != state.seq {
            self.seq = state.seq;
            self.refresh(state);
        }
        Rc::clone(&self.value)
    }

    fn refresh(&mut self, state: &RunState) {
        let Value::Object(members) = Rc::make_mut(&mut self.value) else { return };
        let mut set = |name: &str, same: &dyn Fn(&Value) -> bool, value: &dyn Fn() -> Value| {
            if let Some(member) = members.get_mut(name)
                && !same(member)
            {
                *member = value();
            }
        };
        let status = state.status().as_str();
        set("workflow", &|found| *found == state.workflow, &|| json!(state.workflow));
        set("phase", &|found| *found == state.phase, &|| json!(state.phase));
        set("status", &|found| *found == status, &|| json!(status));
        let blocked = blocked_value(state);
        set("blocked", &|found| *found == blocked, &|| blocked.clone());
        set("version", &|found| *found == state.version, &|| json!(state.version));
        let loops = count_loops(state);
        set("loops", &|found| *found == loops, &|| json!(loops));
        set("spent", &|found| amounts_equal(found, state), &|| spent_value(state));
        if self.updated_at != state.updated_at {
            self.updated_at = state.updated_at;
            set("updated_at", &|_| false, &|| json!(state.updated_at.to_string()));
            set("created_at", &|_| false, &|| json!(state.created_at.to_string()));
            set("elapsed_ms", &|_| false, &|| json!(elapsed_millis(state)));
        }
        if self.last_reply != state.last_reply {
            self.last_reply.clone_from(&state.last_reply);
            set("last_reply", &|_| false, &|| last_reply_value(state.last_reply.as_ref()));
        }
        let decision = decision_value(state);
        set("decision", &|found| *found == decision, &|| decision.clone());
        let depth = state.parent.as_ref().map_or(0, |parent| parent.depth);
        set("depth", &|found| *found == depth, &|| json!(depth));
    }
}

fn amounts_equal(found: &Value, state: &RunState) -> bool {
    found.as_object().is_some_and(|found| {
        found.len() == state.spent.len()
            && state
                .spent
                .iter()
                .all(|(name, amount)| found.get(name).is_some_and(|found| *found == *amount))
    })
}
