//! Workers as the API sends them, with the runs they hold.

use std::collections::BTreeMap;

use countersign_store::{Store, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

/// Maximum number of leases that are read.
const MAX_LEASES: usize = 100_000;

/// A worker, which works on runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WorkerView {
    /// The name in the worker's leases.
    pub name: String,
    /// The machine that the worker runs on. Absent for a command, which does not register itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The process id on that machine. Absent for a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The version of the program. Absent for a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The maximum number of runs that it works on at the same time. Absent for a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
    /// When the worker started, in Unix milliseconds. Absent for a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// When the worker last sent a heartbeat, in Unix milliseconds. Absent for a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<i64>,
    /// Whether the worker is lost: its heartbeats stopped without a sign-off. Absent for a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<bool>,
    /// The ids of the runs that the worker holds.
    pub runs: Vec<String>,
}

/// Lists the workers at the time `now`: the registered ones first, then commands that hold a run.
pub async fn load_workers(store: &dyn Store, now: i64) -> Result<Vec<WorkerView>, StoreError> {
    let mut held: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for lease in store.list_leases(now, MAX_LEASES).await? {
        held.entry(lease.worker).or_default().push(lease.run.id);
    }
    let mut views: Vec<WorkerView> = Vec::new();
    for row in store.list_workers(now).await? {
        let worker = row.info;
        views.push(WorkerView {
            runs: held.remove(&worker.name).unwrap_or_default(),
            name: worker.name,
            host: Some(worker.host),
            pid: Some(worker.pid),
            version: Some(worker.version),
            capacity: Some(worker.capacity),
            started_at: Some(worker.started_at),
            seen_at: Some(row.seen_at),
            lost: Some(row.expires_at <= now),
        });
    }
    views.extend(held.into_iter().map(|(name, runs)| WorkerView {
        name,
        host: None,
        pid: None,
        version: None,
        capacity: None,
        started_at: None,
        seen_at: None,
        lost: None,
        runs,
    }));
    Ok(views)
}
