//! Catches up: records what a log has and the memory does not, and sweeps expired records of a run
//! that has ended.

use countersign_memory::MemoryScope;
use countersign_memory::store::{MemoryError, NewMemoryEvent, SweepOptions};
use countersign_run::{RunLogEntry, RunState, Timestamp, apply};
use countersign_store::{RunFilter, RunHead, RunId};

use super::{MemoryRecorder, MemoryRecorderError, RecordedVersion, extract_memory_events};
use crate::engine::{Engine, LiveRun};

/// Number of versions that are read per request to the store.
const LOG_PAGE_SIZE: usize = 256;

/// How many runs are checked before the first packet of a process.
const RUNS_BEFORE_PACKET: usize = 16;

/// How many more runs are checked each time a run becomes idle, until all are checked.
const RUNS_WHEN_IDLE: usize = 64;

/// Records the events of a run that the memory does not have, unless memory is disabled for the
/// run, and sweeps expired records if the run has ended. Any number of processes may do so at once;
/// each event is stored once.
pub async fn catch_up(engine: &Engine, run: &str) -> Result<(), MemoryRecorderError> {
    let Some(recall) = engine.memory_recorder() else { return Ok(()) };
    let id = engine.run_id(run);
    let live = engine.refresh_live_run(&id).await?;
    if live.protocol.memory.off {
        return Ok(());
    }
    catch_up_run(engine, recall, &id, &live).await
}

/// Catches up with runs that a crash of their worker may have left behind: the newest first, one
/// step per call, until all are checked. Returns the runs that could not be recorded.
///
/// The next call repeats a step that was interrupted; a step that is in progress elsewhere is left
/// alone.
pub async fn catch_up_next(
    engine: &Engine,
    step: CatchUpStep,
) -> Result<Vec<(String, MemoryRecorderError)>, MemoryRecorderError> {
    let Some(recall) = engine.memory_recorder() else { return Ok(Vec::new()) };
    let Some(progress) = recall.begin_catch_up() else { return Ok(Vec::new()) };
    let limit = match step {
        CatchUpStep::BeforePacket => RUNS_BEFORE_PACKET,
        CatchUpStep::WhenIdle => RUNS_WHEN_IDLE,
    };
    let mut filter = RunFilter::newest(engine.tenant().clone(), limit);
    filter.after.clone_from(&progress.after);
    let mut runs = engine.store().list_runs(&filter).await?;
    let next = runs.last().filter(|_| runs.len() == limit).map(RunHead::to_cursor);
    // Record older runs first; pruned runs have no content left.
    runs.reverse();
    runs.retain(|head| head.pruned.is_none());
    let mut failed = Vec::new();
    for head in runs {
        if let Err(error) = catch_up(engine, &head.run.id).await {
            failed.push((head.run.id, error));
        }
    }
    progress.finish(next);
    Ok(failed)
}

/// The occasion on which runs are caught up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatchUpStep {
    /// Before the first packet of a process, which waits for this step: few runs.
    BeforePacket,
    /// After a run becomes idle, when nothing waits for this step: more runs.
    WhenIdle,
}

async fn catch_up_run(
    engine: &Engine,
    recall: &MemoryRecorder,
    run: &RunId,
    live: &LiveRun,
) -> Result<(), MemoryRecorderError> {
    let beginning = recall.load_origin(engine, run, live).await?;
    if beginning.memory_disabled {
        return Ok(());
    }
    let scope = &beginning.scope;
    let mut after = recall.recorded_version(run);
    if after >= live.state.version {
        return Ok(());
    }
    if after == 0 {
        let last = recall.memory().load_last_run_event(scope).await?;
        after = last.and_then(|last| parse_event_version(scope, &last.id)).unwrap_or(0);
    }
    let mut state = match after {
        0 => RunState::new(run.id.as_str()),
        version => (*engine.load_version(&run.id, Some(version)).await?.state).clone(),
    };
    let before = after;
    loop {
        let page = engine.store().read_log(run, after, LOG_PAGE_SIZE).await?;
        let full = page.len() == LOG_PAGE_SIZE;
        let mut events = Vec::new();
        for row in page {
            let (first, last, time) = (row.first_seq, row.last_seq, Timestamp(row.time));
            let number = row.version;
            let entry = RunLogEntry {
                version: number,
                first_seq: first,
                last_seq: last,
                time,
                hash: row.hash,
                body: row.body,
            };
            let happened = entry.decode_events(&run.id)?;
            let version = RecordedVersion { number, time, events: &happened };
            let now = engine.clock().now();
            events.extend(extract_memory_events(scope, &live.protocol, &state, version, now));
            for event in &happened {
                apply(&mut state, event)?;
            }
            after = number;
        }
        save_events(recall, events).await?;
        recall.mark_recorded(run, after);
        if !full {
            break;
        }
    }
    if after > before && live.state.status().is_ended() {
        // Keep what its builds used, so that they can be composed again.
        let sweep = SweepOptions { run_ended: true, include_used: false };
        recall.memory().sweep_expired(scope, sweep, engine.clock().now()).await?;
    }
    Ok(())
}

/// Stores events, except those that were erased and must not come back.
async fn save_events(
    recall: &MemoryRecorder,
    events: Vec<NewMemoryEvent>,
) -> Result<(), MemoryRecorderError> {
    if events.is_empty() {
        return Ok(());
    }
    match recall.memory().append_events(events.clone()).await {
        Err(MemoryError::Refused(_)) => {}
        other => return Ok(other.map(drop)?),
    }
    for event in events {
        match recall.memory().append_events(vec![event]).await {
            Ok(_) | Err(MemoryError::Refused(_)) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Ok(())
}

/// Returns the version that an event of a run comes from, or `None` if the event was not recorded
/// from the run's log.
pub(super) fn parse_event_version(scope: &MemoryScope, id: &str) -> Option<u64> {
    let rest = id.strip_prefix(scope.run())?.strip_prefix('/')?;
    rest.split_once('/')?.0.parse().ok()
}
