//! Workers as they are sent: who works, and what they hold.

use std::collections::BTreeMap;

use countersign_store::{Store, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

/// How many leases are looked at.
const MAX_LEASES: usize = 100_000;

/// Who works on runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WorkerView {
    /// What its leases are known by.
    pub name: String,
    /// The machine it runs on; absent for a command, which does not announce itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Its process there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The version of its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How many runs it works on at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// When it last announced itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<i64>,
    /// Whether it went without a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<bool>,
    /// The runs it holds.
    pub runs: Vec<String>,
}

/// Who works at a moment: those that announced themselves, then commands that hold a run.
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
            lost: Some(row.until <= now),
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
