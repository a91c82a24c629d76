//! Imports a verified run into a store.

use std::sync::Arc;

use countersign_run::{InputKind, RunEvent, RunState, fold_entry};
use countersign_store::{Blob, RunCommit, SnapshotRow, StoreError, WaitFilter};

use super::{TransferError, VerifiedRunFile};
use crate::engine::{Engine, EngineError, LiveRun, commit_rows, new_input};

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    /// The run did not exist here, and was created.
    Created,
    /// The store had an earlier version of the run; the rest was added.
    Extended {
        /// The version that the store had before.
        previous_version: u64,
    },
    /// The store already had the whole run.
    Unchanged,
    /// The store already had the whole run, and it has advanced since.
    StoreAhead {
        /// The version that the store has.
        store_version: u64,
    },
}

/// Who halts an imported run, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportHalt {
    /// The actor who imports the run.
    pub by: String,
    /// A sentence that says how to continue the run.
    pub reason: String,
}

/// Stores a verified run under its own id.
///
/// The run is stored version by version. Before the last version it has no pending actions and no
/// waits, so no worker touches it; after a crash, another import completes it.
pub async fn import_run(
    engine: &Engine,
    packed: &VerifiedRunFile,
) -> Result<ImportOutcome, TransferError> {
    import_run_with(engine, packed, None).await
}

/// Like [`import_run`], with an additional version that halts the run, unless it has ended or is
/// halted. The pending actions and waits are stored with that version, so no worker ever sees the
/// run unhalted.
pub async fn import_run_halted(
    engine: &Engine,
    packed: &VerifiedRunFile,
    halt: &ImportHalt,
) -> Result<ImportOutcome, TransferError> {
    let state = &packed.verification.state;
    let halt = Some(halt).filter(|_| state.end.is_none() && state.halted.is_none());
    import_run_with(engine, packed, halt).await
}

async fn import_run_with(
    engine: &Engine,
    packed: &VerifiedRunFile,
    halt: Option<&ImportHalt>,
) -> Result<ImportOutcome, TransferError> {
    let id = engine.run_id(packed.run.as_str());
    let store = engine.store();
    let kept = store.load_head(&id).await.map_err(EngineError::from)?;
    let here = kept.as_ref().map_or(0, |head| head.version);
    if kept.is_some() {
        let log = engine.read_log(&packed.run).await?;
        let parted = log.iter().zip(&packed.log).find(|(ours, theirs)| ours.hash != theirs.hash);
        if let Some((ours, _)) = parted {
            return Err(TransferError::HistoryConflict {
                run: packed.run.clone(),
                version: ours.version,
            });
        }
        match log.len().cmp(&packed.log.len()) {
            // After an import that was interrupted before the halt, nothing is open; otherwise it
            // is this store's own run.
            std::cmp::Ordering::Equal
                if halt.is_some() && is_halt_missing(engine, packed).await? => {}
            std::cmp::Ordering::Equal => return Ok(ImportOutcome::Unchanged),
            std::cmp::Ordering::Greater => {
                return Ok(ImportOutcome::StoreAhead { store_version: here });
            }
            std::cmp::Ordering::Less => {}
        }
    }
    let digest = &packed.protocol.digest;
    store.put_protocol(&id.tenant, digest, &packed.pinned_json).await.map_err(EngineError::from)?;
    for commit in build_commits(engine, packed, here, halt).await? {
        let first = commit.expected_version == 0;
        let kept = if first {
            let new = commit_rows::build_new_run(&packed.protocol, &packed.verification.state);
            store.create_run(new, commit).await
        } else {
            store.append_commit(commit).await
        };
        kept.map_err(|error| match error {
            StoreError::Conflict { .. } => {
                TransferError::ConcurrentChange { run: packed.run.clone() }
            }
            other => EngineError::from(other).into(),
        })?;
    }
    engine.evict_run(&id);
    Ok(if kept.is_some() {
        ImportOutcome::Extended { previous_version: here }
    } else {
        ImportOutcome::Created
    })
}

/// Returns whether an import was interrupted just before the version that halts the run: the store
/// has none of the run's pending actions and waits.
async fn is_halt_missing(engine: &Engine, packed: &VerifiedRunFile) -> Result<bool, TransferError> {
    let state = &packed.verification.state;
    let (orders, waits) = load_open_ids(engine, packed).await?;
    let open = !state.pending.is_empty() || !state.waits.is_empty();
    Ok(open && orders.is_empty() && waits.is_empty())
}

/// Builds one commit per version after `here`; the last one contains the open actions and waits.
async fn build_commits(
    engine: &Engine,
    packed: &VerifiedRunFile,
    here: u64,
    halt: Option<&ImportHalt>,
) -> Result<Vec<RunCommit>, TransferError> {
    let id = engine.run_id(packed.run.as_str());
    let corrupt = |source| EngineError::corrupt(packed.run.clone(), source);
    let mut live = LiveRun {
        state: Arc::new(RunState::new(packed.run.as_str())),
        hash: String::new(),
        protocol: Arc::clone(&packed.protocol),
        bytes_since_snapshot: 0,
        snapshot_bytes: 0,
    };
    let mut commits = Vec::new();
    for one in &packed.log {
        let before = Arc::clone(&live.state);
        let events = fold_entry(Arc::make_mut(&mut live.state), &one.body).map_err(corrupt)?;
        live.bytes_since_snapshot += one.body.len();
        live.hash.clone_from(&one.hash);
        let key = events.into_iter().find_map(|event| match event {
            RunEvent::InputReceived { input } => input.idempotency_key,
            _ => None,
        });
        let blobs =
            crate::integrity::collect_blob_digests(&packed.run, one).into_iter().map(|digest| {
                let bytes = packed.blobs.get(&digest).cloned().unwrap_or_default();
                Blob { digest, bytes }
            });
        let blobs = blobs.collect();
        let mut commit = commit_rows::build_commit(
            &id,
            &packed.protocol,
            &before,
            &live.state,
            one.clone(),
            one.time,
        );
        let (version, seq) = (live.state.version, live.state.seq);
        commit.snapshot = live.take_due_snapshot().map(|body| SnapshotRow { version, seq, body });
        (commit.idempotency_key, commit.blobs) = (key, blobs);
        let last = version == packed.verification.versions && halt.is_none();
        if !last {
            commit.wake_at = None;
        }
        clear_rows(&mut commit);
        if last {
            add_open_rows(engine, packed, &live.state, &mut commit).await?;
        }
        if version > here {
            commits.push(commit);
        }
    }
    if let Some(ImportHalt { by, reason }) = halt {
        let what = InputKind::Halted { by: by.clone(), reason: Some(reason.clone()) };
        let decided = engine.decide_input(&id, &live, &mut new_input(what, None)).await;
        let mut decided = decided.map_err(EngineError::from)?;
        clear_rows(&mut decided.commit);
        add_open_rows(engine, packed, &decided.next.state, &mut decided.commit).await?;
        commits.push(decided.commit);
    }
    Ok(commits)
}

fn clear_rows(commit: &mut RunCommit) {
    (commit.actions, commit.waits_opened) = (Vec::new(), Vec::new());
    (commit.finished_actions, commit.waits_closed) = (Vec::new(), Vec::new());
}

/// Adds all actions and waits that are open at the end, and removes those of an earlier copy.
async fn add_open_rows(
    engine: &Engine,
    packed: &VerifiedRunFile,
    state: &RunState,
    commit: &mut RunCommit,
) -> Result<(), TransferError> {
    let mut nothing_open = state.clone();
    nothing_open.pending.clear();
    nothing_open.waits.clear();
    let Some(last) = packed.log.last().cloned() else { return Ok(()) };
    let now = last.time;
    let whole =
        commit_rows::build_commit(&commit.run, &packed.protocol, &nothing_open, state, last, now);
    (commit.actions, commit.waits_opened) = (whole.actions, whole.waits_opened);
    (commit.finished_actions, commit.waits_closed) = load_open_ids(engine, packed).await?;
    Ok(())
}

/// Returns the ids of the pending actions and the open waits of a run in the store.
async fn load_open_ids(
    engine: &Engine,
    packed: &VerifiedRunFile,
) -> Result<(Vec<String>, Vec<String>), TransferError> {
    let id = engine.run_id(packed.run.as_str());
    let store = engine.store();
    let orders = store.list_actions(&id).await.map_err(EngineError::from)?;
    let mut filter = WaitFilter::all(id.tenant, usize::MAX);
    filter.run = Some(id.id);
    let waits = store.list_waits(&filter).await.map_err(EngineError::from)?;
    let orders = orders.into_iter().map(|order| order.id).collect();
    Ok((orders, waits.into_iter().map(|wait| wait.id).collect()))
}
