//! `run` as expressions see it: what gates, templates and rules may know beside the document.

use serde_json::{Map, Value, json};

use super::State;

/// The value of the name `run`.
#[must_use]
pub fn view(state: &State) -> Value {
    let loops = state.spent_of(&format!("loops@{}", state.phase));
    let last = state.last_reply.as_ref().map(
        |last| json!({ "phase": last.phase, "attempt": last.attempt, "repairs": last.repairs }),
    );
    let mut spent = Map::new();
    for (budget, amount) in &state.spent {
        spent.insert(budget.clone(), json!(amount));
    }
    json!({
        "id": state.run,
        "workflow": state.workflow,
        "phase": state.phase,
        "status": state.status().as_str(),
        "version": state.version,
        "created_at": state.created_at.to_string(),
        "updated_at": state.updated_at.to_string(),
        "loops": loops,
        "spent": spent,
        "last_reply": last,
        "depth": state.parent.as_ref().map_or(0, |parent| parent.depth),
    })
}
