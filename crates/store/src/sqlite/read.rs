//! The statements that read. Each question names its tenant; what workers ask is `due` and `workers`.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::log::Log;
use super::outstanding::unpack;
use crate::lease::Tenure;
use crate::prefix::past;
use crate::{
    ActionRow, EntryRow, Head, Loaded, RESOLVE_LIMIT, RunFilter, RunId, Seal, StoreError, TenantId,
    WaitFilter, WaitRow,
};

const HEAD: &str = "SELECT tenant, id, protocol, workflow, created_at, version, seq, hash, status,
        phase, updated_at, summary, wake_at, lease_worker, lease_epoch, lease_until,
        pruned_at, seal, lease_version, lease_deaths
    FROM runs WHERE tenant = ?1 AND id = ?2";
/// The cursor is always given: where the list begins, it is one before the newest run.
const RUNS: &str = "SELECT tenant, id, protocol, workflow, created_at, version, seq, hash, status,
        phase, updated_at, summary, wake_at, lease_worker, lease_epoch, lease_until,
        pruned_at, seal, lease_version, lease_deaths
    FROM runs
    WHERE tenant = ?1 AND (created_at, id) < (?2, ?3)
        AND (?4 IS NULL OR status = ?4) AND (?5 IS NULL OR phase = ?5)
        AND (?6 IS NULL OR workflow = ?6) AND (?7 IS NULL OR protocol = ?7)
    ORDER BY created_at DESC, id DESC LIMIT ?8";
/// `lease_deaths >= 2` stands in an index: the holder of a lease that is over is the third.
const PARKED: &str =
    "SELECT tenant, id, protocol, workflow, created_at, version, seq, hash, status,
        phase, updated_at, summary, wake_at, lease_worker, lease_epoch, lease_until,
        pruned_at, seal, lease_version, lease_deaths
    FROM runs WHERE tenant = ?1 AND lease_deaths >= 2 AND lease_version = version
        AND lease_deaths + (lease_worker IS NOT NULL) >= 3
        AND (lease_worker IS NULL OR lease_until <= ?2)
    ORDER BY id LIMIT ?3";
const WAITS: &str = "SELECT tenant, run, id, kind, opened_at, deadline, who, body FROM waits
    WHERE tenant = ?1
        AND (ifnull(deadline, 9223372036854775807), opened_at, run, id) > (?2, ?3, ?4, ?5)
        AND ?6 IS NULL AND (?7 IS NULL OR kind = ?7)
        AND (?8 IS NULL OR who IS NULL OR who = ?8)
    ORDER BY ifnull(deadline, 9223372036854775807), opened_at, run, id LIMIT ?9";
/// `WAITS` for one run, whose waits lie together and are few.
const WAITS_OF_RUN: &str = "SELECT tenant, run, id, kind, opened_at, deadline, who, body FROM waits
    WHERE tenant = ?1
        AND (ifnull(+deadline, 9223372036854775807), opened_at, run, id) > (?2, ?3, ?4, ?5)
        AND run = ?6 AND (?7 IS NULL OR kind = ?7)
        AND (?8 IS NULL OR who IS NULL OR who = ?8)
    ORDER BY ifnull(+deadline, 9223372036854775807), opened_at, run, id LIMIT ?9";
const ACTIONS: &str = "SELECT actions FROM runs WHERE tenant = ?1 AND id = ?2";
const KEYED: &str = "SELECT version FROM keys WHERE tenant = ?1 AND run = ?2 AND key = ?3";
const KEYS: &str = "SELECT key, version FROM keys WHERE tenant = ?1 AND run = ?2 ORDER BY key";
const BLOB: &str = "SELECT bytes FROM blobs WHERE tenant = ?1 AND digest = ?2";
const PROTOCOL: &str = "SELECT text FROM protocols WHERE tenant = ?1 AND digest = ?2";
const STARTING: &str = "SELECT tenant, id FROM runs WHERE tenant = ?1 AND id >= ?2
    AND (?3 IS NULL OR id < ?3) ORDER BY id LIMIT ?4";

pub(super) fn head(db: &Connection, run: &RunId) -> Result<Option<Head>, StoreError> {
    Ok(db.prepare_cached(HEAD)?.query_row(key(run), read_head).optional()?)
}

pub(super) fn load(
    db: &Connection,
    run: &RunId,
    at: Option<u64>,
) -> Result<Option<Loaded>, StoreError> {
    let Some(head) = head(db, run)? else { return Ok(None) };
    let version = at.unwrap_or(head.version);
    if !(1..=head.version).contains(&version) {
        return Ok(None);
    }
    let Some(log) = Log::of(db, run)? else { return Ok(None) };
    let snapshot = log.snapshot(version)?;
    let covered = snapshot.as_ref().map_or(0, |snapshot| snapshot.version);
    let entries = log.between(covered, version)?;
    Ok(Some(Loaded { head, version, snapshot, entries }))
}

pub(super) fn log(
    db: &Connection,
    run: &RunId,
    after_version: u64,
    limit: usize,
) -> Result<Vec<EntryRow>, StoreError> {
    let Some(log) = Log::of(db, run)? else { return Ok(Vec::new()) };
    log.between(after_version, after_version.saturating_add(limit as u64))
}

pub(super) fn runs(db: &Connection, filter: &RunFilter) -> Result<Vec<Head>, StoreError> {
    let RunFilter { tenant, status, phase, workflow, protocol, after, limit } = filter;
    let (created_at, id) = match after {
        Some(after) => (after.created_at, Value::Text(after.id.clone())),
        // To SQLite every blob comes after every text.
        None => (i64::MAX, Value::Blob(Vec::new())),
    };
    let mut statement = db.prepare_cached(RUNS)?;
    let owner = tenant.as_str();
    let wanted = params![owner, created_at, id, status, phase, workflow, protocol, count(*limit)];
    let rows = statement.query_map(wanted, read_head)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn parked(
    db: &Connection,
    tenant: &TenantId,
    now: i64,
    limit: usize,
) -> Result<Vec<Head>, StoreError> {
    let mut statement = db.prepare_cached(PARKED)?;
    let rows = statement.query_map(params![tenant.as_str(), now, count(limit)], read_head)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn waits(db: &Connection, filter: &WaitFilter) -> Result<Vec<WaitRow>, StoreError> {
    let WaitFilter { tenant, run, kind, who, after, limit } = filter;
    let (deadline, opened_at, after_run, after_id) = match after {
        Some(after) => (after.deadline, after.opened_at, after.run.as_str(), after.id.as_str()),
        None => (i64::MIN, i64::MIN, "", ""),
    };
    let sql = if run.is_some() { WAITS_OF_RUN } else { WAITS };
    let mut statement = db.prepare_cached(sql)?;
    let owner = tenant.as_str();
    let wanted =
        params![owner, deadline, opened_at, after_run, after_id, run, kind, who, count(*limit)];
    let rows = statement.query_map(wanted, |row| {
        let tenant = TenantId::new(row.get::<_, String>(0)?);
        Ok(WaitRow {
            run: RunId::new(tenant, row.get::<_, String>(1)?),
            id: row.get(2)?,
            kind: row.get(3)?,
            opened_at: row.get(4)?,
            deadline: row.get(5)?,
            who: row.get(6)?,
            body: row.get(7)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn actions(db: &Connection, run: &RunId) -> Result<Vec<ActionRow>, StoreError> {
    let mut statement = db.prepare_cached(ACTIONS)?;
    let packed = statement.query_row(key(run), |row| row.get::<_, String>(0)).optional()?;
    unpack(&packed.unwrap_or_default())
}

pub(super) fn keys(db: &Connection, run: &RunId) -> Result<Vec<(String, u64)>, StoreError> {
    let mut statement = db.prepare_cached(KEYS)?;
    let rows =
        statement.query_map(key(run), |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn keyed(db: &Connection, run: &RunId, input: &str) -> Result<Option<u64>, StoreError> {
    let (tenant, id) = key(run);
    let mut statement = db.prepare_cached(KEYED)?;
    let version = statement.query_row((tenant, id, input), |row| row.get::<_, i64>(0));
    Ok(version.optional()?.map(|version| version as u64))
}

pub(super) fn blob(
    db: &Connection,
    tenant: &TenantId,
    digest: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    let mut statement = db.prepare_cached(BLOB)?;
    Ok(statement.query_row((tenant.as_str(), digest), |row| row.get(0)).optional()?)
}

pub(super) fn protocol(
    db: &Connection,
    tenant: &TenantId,
    digest: &str,
) -> Result<Option<String>, StoreError> {
    let mut statement = db.prepare_cached(PROTOCOL)?;
    Ok(statement.query_row((tenant.as_str(), digest), |row| row.get(0)).optional()?)
}

pub(super) fn resolve(
    db: &Connection,
    tenant: &TenantId,
    prefix: &str,
) -> Result<Vec<RunId>, StoreError> {
    let mut statement = db.prepare_cached(STARTING)?;
    let wanted = params![tenant.as_str(), prefix, past(prefix), count(RESOLVE_LIMIT)];
    let rows = statement.query_map(wanted, read_id)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn key(run: &RunId) -> (&str, &str) {
    (run.tenant.as_str(), &run.id)
}

fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn read_id(row: &Row<'_>) -> rusqlite::Result<RunId> {
    let tenant = TenantId::new(row.get::<_, String>(0)?);
    Ok(RunId::new(tenant, row.get::<_, String>(1)?))
}

fn read_head(row: &Row<'_>) -> rusqlite::Result<Head> {
    let run = read_id(row)?;
    let number = |at: usize| Ok::<_, rusqlite::Error>(row.get::<_, i64>(at)? as u64);
    let tenure = Tenure {
        worker: row.get(13)?,
        epoch: number(14)?,
        until: row.get(15)?,
        version: number(18)?,
        deaths: number(19)?,
    };
    Ok(Head {
        lease: tenure.lease(&run),
        deaths: tenure.deaths_at(number(5)?, false),
        run,
        protocol: row.get(2)?,
        workflow: row.get(3)?,
        created_at: row.get(4)?,
        version: row.get::<_, i64>(5)? as u64,
        seq: row.get::<_, i64>(6)? as u64,
        hash: row.get(7)?,
        status: row.get(8)?,
        phase: row.get(9)?,
        updated_at: row.get(10)?,
        summary: row.get(11)?,
        wake_at: row.get(12)?,
        pruned: match row.get(16)? {
            Some(at) => Some(Seal { at, digest: row.get(17)? }),
            None => None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::migrate::plan;

    #[test]
    fn no_question_reads_a_whole_table_or_sorts_a_long_list() {
        for sql in [HEAD, RUNS, PARKED, ACTIONS, WAITS, KEYED, KEYS, BLOB, PROTOCOL, STARTING] {
            let steps = plan(sql);
            let sound = |step: &String| step.starts_with("SEARCH") || step.starts_with("SCALAR");
            assert!(steps.iter().all(sound), "{sql}: {steps:?}");
        }
        for sql in crate::sqlite::log::QUESTIONS {
            assert!(
                plan(sql).iter().all(|step| step.starts_with("SEARCH")),
                "{sql}: {:?}",
                plan(sql)
            );
        }
        // This sorts what one run has open.
        let plan_of_run = plan(WAITS_OF_RUN);
        assert!(plan_of_run[0].contains("(tenant=? AND run=?)"), "{plan_of_run:?}");
    }
}
