//! A proved run into a store.

use std::sync::Arc;

use countersign_core::run::{Event, Incoming, State, fold};
use countersign_store::{Blob, Commit, NewRun, SnapshotRow, StoreError, WaitFilter};

use super::{Packed, TransferError};
use crate::engine::{Engine, EngineError, Live, blank_input, rows};

/// What importing a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// It was not here, and is now.
    New,
    /// Its beginning was here, up to this version; the rest was added.
    Completed {
        /// The version that was here.
        from: u64,
    },
    /// All of it was here.
    Same,
    /// All of it was here, and the run has gone on since.
    Behind {
        /// The version that is here.
        here: u64,
    },
}

/// Who halts an imported run, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportHalt {
    /// Who imports it.
    pub by: String,
    /// A sentence that says how it goes on.
    pub reason: String,
}

/// Keeps a proved run under its own id.
///
/// A store takes a run version by version. Until the last one nothing of it is to be done and nothing
/// waits, so no worker touches it; a crash in between leaves a beginning that importing again completes.
pub async fn import(engine: &Engine, packed: &Packed) -> Result<Imported, TransferError> {
    import_with(engine, packed, None).await
}

/// The same, with one version more that halts the run, unless it has ended or is halted. What is open
/// in it comes with that version, so no worker ever sees it unhalted.
pub async fn import_halted(
    engine: &Engine,
    packed: &Packed,
    halt: &ImportHalt,
) -> Result<Imported, TransferError> {
    let state = &packed.proof.state;
    let halt = Some(halt).filter(|_| state.end.is_none() && state.halted.is_none());
    import_with(engine, packed, halt).await
}

async fn import_with(
    engine: &Engine,
    packed: &Packed,
    halt: Option<&ImportHalt>,
) -> Result<Imported, TransferError> {
    let id = engine.run_id(packed.run.as_str());
    let store = engine.store();
    let kept = store.head(&id).await.map_err(EngineError::from)?;
    let here = kept.as_ref().map_or(0, |head| head.version);
    if kept.is_some() {
        let log = engine.log(&packed.run).await?;
        let parted = log.iter().zip(&packed.log).find(|(ours, theirs)| ours.hash != theirs.hash);
        if let Some((ours, _)) = parted {
            return Err(TransferError::Other { run: packed.run.clone(), version: ours.version });
        }
        match log.len().cmp(&packed.log.len()) {
            // Cut off before it was halted, nothing of it is open; else it is this store's own run.
            std::cmp::Ordering::Equal if halt.is_some() && is_cut_off(engine, packed).await? => {}
            std::cmp::Ordering::Equal => return Ok(Imported::Same),
            std::cmp::Ordering::Greater => return Ok(Imported::Behind { here }),
            std::cmp::Ordering::Less => {}
        }
    }
    let digest = &packed.protocol.digest;
    store.put_protocol(&id.tenant, digest, &packed.pinned).await.map_err(EngineError::from)?;
    for commit in commits(engine, packed, here, halt).await? {
        let first = commit.expected_version == 0;
        let kept = if first {
            let state = &packed.proof.state;
            let new = NewRun {
                protocol: state.protocol.clone(),
                workflow: state.workflow.clone(),
                created_at: state.created_at.0,
            };
            store.create(new, commit).await
        } else {
            store.append(commit).await
        };
        kept.map_err(|error| match error {
            StoreError::Conflict { .. } => TransferError::Changed { run: packed.run.clone() },
            other => EngineError::from(other).into(),
        })?;
    }
    engine.forget(&id);
    Ok(if kept.is_some() { Imported::Completed { from: here } } else { Imported::New })
}

/// Whether an import ended just before the version that halts the run: the store has none of the
/// orders and waits that the run has.
async fn is_cut_off(engine: &Engine, packed: &Packed) -> Result<bool, TransferError> {
    let state = &packed.proof.state;
    let (orders, waits) = open_ids(engine, packed).await?;
    let open = !state.pending.is_empty() || !state.waits.is_empty();
    Ok(open && orders.is_empty() && waits.is_empty())
}

/// One commit a version after `here`; what is open stands in the last one.
async fn commits(
    engine: &Engine,
    packed: &Packed,
    here: u64,
    halt: Option<&ImportHalt>,
) -> Result<Vec<Commit>, TransferError> {
    let id = engine.run_id(packed.run.as_str());
    let corrupt = |source| EngineError::corrupt(packed.run.clone(), source);
    let mut live = Live {
        state: Arc::new(State::blank(packed.run.as_str())),
        hash: String::new(),
        protocol: Arc::clone(&packed.protocol),
        since: 0,
        snapshot: 0,
    };
    let mut commits = Vec::new();
    for one in &packed.log {
        let before = Arc::clone(&live.state);
        let events = fold(Arc::make_mut(&mut live.state), &one.body).map_err(corrupt)?;
        live.since += one.body.len();
        live.hash.clone_from(&one.hash);
        let key = events.into_iter().find_map(|event| match event {
            Event::Received { input } => input.key,
            _ => None,
        });
        let blobs = crate::proof::spoken_of(&packed.run, one).into_iter().map(|digest| {
            let bytes = packed.blobs.get(&digest).cloned().unwrap_or_default();
            Blob { digest, bytes }
        });
        let blobs = blobs.collect();
        let mut commit =
            rows::commit(&id, &packed.protocol, &before, &live.state, one.clone(), one.time);
        let (version, seq) = (live.state.version, live.state.seq);
        commit.snapshot = live.due().map(|body| SnapshotRow { version, seq, body });
        (commit.key, commit.blobs) = (key, blobs);
        let last = version == packed.proof.versions && halt.is_none();
        if !last {
            commit.wake_at = None;
        }
        close_rows(&mut commit);
        if last {
            open_rows(engine, packed, &live.state, &mut commit).await?;
        }
        if version > here {
            commits.push(commit);
        }
    }
    if let Some(ImportHalt { by, reason }) = halt {
        let what = Incoming::Halted { by: by.clone(), reason: Some(reason.clone()) };
        let decided = engine.decided(&id, &live, &mut blank_input(what, None)).await;
        let mut decided = decided.map_err(EngineError::from)?;
        close_rows(&mut decided.commit);
        open_rows(engine, packed, &decided.next.state, &mut decided.commit).await?;
        commits.push(decided.commit);
    }
    Ok(commits)
}

fn close_rows(commit: &mut Commit) {
    (commit.actions, commit.waits_opened) = (Vec::new(), Vec::new());
    (commit.finished, commit.waits_closed) = (Vec::new(), Vec::new());
}

/// Everything that is open at the end, instead of whatever an earlier copy had open.
async fn open_rows(
    engine: &Engine,
    packed: &Packed,
    state: &State,
    commit: &mut Commit,
) -> Result<(), TransferError> {
    let mut nothing_open = state.clone();
    nothing_open.pending.clear();
    nothing_open.waits.clear();
    let Some(last) = packed.log.last().cloned() else { return Ok(()) };
    let now = last.time;
    let whole = rows::commit(&commit.run, &packed.protocol, &nothing_open, state, last, now);
    (commit.actions, commit.waits_opened) = (whole.actions, whole.waits_opened);
    (commit.finished, commit.waits_closed) = open_ids(engine, packed).await?;
    Ok(())
}

/// The orders and the waits of a run that the store has, by id.
async fn open_ids(
    engine: &Engine,
    packed: &Packed,
) -> Result<(Vec<String>, Vec<String>), TransferError> {
    let id = engine.run_id(packed.run.as_str());
    let store = engine.store();
    let orders = store.actions(&id).await.map_err(EngineError::from)?;
    let mut filter = WaitFilter::all(id.tenant, usize::MAX);
    filter.run = Some(id.id);
    let waits = store.waits(&filter).await.map_err(EngineError::from)?;
    let orders = orders.into_iter().map(|order| order.id).collect();
    Ok((orders, waits.into_iter().map(|wait| wait.id).collect()))
}
