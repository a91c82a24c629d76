//! Executes a plan, run by run. Each run is one store commit: after an interruption the finished
//! runs stay pruned, and the rest can be planned again.

use std::collections::BTreeMap;

use countersign_run::Timestamp;
use countersign_store::{PruneRequest, PruneSeal, PruneStats, SnapshotRow, StoreError};

use super::compute_seal;
use super::prune_plan::{PruneCandidate, PrunePlan};
use crate::engine::{Engine, EngineError};
use crate::integrity::check_hash_chain;

/// The result of executing a plan.
#[derive(Debug, Clone, Default)]
pub struct PruneOutcome {
    /// Number of runs that were pruned.
    pub runs: u64,
    /// What was removed from them.
    pub removed: PruneStats,
    /// Number of states that stay, because other runs were forked from them.
    pub kept_snapshots: u64,
    /// Runs that were not pruned: id and reason.
    pub skipped: Vec<(String, String)>,
}

/// Prunes the planned runs. `seen` receives the progress after each run.
pub async fn prune_runs(
    engine: &Engine,
    plan: &PrunePlan,
    now: Timestamp,
    mut seen: impl FnMut(&PruneOutcome),
) -> Result<PruneOutcome, EngineError> {
    // How many of the runs to prune still refer to each digest.
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    for digest in plan.runs.iter().flat_map(|doomed| &doomed.blob_digests) {
        *names.entry(digest).or_default() += 1;
    }
    let mut done = PruneOutcome::default();
    for doomed in &plan.runs {
        let last = |digest: &&String| {
            !plan.referenced_blobs.contains(*digest) && names.get(digest.as_str()) == Some(&1)
        };
        let blobs = doomed.blob_digests.iter().filter(last).cloned().collect();
        match prune_run(engine, doomed, blobs, plan, now).await? {
            Ok(pruned) => {
                done.runs += 1;
                done.kept_snapshots += doomed.forked_versions.len() as u64;
                done.removed.add(pruned);
                for digest in &doomed.blob_digests {
                    names.entry(digest).and_modify(|left| *left -= 1);
                }
            }
            // A skipped run keeps its references.
            Err(why) => done.skipped.push((doomed.run.clone(), why)),
        }
        seen(&done);
    }
    Ok(done)
}

/// Prunes a run, or returns why it was skipped.
async fn prune_run(
    engine: &Engine,
    doomed: &PruneCandidate,
    blobs: Vec<String>,
    plan: &PrunePlan,
    now: Timestamp,
) -> Result<Result<PruneStats, String>, EngineError> {
    let PruneCandidate { run, version, forked_versions: forked, .. } = doomed;
    let log = match engine.read_log(run).await {
        Ok(log) => log,
        Err(pruned @ EngineError::RunPruned { .. }) => return Ok(Err(pruned.to_string())),
        Err(other) => return Err(other),
    };
    // A log that does not verify is evidence of tampering or damage, so it is kept.
    if let Err(flaw) = check_hash_chain(run, &log) {
        return Ok(Err(flaw.to_string()));
    }
    let mut kept = Vec::new();
    for at in forked {
        let Some(entry) = log.iter().find(|entry| entry.version == *at) else { continue };
        let body = match engine.load_version(run, Some(*at)).await {
            Ok(live) => live.to_snapshot_json(),
            Err(EngineError::Store(error)) if error.is_transient() => return Err(error.into()),
            Err(why) => {
                return Ok(Err(format!("its state at version {at} cannot be loaded: {why}")));
            }
        };
        kept.push(SnapshotRow { version: *at, seq: entry.last_seq, body });
    }
    let id = engine.run_id(run.as_str());
    let seal = PruneSeal { pruned_at: now.0, digest: compute_seal(run, &log) };
    let (version, since) = (*version, plan.planned_at);
    let pruning =
        PruneRequest { run: id.clone(), version, seal, kept_snapshots: kept, blobs, since };
    let pruned = match engine.store().prune_run(&pruning).await {
        Ok(pruned) => pruned,
        Err(StoreError::Conflict { .. }) => {
            return Ok(Err("it changed after it was selected for pruning".to_owned()));
        }
        Err(other) => return Err(other.into()),
    };
    engine.evict_run(&id);
    Ok(Ok(pruned))
}
