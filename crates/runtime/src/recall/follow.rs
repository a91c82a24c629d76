//! The working state that the memory has of a run follows its document, and what its tools gave.

use countersign_memory::record::Working;
use countersign_memory::store::MemoryError;

use super::working::tool_evidence;
use super::{Beginning, Recall, RecallError, working};
use crate::engine::{Engine, Live};

/// How often it is written again when another writer was first.
const TRIES: usize = 4;

/// Among so many of the latest events of the session the results of tools are looked for.
const LATEST: usize = 64;

/// Writes the working state of a run where it has changed.
pub async fn follow(
    engine: &Engine,
    recall: &Recall,
    beginning: &Beginning,
    live: &Live,
) -> Result<(), RecallError> {
    let scope = &beginning.scope;
    let now = engine.clock().now();
    let mut wanted = working(&live.protocol, &live.state, beginning.input.as_ref(), now);
    let latest = recall.memory().session(scope, 0, LATEST, now).await?;
    let mut tries = 0;
    loop {
        let found = recall.memory().working(scope).await?;
        wanted.state.tool_evidence = tool_evidence(found.as_ref(), &latest, &live.state);
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
