//! Catching up: what a log has and the memory does not is remembered, and a run that has ended takes its own with it.

use countersign_core::run::{Entry, State, Time, apply};
use countersign_memory::Scope;
use countersign_memory::store::{MemoryError, NewEvent, Sweep};
use countersign_store::{RunFilter, RunId};

use super::{Recall, RecallError, Version, lived};
use crate::engine::{Engine, Live};

/// How many versions are read at once.
const PAGE: usize = 256;

/// How many runs are looked at before the first packet of a process.
const LATEST: usize = 16;

/// Remembers what a run lived through and the memory does not have, unless it is one that is never
/// remembered, and sweeps where it has ended. Any number of processes may do so at once; each event is kept once.
pub async fn catch_up(engine: &Engine, run: &str) -> Result<(), RecallError> {
    let Some(recall) = engine.recall() else { return Ok(()) };
    let id = engine.run_id(run);
    let live = engine.fresh(&id).await?;
    if live.protocol.memory.off {
        return Ok(());
    }
    caught_up(engine, recall, &id, &live).await
}

/// The same for the latest runs, a crash of whose worker may have left them behind. Gives the runs that
/// could not be remembered.
pub async fn catch_up_latest(engine: &Engine) -> Result<Vec<(String, RecallError)>, RecallError> {
    let latest = RunFilter::newest(engine.tenant().clone(), LATEST);
    let mut runs = engine.store().runs(&latest).await?;
    // The older ones were said first.
    runs.reverse();
    let mut failed = Vec::new();
    for head in runs {
        if let Err(error) = catch_up(engine, &head.run.id).await {
            failed.push((head.run.id, error));
        }
    }
    Ok(failed)
}

async fn caught_up(
    engine: &Engine,
    recall: &Recall,
    run: &RunId,
    live: &Live,
) -> Result<(), RecallError> {
    let beginning = recall.beginning(engine, run, live).await?;
    if beginning.unremembered {
        return Ok(());
    }
    let scope = &beginning.scope;
    let mut after = recall.upto(run);
    if after >= live.state.version {
        return Ok(());
    }
    if after == 0 {
        let last = recall.memory().last_of_run(scope).await?;
        after = last.and_then(|last| version(scope, &last.id)).unwrap_or(0);
    }
    let mut state = match after {
        0 => State::blank(run.id.as_str()),
        version => (*engine.at(&run.id, Some(version)).await?.state).clone(),
    };
    let before = after;
    loop {
        let page = engine.store().log(run, after, PAGE).await?;
        let full = page.len() == PAGE;
        let mut events = Vec::new();
        for row in page {
            let (first, last, time) = (row.first, row.last, Time(row.time));
            let number = row.version;
            let entry =
                Entry { version: number, first, last, time, hash: row.hash, body: row.body };
            let happened = entry.open(&run.id)?;
            let version = Version { number, time, events: &happened };
            let now = engine.clock().now();
            events.extend(lived(scope, &live.protocol, &state, version, now));
            for event in &happened {
                apply(&mut state, event)?;
            }
            after = number;
        }
        remember(recall, events).await?;
        recall.note(run, after);
        if !full {
            break;
        }
    }
    if after > before && live.state.status().ended() {
        // What its builds used stays, so that they are composed again.
        let sweep = Sweep { run_ended: true, used: false };
        recall.memory().sweep(scope, sweep, engine.clock().now()).await?;
    }
    Ok(())
}

/// Remembers events, without those that were forgotten and must not come back.
async fn remember(recall: &Recall, events: Vec<NewEvent>) -> Result<(), RecallError> {
    if events.is_empty() {
        return Ok(());
    }
    match recall.memory().remember(events.clone()).await {
        Err(MemoryError::Refused(_)) => {}
        other => return Ok(other.map(drop)?),
    }
    for event in events {
        match recall.memory().remember(vec![event]).await {
            Ok(_) | Err(MemoryError::Refused(_)) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Ok(())
}

/// The version that an event of a run comes from; `None` for one that somebody else wrote.
pub(super) fn version(scope: &Scope, id: &str) -> Option<u64> {
    let rest = id.strip_prefix(scope.run())?.strip_prefix('/')?;
    rest.split_once('/')?.0.parse().ok()
}
