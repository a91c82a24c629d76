//! The statements for workers: acquiring due runs, listing leases, and heartbeats. Only these read
//! across tenants.

use tokio_postgres::types::Type;

use super::database::PostgresDatabase;
use super::pipeline::{SqlStatement, TenantScope};
use super::queries::{get_column, get_u64, limit_to_i64, read_run_id};
use super::settings::LeaseClock;
use crate::worker::LOST_WORKER_RETENTION_MS;
use crate::{DueRunsRequest, Lease, StoreError, TenantId, WorkerInfo, WorkerRow};

/// `$1` is the caller's time, or null to use the server's clock.
macro_rules! clock {
    () => {
        "WITH clock AS MATERIALIZED (
            SELECT coalesce($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now) "
    };
}

pub(super) const ACQUIRE_DUE_RUNS: &str =
    "SELECT tenant, id, epoch FROM countersign.acquire_1($1, $2, $3, $4, $5, $6, $7, $8)";
pub(super) const LEASES: &str = concat!(
    clock!(),
    "SELECT tenant, id, lease_worker, lease_epoch, lease_until - now FROM countersign.runs, clock
    WHERE lease_worker IS NOT NULL AND lease_until > now ORDER BY tenant, id LIMIT $2"
);
const HEARTBEAT: &str = concat!(
    clock!(),
    "INSERT INTO countersign.workers
        SELECT $2, $3, $4, $5, $6, $7, now, now + $8 FROM clock
    ON CONFLICT (name) DO UPDATE SET host = excluded.host, pid = excluded.pid,
        version = excluded.version, capacity = excluded.capacity, started_at = excluded.started_at,
        seen_at = excluded.seen_at, expires_at = excluded.expires_at"
);
const DELETE_LOST_WORKERS: &str =
    concat!(clock!(), "DELETE FROM countersign.workers USING clock WHERE expires_at <= now - $2");
/// Steps from one tenant to the next through the index, however many runs each tenant has.
const TENANTS: &str = "WITH RECURSIVE tenants AS (
        (SELECT tenant FROM countersign.runs ORDER BY tenant LIMIT 1)
        UNION ALL
        SELECT (SELECT r.tenant FROM countersign.runs r WHERE r.tenant > t.tenant
            ORDER BY r.tenant LIMIT 1)
        FROM tenants t WHERE t.tenant IS NOT NULL)
    SELECT tenant FROM tenants WHERE tenant IS NOT NULL";
const DELETE_WORKER: &str = "DELETE FROM countersign.workers WHERE name = $1";
const WORKERS: &str = concat!(
    clock!(),
    ", holding AS (SELECT lease_worker, count(*) AS holds FROM countersign.runs, clock
        WHERE lease_worker IS NOT NULL AND lease_until > now GROUP BY lease_worker)
    SELECT name, host, pid, version, capacity, started_at, seen_at - now, expires_at - now,
        coalesce(holds, 0)
    FROM countersign.workers CROSS JOIN clock LEFT JOIN holding ON lease_worker = name
    ORDER BY name"
);

/// Acquires due runs, one tenant after the other.
pub(super) async fn acquire_due_runs(
    db: &PostgresDatabase,
    taking: &DueRunsRequest,
    last: Option<&TenantId>,
) -> Result<Vec<Lease>, StoreError> {
    let DueRunsRequest { worker, now, until, limit, per_tenant, tenants } = taking;
    let (by, term, most) =
        (caller_time(db, *now), until.saturating_sub(*now), limit_to_i64(*limit));
    let share = (*per_tenant != usize::MAX).then(|| limit_to_i64(*per_tenant));
    let last = last.map(TenantId::as_str);
    let only: Vec<&str> = tenants.iter().map(TenantId::as_str).collect();
    let call = SqlStatement::new(ACQUIRE_DUE_RUNS)
        .bind_text(worker)
        .bind_int8(now)
        .bind_int8(&by)
        .bind_int8(&term);
    let call = call.bind_int8(&most).bind_int8(&share).bind_text(&last);
    let call = call.bind(&only, Type::TEXT_ARRAY);
    let answers = db.execute_all(TenantScope::AllTenants, &[call]).await?;
    let lease = |row| {
        let (run, epoch) = (read_run_id(row)?, get_u64(row, 2)?);
        Ok(Lease { run, worker: worker.clone(), epoch, until: *until })
    };
    answers.iter().flatten().map(lease).collect()
}

pub(super) async fn list_leases(
    db: &PostgresDatabase,
    now: i64,
    limit: usize,
) -> Result<Vec<Lease>, StoreError> {
    let (by, most) = (caller_time(db, now), limit_to_i64(limit));
    let answers = db
        .query_all(
            TenantScope::AllTenants,
            &[SqlStatement::new(LEASES).bind_int8(&by).bind_int8(&most)],
        )
        .await?;
    let lease = |row| {
        let left: i64 = get_column(row, 4)?;
        let until = now.saturating_add(left);
        Ok(Lease {
            run: read_run_id(row)?,
            worker: get_column(row, 2)?,
            epoch: get_u64(row, 3)?,
            until,
        })
    };
    answers.iter().flatten().map(lease).collect()
}

pub(super) async fn record_heartbeat(
    db: &PostgresDatabase,
    worker: &WorkerInfo,
    now: i64,
    until: i64,
) -> Result<(), StoreError> {
    let WorkerInfo { name, host, pid, version, capacity, started_at } = worker;
    let (by, term) = (caller_time(db, now), until.saturating_sub(now));
    let (pid, capacity) = (i64::from(*pid), *capacity as i64);
    let tidy =
        SqlStatement::new(DELETE_LOST_WORKERS).bind_int8(&by).bind_int8(&LOST_WORKER_RETENTION_MS);
    let there = SqlStatement::new(HEARTBEAT)
        .bind_int8(&by)
        .bind_text(name)
        .bind_text(host)
        .bind_int8(&pid)
        .bind_text(version);
    let there = there.bind_int8(&capacity).bind_int8(started_at).bind_int8(&term);
    db.execute_all(TenantScope::AllTenants, &[tidy, there]).await.map(|_| ())
}

pub(super) async fn remove_worker(db: &PostgresDatabase, name: &str) -> Result<(), StoreError> {
    db.execute_all(TenantScope::AllTenants, &[SqlStatement::new(DELETE_WORKER).bind_text(&name)])
        .await
        .map(|_| ())
}

pub(super) async fn list_workers(
    db: &PostgresDatabase,
    now: i64,
) -> Result<Vec<WorkerRow>, StoreError> {
    let by = caller_time(db, now);
    let answers =
        db.query_all(TenantScope::AllTenants, &[SqlStatement::new(WORKERS).bind_int8(&by)]).await?;
    let read = |row| {
        let worker = WorkerInfo {
            name: get_column(row, 0)?,
            host: get_column(row, 1)?,
            pid: get_column::<i64>(row, 2)? as u32,
            version: get_column(row, 3)?,
            capacity: get_u64(row, 4)?,
            started_at: get_column(row, 5)?,
        };
        // Times are returned in the caller's clock.
        let (seen, until): (i64, i64) = (get_column(row, 6)?, get_column(row, 7)?);
        let (seen_at, until) = (now.saturating_add(seen), now.saturating_add(until));
        Ok(WorkerRow { info: worker, seen_at, expires_at: until, lease_count: get_u64(row, 8)? })
    };
    answers.iter().flatten().map(read).collect()
}

pub(super) async fn list_tenants(db: &PostgresDatabase) -> Result<Vec<TenantId>, StoreError> {
    let answers = db.query_all(TenantScope::AllTenants, &[SqlStatement::new(TENANTS)]).await?;
    let read = |row| Ok(TenantId::new(get_column::<String>(row, 0)?));
    answers.iter().flatten().map(read).collect()
}

fn caller_time(db: &PostgresDatabase, now: i64) -> Option<i64> {
    (db.settings().clock == LeaseClock::Caller).then_some(now)
}
