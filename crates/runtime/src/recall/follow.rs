//! The working state that the memory has of a run follows its document.

use countersign_memory::packet::meta::Purpose;
use countersign_memory::policy::Similarity;
use countersign_memory::record::Working;
use countersign_memory::store::{Limits, MemoryError};
use countersign_memory::{Request, Scope};

use super::{Beginning, Recall, RecallError, working};
use crate::engine::{Engine, Live};

/// How often it is written again when another writer was first.
const TRIES: usize = 4;

/// Nothing but the working state.
const NO_MORE: Limits = Limits {
    quotes: 0,
    window: 0,
    facts: 0,
    superseded: 0,
    procedures: 0,
    episodes: 0,
    insights: 0,
    similarity: Similarity { weight: 0, newest: 0 },
};

/// Writes the working state of a run where it has changed.
pub async fn follow(
    engine: &Engine,
    recall: &Recall,
    beginning: &Beginning,
    live: &Live,
) -> Result<(), RecallError> {
    let scope = &beginning.scope;
    let now = engine.clock().now();
    let wanted = working(&live.protocol, &live.state, beginning.input.as_ref(), now);
    let mut tries = 0;
    loop {
        let found = recall.memory().found(&nothing(scope, &wanted), NO_MORE).await?.working;
        let version = found.as_ref().map_or(0, |found| found.state.state_version);
        if found.is_some_and(|found| same(found, &wanted)) {
            return Ok(());
        }
        tries += 1;
        match recall.memory().write_working(scope, version, wanted.clone()).await {
            Ok(_) => return Ok(()),
            Err(MemoryError::Conflict { .. }) if tries < TRIES => {}
            Err(other) => return Err(other.into()),
        }
    }
}

fn same(mut found: Working, wanted: &Working) -> bool {
    found.state.state_version = wanted.state.state_version;
    found.recorded_at = wanted.recorded_at;
    found == *wanted
}

/// A request that asks nothing.
fn nothing(scope: &Scope, wanted: &Working) -> Request {
    Request {
        scope: scope.clone(),
        purpose: Purpose::Planner,
        task_type: None,
        cues: None,
        message: None,
        vector: None,
        budget: None,
        as_of: wanted.recorded_at,
    }
}
