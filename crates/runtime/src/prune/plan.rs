//! Which runs are to be pruned, and what of them others still need. Changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::run::{Entry, Event, Incoming, Start, Status, Time};
use countersign_store::{Head, Moment, RunFilter};

use crate::engine::{Engine, EngineError};
use crate::proof::spoken_of;

/// How many runs are listed at once.
const PAGE: usize = 500;

/// Which ended runs are old enough. Both must hold where both are said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Old {
    /// They ended before this.
    pub before: Option<Time>,
    /// They are not among so many that were begun last, of those that have ended.
    pub keep: usize,
}

/// What is to be pruned.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The runs, the oldest first.
    pub runs: Vec<Doomed>,
    /// How many runs there are.
    pub all: u64,
    /// How many of them were pruned before.
    pub pruned: u64,
    /// Old ones that stay: they have something left to do, or a run that goes on waits for them.
    pub awaited: Vec<String>,
    /// Bytes that stay because somebody else names them.
    pub(super) named: BTreeSet<String>,
    /// The moment of the store that this holds for.
    pub(super) since: Moment,
}

/// A run that is to be pruned.
#[derive(Debug, Clone)]
pub struct Doomed {
    /// Its id.
    pub run: String,
    /// The version it is at.
    pub version: u64,
    /// How many bytes its bodies have.
    pub bytes: u64,
    /// The versions that others began from, which keep their state.
    pub forked: BTreeSet<u64>,
    /// The bytes it speaks of.
    pub(super) spoken: BTreeSet<String>,
}

/// Plans to prune what is old. `seen` hears how many runs were looked at.
pub async fn plan(
    engine: &Engine,
    old: Old,
    mut seen: impl FnMut(u64),
) -> Result<Plan, EngineError> {
    // Before anything is read: what comes later is looked at by the store itself.
    let since = engine.store().moment().await?;
    let heads = heads(engine).await?;
    let open: BTreeSet<&str> =
        heads.iter().filter(|head| !ended(head)).map(|head| head.run.id.as_str()).collect();
    let pruned = heads.iter().filter(|head| head.pruned.is_some()).count() as u64;
    let mut plan = Plan {
        runs: Vec::new(),
        all: heads.len() as u64,
        pruned,
        awaited: Vec::new(),
        named: BTreeSet::new(),
        since,
    };
    let mut stay: Vec<&Head> = Vec::new();
    let (mut done, mut latest) = (0, 0);
    for head in heads.iter().filter(|head| head.pruned.is_none()) {
        latest += usize::from(ended(head));
        let is_old = old.before.is_none_or(|before| head.updated_at < before.0);
        if !(ended(head) && is_old && latest > old.keep) {
            stay.push(head);
            continue;
        }
        let log = engine.log(&head.run.id).await?;
        let parent = start(&head.run.id, &log).and_then(|start| start.parent);
        let awaited = parent.is_some_and(|parent| open.contains(parent.run.as_str()));
        if awaited || !engine.store().actions(&head.run).await?.is_empty() {
            plan.awaited.push(head.run.id.clone());
            stay.push(head);
        } else {
            plan.runs.push(Doomed {
                run: head.run.id.clone(),
                version: head.version,
                bytes: log.iter().map(|one| one.body.len() as u64).sum(),
                forked: BTreeSet::new(),
                spoken: log.iter().flat_map(|one| spoken_of(&head.run.id, one)).collect(),
            });
        }
        done += 1;
        seen(done);
    }
    if !plan.runs.is_empty() {
        regard(engine, &stay, &mut plan, |more| seen(done + more)).await?;
    }
    plan.runs.reverse();
    Ok(plan)
}

/// Looks what those who stay need of those who go.
async fn regard(
    engine: &Engine,
    stay: &[&Head],
    plan: &mut Plan,
    mut seen: impl FnMut(u64),
) -> Result<(), EngineError> {
    let sought: BTreeSet<String> =
        plan.runs.iter().flat_map(|doomed| doomed.spoken.iter().cloned()).collect();
    let mut forked: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for (done, head) in (1..).zip(stay) {
        let run = &head.run.id;
        // The beginning says whose fork it is; the rest is read where it may name the same bytes.
        let log = if sought.is_empty() {
            engine.log_after(run, 0, 1).await?
        } else {
            engine.log(run).await?
        };
        if let Some(fork) = start(run, &log).and_then(|start| start.fork) {
            forked.entry(fork.run).or_default().insert(fork.version);
        }
        let spoken = log.iter().flat_map(|one| spoken_of(run, one));
        plan.named.extend(spoken.filter(|digest| sought.contains(digest)));
        seen(done);
    }
    for doomed in &mut plan.runs {
        let points = forked.remove(&doomed.run).unwrap_or_default();
        doomed.forked = points.into_iter().filter(|at| *at <= doomed.version).collect();
    }
    Ok(())
}

/// Every run of the tenant, the one begun last first.
async fn heads(engine: &Engine) -> Result<Vec<Head>, EngineError> {
    let mut filter = RunFilter::newest(engine.tenant().clone(), PAGE);
    let mut heads = Vec::new();
    loop {
        let page = engine.store().runs(&filter).await?;
        filter.after = page.last().map(Head::cursor);
        let full = page.len() == PAGE;
        heads.extend(page);
        if !full {
            return Ok(heads);
        }
    }
}

fn ended(head: &Head) -> bool {
    let status = Status::ALL.into_iter().find(|status| status.as_str() == head.status);
    status.is_some_and(Status::ended)
}

/// What a run began with.
fn start(run: &str, log: &[Entry]) -> Option<Start> {
    let events = log.first()?.open(run).ok()?;
    events.into_iter().find_map(|event| match event {
        Event::Received { input } => match input.what {
            Incoming::Start(start) => Some(*start),
            _ => None,
        },
        _ => None,
    })
}
