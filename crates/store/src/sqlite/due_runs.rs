//! Selects the due runs that a worker acquires. Reads only runs that are due, held or requested,
//! however many runs wait.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::round_robin::{DueRunsByTenant, select_round_robin};
use crate::{DueRunsRequest, RunId, StoreError, TenantId};

// The statements skip parked runs, on which too many workers ended (`MAX_WORKER_DEATHS`, the 3
// below).

/// Maximum number of due runs that are read in order of their wake time; if there are more, tenants
/// are read one by one, so that a tenant with many runs does not hide the others.
const SCAN_LIMIT: usize = 256;

pub(super) const ANY_DUE: &str = "SELECT 1 FROM runs WHERE wake_at IS NOT NULL AND wake_at <= ?1
    AND (lease_worker IS NULL OR lease_until <= ?1) AND (lease_version <> version
        OR lease_deaths + (lease_worker IS NOT NULL AND lease_worker <> ?2) < 3)
    ORDER BY wake_at LIMIT 1";
pub(super) const FIRST_DUE: &str =
    "SELECT tenant, id FROM runs WHERE wake_at IS NOT NULL AND wake_at <= ?1
    AND (lease_worker IS NULL OR lease_until <= ?1) AND (lease_version <> version
        OR lease_deaths + (lease_worker IS NOT NULL AND lease_worker <> ?3) < 3)
    ORDER BY wake_at, tenant, id LIMIT ?2";
pub(super) const NEXT_TENANT: &str =
    "SELECT tenant FROM runs WHERE wake_at IS NOT NULL AND tenant > ?1
    ORDER BY tenant LIMIT 1";
pub(super) const DUE_OF_TENANT: &str = "SELECT tenant, id FROM runs
    WHERE wake_at IS NOT NULL AND tenant = ?1 AND wake_at <= ?2
    AND (lease_worker IS NULL OR lease_until <= ?2) AND (lease_version <> version
        OR lease_deaths + (lease_worker IS NOT NULL AND lease_worker <> ?4) < 3)
    ORDER BY wake_at, id LIMIT ?3";
pub(super) const LEASE_COUNT_OF_TENANT: &str = "SELECT count(*) FROM runs
    WHERE tenant = ?1 AND lease_worker IS NOT NULL AND lease_until > ?2";

/// Whether any run can be acquired.
pub(super) fn has_due_runs(db: &Connection, taking: &DueRunsRequest) -> Result<bool, StoreError> {
    if taking.tenants.is_empty() {
        let mut statement = db.prepare_cached(ANY_DUE)?;
        return Ok(statement
            .query_row((taking.now, &taking.worker), |_| Ok(()))
            .optional()?
            .is_some());
    }
    for tenant in &taking.tenants {
        if !query_run_ids(
            db,
            DUE_OF_TENANT,
            params![tenant.as_str(), taking.now, 1, taking.worker],
        )?
        .is_empty()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Selects the runs that a worker acquires.
pub(super) fn select_due_runs(
    db: &Connection,
    taking: &DueRunsRequest,
    last: Option<&TenantId>,
) -> Result<Vec<RunId>, StoreError> {
    let mut due = DueRunsByTenant::new();
    if !taking.tenants.is_empty() {
        for tenant in &taking.tenants {
            collect_tenant_runs(db, taking, tenant, &mut due)?;
        }
        return Ok(select_round_robin(due, last, taking.limit));
    }
    let first =
        query_run_ids(db, FIRST_DUE, params![taking.now, SCAN_LIMIT as i64, taking.worker])?;
    if first.len() < SCAN_LIMIT {
        for run in first {
            due.entry(run.tenant).or_default().push_back(run.id);
        }
        for (tenant, runs) in &mut due {
            runs.truncate(remaining_quota(db, tenant, taking)?);
        }
    } else {
        collect_by_tenant(db, taking, last, &mut due)?;
    }
    Ok(select_round_robin(due, last, taking.limit))
}

/// Reads one tenant after the other, starting with the tenant whose turn it is, until enough of
/// them have due runs.
fn collect_by_tenant(
    db: &Connection,
    taking: &DueRunsRequest,
    last: Option<&TenantId>,
    due: &mut DueRunsByTenant,
) -> Result<(), StoreError> {
    let begin = last.map_or("", TenantId::as_str);
    let mut at = begin.to_owned();
    let mut wrapped = false;
    while due.len() < taking.limit {
        let mut statement = db.prepare_cached(NEXT_TENANT)?;
        let next: Option<String> = statement.query_row([&at], |row| row.get(0)).optional()?;
        match next {
            Some(next) if !wrapped || next.as_str() <= begin => at = next,
            None if !wrapped => {
                (wrapped, at) = (true, String::new());
                continue;
            }
            _ => return Ok(()),
        }
        collect_tenant_runs(db, taking, &TenantId::new(at.as_str()), due)?;
    }
    Ok(())
}

/// Collects the due runs of one tenant, up to its remaining quota.
fn collect_tenant_runs(
    db: &Connection,
    taking: &DueRunsRequest,
    tenant: &TenantId,
    due: &mut DueRunsByTenant,
) -> Result<(), StoreError> {
    let most = remaining_quota(db, tenant, taking)?.min(taking.limit);
    let runs = query_run_ids(
        db,
        DUE_OF_TENANT,
        params![tenant.as_str(), taking.now, most as i64, taking.worker],
    )?;
    if !runs.is_empty() {
        due.insert(tenant.clone(), runs.into_iter().map(|run| run.id).collect());
    }
    Ok(())
}

/// Number of further runs of a tenant that may be held.
fn remaining_quota(
    db: &Connection,
    tenant: &TenantId,
    taking: &DueRunsRequest,
) -> Result<usize, StoreError> {
    if taking.per_tenant == usize::MAX {
        return Ok(usize::MAX);
    }
    let mut statement = db.prepare_cached(LEASE_COUNT_OF_TENANT)?;
    let held: i64 = statement.query_row((tenant.as_str(), taking.now), |row| row.get(0))?;
    Ok(taking.per_tenant.saturating_sub(held as usize))
}

fn query_run_ids(
    db: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<RunId>, StoreError> {
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params, read_run_id)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read_run_id(row: &Row<'_>) -> rusqlite::Result<RunId> {
    let tenant = TenantId::new(row.get::<_, String>(0)?);
    Ok(RunId::new(tenant, row.get::<_, String>(1)?))
}
