//! The statements for leases. Acquiring, renewing and releasing are idempotent, so they are retried
//! if their result is unknown.

use super::database::PostgresDatabase;
use super::pipeline::{SqlStatement, TenantScope};
use super::queries::{get_column, get_u64, run_key};
use super::settings::LeaseClock;
use crate::{Lease, RunId, StoreError};

/// Decides by `now`, the caller's clock or the server's; the lease lasts `$5` milliseconds from it.
const ACQUIRE_LEASE: &str = "WITH clock AS MATERIALIZED (
        SELECT coalesce($4::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now)
    UPDATE countersign.runs SET
        lease_epoch = lease_epoch + CASE WHEN lease_worker = $3 AND lease_until > now THEN 0 ELSE 1 END,
        lease_until = CASE WHEN lease_worker = $3 AND lease_until > now
            THEN greatest(lease_until, now + $5) ELSE now + $5 END,
        lease_deaths = CASE WHEN lease_worker = $3 AND lease_until > now THEN lease_deaths
            WHEN lease_version = version
                THEN lease_deaths + (lease_worker IS NOT NULL AND lease_worker <> $3)::int
            ELSE 0 END,
        lease_version = CASE WHEN lease_worker = $3 AND lease_until > now
            THEN lease_version ELSE version END,
        lease_worker = $3
    FROM clock
    WHERE tenant = $1 AND id = $2
        AND (lease_worker IS NULL OR lease_worker = $3 OR lease_until <= now)
        AND (lease_worker = $3 AND lease_until > now OR lease_version <> version
            OR lease_deaths + (lease_worker IS NOT NULL AND lease_worker <> $3)::int < 3)
    RETURNING lease_epoch, lease_until - now";
const RUN_EXISTS: &str = "SELECT FROM countersign.runs WHERE tenant = $1 AND id = $2";
const RELEASE: &str = "UPDATE countersign.runs SET lease_worker = NULL, lease_until = 0
    WHERE tenant = $1 AND id = $2 AND lease_worker = $3 AND lease_epoch = $4 RETURNING 1";
const EXPIRE: &str = "UPDATE countersign.runs SET lease_worker = NULL, lease_until = 0,
        lease_deaths = CASE WHEN lease_version = version THEN lease_deaths + 1 ELSE 0 END,
        lease_version = version
    WHERE tenant = $1 AND id = $2 AND lease_worker = $3 AND lease_epoch = $4 RETURNING 1";
/// Decides by `$3`, the caller's clock, or by the server's clock if `$3` is null.
const UNPARK: &str = "UPDATE countersign.runs
    SET lease_worker = NULL, lease_until = 0, lease_deaths = 0
    WHERE tenant = $1 AND id = $2 AND lease_version = version
        AND lease_deaths + (lease_worker IS NOT NULL)::int >= 3
        AND (lease_worker IS NULL OR lease_until
            <= coalesce($3::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint))
    RETURNING 1";
const SUSPEND_RUN: &str =
    "UPDATE countersign.runs SET lease_worker = NULL, lease_until = 0, lease_deaths = 0,
        wake_at = CASE WHEN version = $5 THEN $6 ELSE wake_at END
    WHERE tenant = $1 AND id = $2 AND lease_worker = $3 AND lease_epoch = $4
    RETURNING version = $5";

/// Acquires or renews a lease; `None` if neither is possible.
pub(super) async fn acquire_lease(
    db: &PostgresDatabase,
    run: &RunId,
    worker: &str,
    now: i64,
    until: i64,
) -> Result<Option<Lease>, StoreError> {
    let (tenant, id) = run_key(run);
    let by = (db.settings().clock == LeaseClock::Caller).then_some(now);
    let term = until.saturating_sub(now);
    let take = SqlStatement::new(ACQUIRE_LEASE)
        .bind_text(&tenant)
        .bind_text(&id)
        .bind_text(&worker)
        .bind_int8(&by)
        .bind_int8(&term);
    let exists = SqlStatement::new(RUN_EXISTS).bind_text(&tenant).bind_text(&id);
    let answers = db.execute_all(TenantScope::Tenant(tenant), &[take, exists]).await?;
    let [taken, known] = &answers[..] else { return Ok(None) };
    match (taken.first(), known.is_empty()) {
        (None, true) => Err(StoreError::NotFound { run: run.clone() }),
        (None, false) => Ok(None),
        (Some(row), _) => {
            let left: i64 = get_column(row, 1)?;
            Ok(Some(Lease {
                run: run.clone(),
                worker: worker.to_owned(),
                epoch: get_u64(row, 0)?,
                until: now.saturating_add(left),
            }))
        }
    }
}

/// Releases a lease; returns whether it was the current one.
pub(super) async fn release_lease(
    db: &PostgresDatabase,
    lease: &Lease,
) -> Result<bool, StoreError> {
    update_lease(db, lease, RELEASE).await
}

/// Expires a lease; returns whether it was the current one.
pub(super) async fn expire_lease(db: &PostgresDatabase, lease: &Lease) -> Result<bool, StoreError> {
    update_lease(db, lease, EXPIRE).await
}

/// Unparks a run; returns whether it was parked.
pub(super) async fn unpark_run(
    db: &PostgresDatabase,
    run: &RunId,
    now: i64,
) -> Result<bool, StoreError> {
    let (tenant, id) = run_key(run);
    let by = (db.settings().clock == LeaseClock::Caller).then_some(now);
    let unpark = SqlStatement::new(UNPARK).bind_text(&tenant).bind_text(&id).bind_int8(&by);
    let exists = SqlStatement::new(RUN_EXISTS).bind_text(&tenant).bind_text(&id);
    let answers = db.execute_all(TenantScope::Tenant(tenant), &[unpark, exists]).await?;
    let [unparked, known] = &answers[..] else { return Ok(false) };
    if known.is_empty() {
        return Err(StoreError::NotFound { run: run.clone() });
    }
    Ok(!unparked.is_empty())
}

async fn update_lease(
    db: &PostgresDatabase,
    lease: &Lease,
    sql: &'static str,
) -> Result<bool, StoreError> {
    let (tenant, id) = run_key(&lease.run);
    let epoch = lease.epoch as i64;
    let call = SqlStatement::new(sql)
        .bind_text(&tenant)
        .bind_text(&id)
        .bind_text(&lease.worker)
        .bind_int8(&epoch);
    let answers = db.execute_all(TenantScope::Tenant(tenant), &[call]).await?;
    Ok(answers.iter().any(|rows| !rows.is_empty()))
}

/// Suspends a run; returns whether it is suspended now.
pub(super) async fn suspend_run(
    db: &PostgresDatabase,
    lease: &Lease,
    version: u64,
    wake_at: Option<i64>,
) -> Result<bool, StoreError> {
    let (tenant, id) = run_key(&lease.run);
    let (epoch, version) = (lease.epoch as i64, version as i64);
    let call = SqlStatement::new(SUSPEND_RUN)
        .bind_text(&tenant)
        .bind_text(&id)
        .bind_text(&lease.worker)
        .bind_int8(&epoch);
    let call = call.bind_int8(&version).bind_int8(&wake_at);
    let answers = db.execute_all(TenantScope::Tenant(tenant), &[call]).await?;
    answers.iter().flatten().next().map_or(Ok(false), |row| get_column(row, 0))
}
