//! The family of a run: its parent, its children, and the child that waits for a person while the
//! parent seems to be running.

use std::collections::{BTreeMap, BTreeSet};

use countersign_run::{ExecutionStatus, RunState};
use countersign_runtime::engine::{Engine, EngineError};
use countersign_store::{ChildRunFilter, RunHead};

/// Maximum number of generations below a run that are searched for a wait.
const MAX_GENERATIONS: usize = 8;

/// Maximum number of open children of one run that are searched for a wait.
const MAX_OPEN_CHILDREN: usize = 50;

/// Maximum number of runs of one generation that are searched for a wait.
const MAX_RUNS_PER_GENERATION: usize = 1_000;

/// Maximum number of children that the status of a run lists.
const MAX_LISTED_CHILDREN: usize = 1_000;

/// The parent and the children of a run, as they are now.
#[derive(Debug, Clone, Default)]
pub struct RunFamily {
    /// The head of the parent; `None` if the run is not a child, or the parent is not stored here.
    pub parent: Option<RunHead>,
    /// The head of the run that this one was forked from; `None` if it is not a fork, or that run
    /// is not stored here.
    pub fork_origin: Option<RunHead>,
    /// The heads of the children, by id.
    pub children: BTreeMap<String, RunHead>,
    /// The descendant that waits for a person; `None` if none does.
    pub waiting_child: Option<RunHead>,
}

/// Loads the family of a run.
pub async fn load_run_family(engine: &Engine, state: &RunState) -> Result<RunFamily, EngineError> {
    let mut family = RunFamily::default();
    if let Some(parent) = &state.parent {
        family.parent = engine.store().load_head(&engine.run_id(&parent.run)).await?;
    }
    if let Some(fork) = &state.fork {
        family.fork_origin = engine.store().load_head(&engine.run_id(&fork.run)).await?;
    }
    let filter = ChildRunFilter {
        tenant: engine.tenant().clone(),
        parents: vec![state.run.clone()],
        open_only: false,
        limit: MAX_LISTED_CHILDREN,
    };
    let children = engine.store().list_child_runs(&filter).await?;
    family.children = children.into_iter().map(|child| (child.run.id.clone(), child)).collect();
    if state.end.is_none() && !family.children.is_empty() {
        let mut found = find_waiting_children(engine, [state.run.clone()].into()).await?;
        family.waiting_child = found.remove(&state.run);
    }
    Ok(family)
}

/// Finds, for each of some runs, a descendant that waits for a person. The search is bounded: it
/// follows open children only, a number of them for each run, and a number of generations.
pub async fn find_waiting_children(
    engine: &Engine,
    runs: BTreeSet<String>,
) -> Result<BTreeMap<String, RunHead>, EngineError> {
    let mut found: BTreeMap<String, RunHead> = BTreeMap::new();
    // Each run of this generation, with the run that the search began at.
    let mut generation: BTreeMap<String, String> =
        runs.into_iter().map(|run| (run.clone(), run)).collect();
    for _ in 0..MAX_GENERATIONS {
        if generation.is_empty() {
            break;
        }
        let filter = ChildRunFilter {
            tenant: engine.tenant().clone(),
            parents: generation.keys().cloned().collect(),
            open_only: true,
            limit: MAX_OPEN_CHILDREN,
        };
        let mut next = BTreeMap::new();
        for child in engine.store().list_child_runs(&filter).await? {
            let Some(root) = child.parent.as_ref().and_then(|parent| generation.get(parent)) else {
                continue;
            };
            if found.contains_key(root) {
                continue;
            }
            if child.status == ExecutionStatus::Waiting.as_str() {
                found.insert(root.clone(), child);
            } else if next.len() < MAX_RUNS_PER_GENERATION {
                next.insert(child.run.id.clone(), root.clone());
            }
        }
        next.retain(|_, root| !found.contains_key(root));
        generation = next;
    }
    Ok(found)
}

/// Says which child a run waits for, and whom it asks, in one line.
#[must_use]
pub fn describe_waiting_child(child: &RunHead) -> String {
    let name = if child.title.is_empty() { &child.run.id } else { &child.title };
    let asks = if child.asks.is_empty() { "anybody" } else { &child.asks };
    format!("waiting for a child run: {name}, asks {asks}")
}
