//! The statements for workers: acquiring, listing and suspending runs, and heartbeats.

use rusqlite::{Connection, Row, params};

use super::due_runs::select_due_runs;
use super::mutations::{load_lease_state, release_lease_as, save_lease_state};
use crate::worker::LOST_WORKER_RETENTION_MS;
use crate::{DueRunsRequest, Lease, RunId, StoreError, TenantId, WorkerInfo, WorkerRow};

const SUSPEND_RUN: &str = "UPDATE runs SET wake_at = ?4
    WHERE tenant = ?1 AND id = ?2 AND version = ?3 AND wake_at IS NOT ?4";
const VERSION: &str = "SELECT version FROM runs WHERE tenant = ?1 AND id = ?2";
/// The index is in the order of runs.
pub(super) const LEASES: &str = "SELECT tenant, id, lease_worker, lease_epoch, lease_until
    FROM runs INDEXED BY runs_held
    WHERE lease_worker IS NOT NULL AND lease_until > ?1 ORDER BY tenant, id LIMIT ?2";
const HEARTBEAT: &str = "INSERT INTO workers VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT (name) DO UPDATE SET host = ?2, pid = ?3, version = ?4, capacity = ?5,
        started_at = ?6, seen_at = ?7, expires_at = ?8";
const DELETE_LOST_WORKERS: &str = "DELETE FROM workers WHERE expires_at <= ?1";
/// Steps from one tenant to the next through the index, however many runs each tenant has.
const TENANTS: &str = "WITH RECURSIVE tenants (name) AS (
        SELECT min(tenant) FROM runs
        UNION ALL
        SELECT (SELECT min(tenant) FROM runs WHERE tenant > name) FROM tenants WHERE name IS NOT NULL)
    SELECT name FROM tenants WHERE name IS NOT NULL";
const DELETE_WORKER: &str = "DELETE FROM workers WHERE name = ?1";
pub(super) const WORKERS: &str =
    "SELECT name, host, pid, version, capacity, started_at, seen_at, expires_at,
        ifnull(holds, 0)
    FROM workers LEFT JOIN (SELECT lease_worker, count(*) AS holds FROM runs
        WHERE lease_worker IS NOT NULL AND lease_until > ?1 GROUP BY lease_worker)
        ON lease_worker = name
    ORDER BY name";

pub(super) fn acquire_due_runs(
    db: &Connection,
    taking: &DueRunsRequest,
    last: Option<&TenantId>,
) -> Result<Vec<Lease>, StoreError> {
    let mut taken = Vec::new();
    for run in select_due_runs(db, taking, last)? {
        let (known, version) = load_lease_state(db, &run)?.unwrap_or_default();
        if let Some(asked) = known.to_acquired(&taking.worker, taking.now, taking.until, version) {
            save_lease_state(db, &run, &asked)?;
            taken.extend(asked.to_lease(&run));
        }
    }
    Ok(taken)
}

/// Suspends a run; returns whether it is suspended now.
pub(super) fn suspend_run(
    db: &Connection,
    lease: &Lease,
    version: u64,
    wake_at: Option<i64>,
) -> Result<bool, StoreError> {
    let (owner, id) = (lease.run.tenant.as_str(), &lease.run.id);
    if !release_lease_as(db, lease, |known, _| known.to_reset())? {
        return Ok(false);
    }
    let mut statement = db.prepare_cached(VERSION)?;
    let found: i64 = statement.query_row((owner, id), |row| row.get(0))?;
    if found as u64 != version {
        return Ok(false);
    }
    db.prepare_cached(SUSPEND_RUN)?.execute(params![owner, id, found, wake_at])?;
    Ok(true)
}

pub(super) fn list_leases(
    db: &Connection,
    now: i64,
    limit: usize,
) -> Result<Vec<Lease>, StoreError> {
    let mut statement = db.prepare_cached(LEASES)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map((now, limit), |row| {
        let tenant = TenantId::new(row.get::<_, String>(0)?);
        Ok(Lease {
            run: RunId::new(tenant, row.get::<_, String>(1)?),
            worker: row.get(2)?,
            epoch: row.get::<_, i64>(3)? as u64,
            until: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn record_heartbeat(
    db: &Connection,
    worker: &WorkerInfo,
    now: i64,
    until: i64,
) -> Result<(), StoreError> {
    let WorkerInfo { name, host, pid, version, capacity, started_at } = worker;
    db.prepare_cached(DELETE_LOST_WORKERS)?
        .execute([now.saturating_sub(LOST_WORKER_RETENTION_MS)])?;
    db.prepare_cached(HEARTBEAT)?.execute(params![
        name,
        host,
        pid,
        version,
        *capacity as i64,
        started_at,
        now,
        until
    ])?;
    Ok(())
}

pub(super) fn remove_worker(db: &Connection, name: &str) -> Result<(), StoreError> {
    db.prepare_cached(DELETE_WORKER)?.execute([name])?;
    Ok(())
}

pub(super) fn list_workers(db: &Connection, now: i64) -> Result<Vec<WorkerRow>, StoreError> {
    let mut statement = db.prepare_cached(WORKERS)?;
    let rows = statement.query_map([now], read_worker)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn list_tenants(db: &Connection) -> Result<Vec<TenantId>, StoreError> {
    let mut statement = db.prepare_cached(TENANTS)?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0).map(TenantId::new))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read_worker(row: &Row<'_>) -> rusqlite::Result<WorkerRow> {
    let worker = WorkerInfo {
        name: row.get(0)?,
        host: row.get(1)?,
        pid: row.get(2)?,
        version: row.get(3)?,
        capacity: row.get::<_, i64>(4)? as u64,
        started_at: row.get(5)?,
    };
    let holds = row.get::<_, i64>(8)? as u64;
    Ok(WorkerRow {
        info: worker,
        seen_at: row.get(6)?,
        expires_at: row.get(7)?,
        lease_count: holds,
    })
}
