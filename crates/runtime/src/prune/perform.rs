//! Doing what was planned, run by run. Each is one commit of the store: stopped in the middle, those that are done
//! are done, and the rest is planned again.

use std::collections::BTreeMap;

use countersign_core::run::Time;
use countersign_store::{Pruned, Pruning, Seal, SnapshotRow, StoreError};

use super::plan::{Doomed, Plan};
use super::seal;
use crate::engine::{Engine, EngineError};
use crate::proof::chain;

/// What became of a plan.
#[derive(Debug, Clone, Default)]
pub struct Done {
    /// How many runs were pruned.
    pub runs: u64,
    /// What was taken out of them.
    pub pruned: Pruned,
    /// How many states stay, which others began from.
    pub kept: u64,
    /// Runs that were left as they are, and why.
    pub left: Vec<(String, String)>,
}

/// Prunes what was planned. `seen` hears what was done so far, after each run.
pub async fn prune(
    engine: &Engine,
    plan: &Plan,
    now: Time,
    mut seen: impl FnMut(&Done),
) -> Result<Done, EngineError> {
    // By how many of those that go each digest is still named.
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    for digest in plan.runs.iter().flat_map(|doomed| &doomed.spoken) {
        *names.entry(digest).or_default() += 1;
    }
    let mut done = Done::default();
    for doomed in &plan.runs {
        let last = |digest: &&String| {
            !plan.named.contains(*digest) && names.get(digest.as_str()) == Some(&1)
        };
        let blobs = doomed.spoken.iter().filter(last).cloned().collect();
        match one(engine, doomed, blobs, plan, now).await? {
            Ok(pruned) => {
                done.runs += 1;
                done.kept += doomed.forked.len() as u64;
                done.pruned.add(pruned);
                for digest in &doomed.spoken {
                    names.entry(digest).and_modify(|left| *left -= 1);
                }
            }
            // It goes on naming what it names.
            Err(why) => done.left.push((doomed.run.clone(), why)),
        }
        seen(&done);
    }
    Ok(done)
}

/// Prunes a run, or says why it stays.
async fn one(
    engine: &Engine,
    doomed: &Doomed,
    blobs: Vec<String>,
    plan: &Plan,
    now: Time,
) -> Result<Result<Pruned, String>, EngineError> {
    let Doomed { run, version, forked, .. } = doomed;
    let log = match engine.log(run).await {
        Ok(log) => log,
        Err(pruned @ EngineError::Pruned { .. }) => return Ok(Err(pruned.to_string())),
        Err(other) => return Err(other),
    };
    // What does not prove itself any more is evidence of something: it stays.
    if let Err(flaw) = chain(run, &log) {
        return Ok(Err(flaw.to_string()));
    }
    let mut kept = Vec::new();
    for at in forked {
        let Some(entry) = log.iter().find(|entry| entry.version == *at) else { continue };
        let body = match engine.at(run, Some(*at)).await {
            Ok(live) => live.snapshot(),
            Err(EngineError::Store(error)) if error.may_pass() => return Err(error.into()),
            Err(why) => {
                return Ok(Err(format!("its state at version {at} is not to be had: {why}")));
            }
        };
        kept.push(SnapshotRow { version: *at, seq: entry.last, body });
    }
    let id = engine.run_id(run.as_str());
    let seal = Seal { at: now.0, digest: seal(run, &log) };
    let (version, since) = (*version, plan.since);
    let pruning = Pruning { run: id.clone(), version, seal, kept, blobs, since };
    let pruned = match engine.store().prune(&pruning).await {
        Ok(pruned) => pruned,
        Err(StoreError::Conflict { .. }) => {
            return Ok(Err("it has gone on since it was looked at".to_owned()));
        }
        Err(other) => return Err(other.into()),
    };
    engine.forget(&id);
    Ok(Ok(pruned))
}
