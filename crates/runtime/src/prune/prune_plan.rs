//! Decides which runs to prune, and which parts of them other runs still need. Planning is
//! read-only.

use std::collections::{BTreeMap, BTreeSet};

use countersign_run::{ExecutionStatus, InputKind, RunEvent, RunLogEntry, RunStart, Timestamp};
use countersign_store::{RunFilter, RunHead, StoreWatermark};

use crate::engine::{Engine, EngineError};
use crate::integrity::collect_blob_digests;

/// Number of runs per page of the list.
const PAGE_SIZE: usize = 500;

/// Which ended runs are old enough to be pruned. If both criteria are set, both must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PruneCriteria {
    /// Only runs that ended before this timestamp; any age if absent.
    pub ended_before: Option<Timestamp>,
    /// How many of the most recently started ended runs are kept.
    pub keep_newest: usize,
}

/// The runs that will be pruned.
#[derive(Debug, Clone)]
pub struct PrunePlan {
    /// The runs to prune, oldest first.
    pub runs: Vec<PruneCandidate>,
    /// Number of all runs of the tenant.
    pub total_runs: u64,
    /// How many runs were pruned before.
    pub already_pruned: u64,
    /// Ids of old runs that stay, because they have pending actions or a running run waits for
    /// them.
    pub still_needed: Vec<String>,
    /// Digests of blobs that stay because another run refers to them.
    pub(super) referenced_blobs: BTreeSet<String>,
    /// The store position that the plan is valid for.
    pub(super) planned_at: StoreWatermark,
}

/// A run that will be pruned.
#[derive(Debug, Clone)]
pub struct PruneCandidate {
    /// Id of the run.
    pub run: String,
    /// Current version of the run.
    pub version: u64,
    /// Total size of its log bodies, in bytes.
    pub bytes: u64,
    /// The versions that other runs were forked from; they keep their state.
    pub forked_versions: BTreeSet<u64>,
    /// Digests of the blobs that the run refers to.
    pub(super) blob_digests: BTreeSet<String>,
}

/// Plans which runs to prune. `seen` receives the number of runs checked so far.
pub async fn plan_prune(
    engine: &Engine,
    old: PruneCriteria,
    mut seen: impl FnMut(u64),
) -> Result<PrunePlan, EngineError> {
    // Read this first: the store itself checks what changes later.
    let since = engine.store().read_watermark().await?;
    let heads = list_heads(engine).await?;
    let open: BTreeSet<&str> =
        heads.iter().filter(|head| !is_ended(head)).map(|head| head.run.id.as_str()).collect();
    let pruned = heads.iter().filter(|head| head.pruned.is_some()).count() as u64;
    let mut plan = PrunePlan {
        runs: Vec::new(),
        total_runs: heads.len() as u64,
        already_pruned: pruned,
        still_needed: Vec::new(),
        referenced_blobs: BTreeSet::new(),
        planned_at: since,
    };
    let mut stay: Vec<&RunHead> = Vec::new();
    let (mut done, mut latest) = (0, 0);
    for head in heads.iter().filter(|head| head.pruned.is_none()) {
        latest += usize::from(is_ended(head));
        let is_old = old.ended_before.is_none_or(|before| head.updated_at < before.0);
        if !(is_ended(head) && is_old && latest > old.keep_newest) {
            stay.push(head);
            continue;
        }
        let log = engine.read_log(&head.run.id).await?;
        let parent = find_start(&head.run.id, &log).and_then(|start| start.parent);
        let awaited = parent.is_some_and(|parent| open.contains(parent.run.as_str()));
        if awaited || !engine.store().list_actions(&head.run).await?.is_empty() {
            plan.still_needed.push(head.run.id.clone());
            stay.push(head);
        } else {
            plan.runs.push(PruneCandidate {
                run: head.run.id.clone(),
                version: head.version,
                bytes: log.iter().map(|one| one.body.len() as u64).sum(),
                forked_versions: BTreeSet::new(),
                blob_digests: log
                    .iter()
                    .flat_map(|one| collect_blob_digests(&head.run.id, one))
                    .collect(),
            });
        }
        done += 1;
        seen(done);
    }
    if !plan.runs.is_empty() {
        collect_references(engine, &stay, &mut plan, |more| seen(done + more)).await?;
    }
    plan.runs.reverse();
    Ok(plan)
}

/// Collects what the remaining runs need from the runs to be pruned.
async fn collect_references(
    engine: &Engine,
    stay: &[&RunHead],
    plan: &mut PrunePlan,
    mut seen: impl FnMut(u64),
) -> Result<(), EngineError> {
    let sought: BTreeSet<String> =
        plan.runs.iter().flat_map(|doomed| doomed.blob_digests.iter().cloned()).collect();
    let mut forked: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for (done, head) in (1..).zip(stay) {
        let run = &head.run.id;
        // The first version shows whether it is a fork; the rest is read only if it may refer to
        // the same blobs.
        let log = if sought.is_empty() {
            engine.read_log_after(run, 0, 1).await?
        } else {
            engine.read_log(run).await?
        };
        if let Some(fork) = find_start(run, &log).and_then(|start| start.fork) {
            forked.entry(fork.run).or_default().insert(fork.version);
        }
        let logged = log.iter().flat_map(|one| collect_blob_digests(run, one));
        plan.referenced_blobs.extend(logged.filter(|digest| sought.contains(digest)));
        seen(done);
    }
    for doomed in &mut plan.runs {
        let points = forked.remove(&doomed.run).unwrap_or_default();
        doomed.forked_versions = points.into_iter().filter(|at| *at <= doomed.version).collect();
    }
    Ok(())
}

/// Returns every run of the tenant, the most recently started first.
async fn list_heads(engine: &Engine) -> Result<Vec<RunHead>, EngineError> {
    let mut filter = RunFilter::newest(engine.tenant().clone(), PAGE_SIZE);
    let mut heads = Vec::new();
    loop {
        let page = engine.store().list_runs(&filter).await?;
        filter.after = page.last().map(RunHead::to_cursor);
        let full = page.len() == PAGE_SIZE;
        heads.extend(page);
        if !full {
            return Ok(heads);
        }
    }
}

fn is_ended(head: &RunHead) -> bool {
    let status = ExecutionStatus::ALL.into_iter().find(|status| status.as_str() == head.status);
    status.is_some_and(ExecutionStatus::is_ended)
}

/// Returns how a run was started.
fn find_start(run: &str, log: &[RunLogEntry]) -> Option<RunStart> {
    let events = log.first()?.decode_events(run).ok()?;
    events.into_iter().find_map(|event| match event {
        RunEvent::InputReceived { input } => match input.payload {
            InputKind::Start(start) => Some(*start),
            _ => None,
        },
        _ => None,
    })
}
