//! Catching up: what a log has and the memory does not is remembered, and a run that has ended takes its own with it.

use countersign_core::run::{Entry, State, Time, apply};
use countersign_memory::Scope;
use countersign_memory::store::{MemoryError, NewEvent, Sweep};
use countersign_store::{Head, RunFilter, RunId};

use super::{Recall, RecallError, Version, lived};
use crate::engine::{Engine, Live};

/// How many versions are read at once.
const PAGE: usize = 256;

/// How many runs are looked at before the first packet of a process.
const LATEST: usize = 16;

/// How many more are looked at each time a run comes to rest, until all were.
const STEP: usize = 64;

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

/// The same for runs that a crash of their worker may have left behind: the newest ones first, a step at each call,
/// until all were looked at. Gives the runs that could not be remembered.
///
/// A step that breaks off is done again by the next call; one that is under way elsewhere is left to it.
pub async fn catch_up_next(
    engine: &Engine,
    step: CatchUpStep,
) -> Result<Vec<(String, RecallError)>, RecallError> {
    let Some(recall) = engine.recall() else { return Ok(Vec::new()) };
    let Some(progress) = recall.begin_catch_up() else { return Ok(Vec::new()) };
    let limit = match step {
        CatchUpStep::BeforePacket => LATEST,
        CatchUpStep::AtRest => STEP,
    };
    let mut filter = RunFilter::newest(engine.tenant().clone(), limit);
    filter.after.clone_from(&progress.after);
    let mut runs = engine.store().runs(&filter).await?;
    let next = runs.last().filter(|_| runs.len() == limit).map(Head::cursor);
    // The older ones were said first; what was pruned has nothing left to say.
    runs.reverse();
    runs.retain(|head| head.pruned.is_none());
    let mut failed = Vec::new();
    for head in runs {
        if let Err(error) = catch_up(engine, &head.run.id).await {
            failed.push((head.run.id, error));
        }
    }
    progress.end(next);
    Ok(failed)
}

/// When runs are caught up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatchUpStep {
    /// Before the first packet of a process, which waits for it: few.
    BeforePacket,
    /// After a run came to rest, when nobody waits: more.
    AtRest,
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
