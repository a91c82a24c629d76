//! Keeps the working state in the memory in line with the run's document and tool results.

use countersign_memory::record::WorkingMemory;
use countersign_memory::store::MemoryError;

use super::working_state::collect_tool_evidence;
use super::{MemoryRecorder, MemoryRecorderError, RunMemoryOrigin, build_working_state};
use crate::engine::{Engine, LiveRun};

/// How many times the state is written when other writers commit first.
const MAX_ATTEMPTS: usize = 4;

/// How many of the latest session events are searched for tool results.
const MAX_LATEST_EVENTS: usize = 64;

/// Writes the working state of a run if it has changed.
pub async fn update_working_state(
    engine: &Engine,
    recall: &MemoryRecorder,
    beginning: &RunMemoryOrigin,
    live: &LiveRun,
) -> Result<(), MemoryRecorderError> {
    let scope = &beginning.scope;
    let now = engine.clock().now();
    let mut wanted =
        build_working_state(&live.protocol, &live.state, beginning.input.as_ref(), now);
    let latest = recall.memory().list_session_events(scope, 0, MAX_LATEST_EVENTS, now).await?;
    let mut tries = 0;
    loop {
        let found = recall.memory().load_working_memory(scope).await?;
        wanted.state.tool_evidence = collect_tool_evidence(found.as_ref(), &latest, &live.state);
        let version = found.as_ref().map_or(0, |found| found.state.state_version);
        if found.is_some_and(|found| is_same_state(found, &wanted)) {
            return Ok(());
        }
        tries += 1;
        match recall.memory().write_working_memory(scope, version, wanted.clone()).await {
            Ok(_) => return Ok(()),
            Err(MemoryError::Conflict { .. }) if tries < MAX_ATTEMPTS => {}
            Err(other) => return Err(other.into()),
        }
    }
}

fn is_same_state(mut found: WorkingMemory, wanted: &WorkingMemory) -> bool {
    found.state.state_version = wanted.state.state_version;
    found.recorded_at = wanted.recorded_at;
    found == *wanted
}
