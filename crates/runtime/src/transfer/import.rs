//! A proved run into a store.

use std::sync::Arc;

use countersign_core::run::{Event, State, fold};
use countersign_store::{Blob, Commit, NewRun, SnapshotRow, StoreError, WaitFilter};

use super::{Packed, TransferError};
use crate::engine::{Engine, EngineError, Live, rows};

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

/// Keeps a proved run under its own id.
///
/// A store takes a run version by version. Until the last one nothing of it is to be done and nothing
/// waits, so no worker touches it; a crash in between leaves a beginning that importing again completes.
pub async fn import(engine: &Engine, packed: &Packed) -> Result<Imported, TransferError> {
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
            std::cmp::Ordering::Equal => return Ok(Imported::Same),
            std::cmp::Ordering::Greater => return Ok(Imported::Behind { here }),
            std::cmp::Ordering::Less => {}
        }
    }
    let digest = &packed.protocol.digest;
    store.put_protocol(&id.tenant, digest, &packed.pinned).await.map_err(EngineError::from)?;
    for commit in commits(engine, packed, here).await? {
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

/// One commit a version after `here`; what is open stands in the last one.
async fn commits(
    engine: &Engine,
    packed: &Packed,
    here: u64,
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
        let mut commit = rows::commit(&id, &packed.protocol, &before, &live.state, one.clone());
        let (version, seq) = (live.state.version, live.state.seq);
        commit.snapshot = live.due().map(|body| SnapshotRow { version, seq, body });
        (commit.key, commit.blobs) = (key, blobs);
        let last = version == packed.proof.versions;
        if !last {
            commit.wake_at = None;
        }
        (commit.actions, commit.waits_opened) = (Vec::new(), Vec::new());
        (commit.finished, commit.waits_closed) = (Vec::new(), Vec::new());
        if last {
            open_rows(engine, packed, &mut commit).await?;
        }
        if version > here {
            commits.push(commit);
        }
    }
    Ok(commits)
}

/// Everything that is open at the end, instead of whatever an earlier copy had open.
async fn open_rows(
    engine: &Engine,
    packed: &Packed,
    commit: &mut Commit,
) -> Result<(), TransferError> {
    let store = engine.store();
    let mut nothing_open = packed.proof.state.clone();
    nothing_open.pending.clear();
    nothing_open.waits.clear();
    let Some(last) = packed.log.last().cloned() else { return Ok(()) };
    let whole =
        rows::commit(&commit.run, &packed.protocol, &nothing_open, &packed.proof.state, last);
    (commit.actions, commit.waits_opened) = (whole.actions, whole.waits_opened);
    let old = store.actions(&commit.run).await.map_err(EngineError::from)?;
    commit.finished = old.into_iter().map(|action| action.id).collect();
    let mut filter = WaitFilter::all(commit.run.tenant.clone(), usize::MAX);
    filter.run = Some(commit.run.id.clone());
    let old = store.waits(&filter).await.map_err(EngineError::from)?;
    commit.waits_closed = old.into_iter().map(|wait| wait.id).collect();
    Ok(())
}
