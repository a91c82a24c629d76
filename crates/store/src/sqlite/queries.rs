//! The statements that read. Each statement names its tenant; the statements for workers are in
//! `due_runs` and `workers`.

use std::collections::BTreeSet;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::action_codec::decode_actions;
use super::run_log::SqliteRunLog;
use super::run_search;
use crate::lease::LeaseState;
use crate::prefix::prefix_upper_bound;
use crate::run_stats::RunFigures;
use crate::wait::{decode_assignees, enclose_assignee};
use crate::{
    ActionRow, ChildRunFilter, LoadedRun, LogEntryRow, PruneSeal, RESOLVE_LIMIT, RunFilter,
    RunHead, RunId, RunStats, RunStatsFilter, StoreError, TenantId, WaitFilter, WaitRow,
};

/// `SQLite` sorts every blob after every text.
const AFTER_ALL_TEXT: Value = Value::Blob(Vec::new());

macro_rules! head_columns {
    () => {
        "SELECT runs.tenant, runs.id, protocol, workflow, runs.created_at, version, seq, hash,
            status, phase, updated_at, summary, wake_at, lease_worker, lease_epoch, lease_until,
            pruned_at, seal, lease_version, lease_deaths, protocol_version, started_by, parent,
            title, asks, ended_at, input_tokens, output_tokens, cost "
    };
}
pub(super) const HEAD: &str = concat!(head_columns!(), "FROM runs WHERE tenant = ?1 AND id = ?2");
/// The cursor is always bound: at the start of the list it is a position before the newest run.
/// One statement for each index: a condition that may be absent cannot select one. The index is
/// named, because two bounds on the creation time look more selective than a status.
macro_rules! list_runs_where {
    ($index:literal, $condition:literal) => {
        concat!(
            head_columns!(),
            "FROM runs INDEXED BY ",
            $index,
            " WHERE tenant = ?1 AND (created_at, id) < (?2, ?3) AND created_at >= ?10 AND ",
            $condition,
            " AND (?5 IS NULL OR phase = ?5) AND (?7 IS NULL OR protocol = ?7)
                AND (?9 IS NULL OR protocol_version = ?9)
            ORDER BY created_at DESC, id DESC LIMIT ?8"
        )
    };
}
pub(super) const RUNS: &str =
    list_runs_where!("runs_newest", "?4 IS NULL AND ?6 IS NULL AND ?11 IS NULL");
pub(super) const RUNS_BY_STATUS: &str = list_runs_where!(
    "runs_status",
    "status = ?4 AND (?6 IS NULL OR +workflow = ?6) AND (?11 IS NULL OR +started_by = ?11)"
);
pub(super) const RUNS_BY_WORKFLOW: &str = list_runs_where!(
    "runs_workflow",
    "workflow = ?6 AND ?4 IS NULL AND (?11 IS NULL OR +started_by = ?11)"
);
pub(super) const RUNS_BY_STARTER: &str =
    list_runs_where!("runs_starter", "started_by = ?11 AND ?4 IS NULL AND ?6 IS NULL");
/// `?12` is the rarest word, `?13` the others.
pub(super) const RUNS_BY_TERMS: &str = concat!(
    head_columns!(),
    "FROM run_terms AS hit CROSS JOIN runs ON runs.tenant = hit.tenant AND runs.id = hit.run
    WHERE hit.tenant = ?1 AND hit.term = ?12 AND (hit.created_at, hit.run) < (?2, ?3)
        AND hit.created_at >= ?10
        AND NOT EXISTS (SELECT 1 FROM json_each(?13) AS other WHERE NOT EXISTS (
            SELECT 1 FROM run_terms AS also WHERE also.tenant = ?1 AND also.term = other.value
                AND also.created_at = hit.created_at AND also.run = hit.run))
        AND (?4 IS NULL OR +status = ?4) AND (?6 IS NULL OR +workflow = ?6)
        AND (?11 IS NULL OR +started_by = ?11)
        AND (?5 IS NULL OR phase = ?5) AND (?7 IS NULL OR protocol = ?7)
        AND (?9 IS NULL OR protocol_version = ?9)
    ORDER BY hit.created_at DESC, hit.run DESC LIMIT ?8"
);
/// The children of one parent.
pub(super) const CHILDREN: &str = concat!(
    head_columns!(),
    "FROM runs WHERE tenant = ?1 AND parent = ?2 ORDER BY created_at, id LIMIT ?3"
);
pub(super) const OPEN_CHILDREN: &str = concat!(
    head_columns!(),
    "FROM runs WHERE tenant = ?1 AND parent = ?2 AND ended_at IS NULL
    ORDER BY created_at, id LIMIT ?3"
);
pub(super) const FIGURES: &str =
    "SELECT created_at, workflow, status, ended_at, input_tokens, output_tokens, cost
    FROM runs INDEXED BY runs_newest
    WHERE tenant = ?1 AND created_at >= ?2 AND created_at < ?3 AND ?4 IS NULL
    ORDER BY created_at DESC, id DESC LIMIT ?5";
pub(super) const FIGURES_BY_WORKFLOW: &str =
    "SELECT created_at, workflow, status, ended_at, input_tokens, output_tokens, cost
    FROM runs INDEXED BY runs_workflow
    WHERE tenant = ?1 AND created_at >= ?2 AND created_at < ?3 AND workflow = ?4
    ORDER BY created_at DESC, id DESC LIMIT ?5";
/// `lease_deaths >= 2` is the condition of an index: the holder of an expired lease is the third.
pub(super) const PARKED: &str = concat!(
    head_columns!(),
    "FROM runs WHERE tenant = ?1 AND lease_deaths >= 2 AND lease_version = version
        AND lease_deaths + (lease_worker IS NOT NULL) >= 3
        AND (lease_worker IS NULL OR lease_until <= ?2)
    ORDER BY id LIMIT ?3"
);
pub(super) const WAITS: &str =
    "SELECT tenant, run, id, kind, opened_at, deadline, who, body FROM waits
    WHERE tenant = ?1
        AND (ifnull(deadline, 9223372036854775807), opened_at, run, id) > (?2, ?3, ?4, ?5)
        AND ?6 IS NULL AND (?7 IS NULL OR kind = ?7)
        AND (?8 IS NULL OR who IS NULL OR EXISTS (
            SELECT 1 FROM json_each(?8) AS one WHERE instr(waits.who, one.value) > 0))
    ORDER BY ifnull(deadline, 9223372036854775807), opened_at, run, id LIMIT ?9";
/// `WAITS` for one run, whose waits are stored together and are few.
pub(super) const WAITS_OF_RUN: &str =
    "SELECT tenant, run, id, kind, opened_at, deadline, who, body FROM waits
    WHERE tenant = ?1
        AND (ifnull(+deadline, 9223372036854775807), opened_at, run, id) > (?2, ?3, ?4, ?5)
        AND run = ?6 AND (?7 IS NULL OR kind = ?7)
        AND (?8 IS NULL OR who IS NULL OR EXISTS (
            SELECT 1 FROM json_each(?8) AS one WHERE instr(waits.who, one.value) > 0))
    ORDER BY ifnull(+deadline, 9223372036854775807), opened_at, run, id LIMIT ?9";
pub(super) const ACTIONS: &str = "SELECT actions FROM runs WHERE tenant = ?1 AND id = ?2";
pub(super) const KEY_VERSION: &str =
    "SELECT version FROM keys WHERE tenant = ?1 AND run = ?2 AND key = ?3";
pub(super) const KEYS: &str =
    "SELECT key, version FROM keys WHERE tenant = ?1 AND run = ?2 ORDER BY key";
pub(super) const BLOB: &str = "SELECT bytes FROM blobs WHERE tenant = ?1 AND digest = ?2";
pub(super) const PROTOCOL: &str = "SELECT text FROM protocols WHERE tenant = ?1 AND digest = ?2";
pub(super) const RUNS_BY_PREFIX: &str = "SELECT tenant, id FROM runs
    WHERE tenant = ?1 AND id >= ?2 AND id < ?3 ORDER BY id LIMIT ?4";

pub(super) fn load_head(db: &Connection, run: &RunId) -> Result<Option<RunHead>, StoreError> {
    Ok(db.prepare_cached(HEAD)?.query_row(run_key(run), read_head).optional()?)
}

pub(super) fn load_run(
    db: &Connection,
    run: &RunId,
    at: Option<u64>,
) -> Result<Option<LoadedRun>, StoreError> {
    let Some(head) = load_head(db, run)? else { return Ok(None) };
    let version = at.unwrap_or(head.version);
    if !(1..=head.version).contains(&version) {
        return Ok(None);
    }
    let Some(log) = SqliteRunLog::open(db, run)? else { return Ok(None) };
    let snapshot = log.find_snapshot(version)?;
    let covered = snapshot.as_ref().map_or(0, |snapshot| snapshot.version);
    let entries = log.read_entries(covered, version)?;
    Ok(Some(LoadedRun { head, version, snapshot, entries }))
}

pub(super) fn read_log(
    db: &Connection,
    run: &RunId,
    after_version: u64,
    limit: usize,
) -> Result<Vec<LogEntryRow>, StoreError> {
    let Some(log) = SqliteRunLog::open(db, run)? else { return Ok(Vec::new()) };
    log.read_entries(after_version, after_version.saturating_add(limit as u64))
}

pub(super) fn list_runs(db: &Connection, filter: &RunFilter) -> Result<Vec<RunHead>, StoreError> {
    let RunFilter { tenant, status, phase, workflow, protocol, terms, limit, .. } = filter;
    let (created_at, id) = match filter.start_cursor() {
        Some(after) => (after.created_at, Value::Text(after.id)),
        None => (i64::MAX, AFTER_ALL_TEXT),
    };
    let (version, since) = (&filter.protocol_version, filter.since.unwrap_or(i64::MIN));
    let starter = &filter.started_by;
    let sql = match (status, workflow, starter) {
        _ if !terms.is_empty() => RUNS_BY_TERMS,
        (Some(_), _, _) => RUNS_BY_STATUS,
        (None, Some(_), _) => RUNS_BY_WORKFLOW,
        (None, None, Some(_)) => RUNS_BY_STARTER,
        (None, None, None) => RUNS,
    };
    let limit = limit_to_i64(*limit);
    let mut wanted: Vec<&dyn ToSql> = Vec::with_capacity(13);
    let owner = tenant.as_str();
    wanted.extend([&owner as &dyn ToSql, &created_at, &id, status, phase, workflow, protocol]);
    wanted.extend([&limit as &dyn ToSql, version, &since, starter]);
    let ordered = run_search::order_terms(db, tenant, terms)?;
    let (rarest, others) = match ordered.split_first() {
        Some((rarest, others)) => (rarest.clone(), serde_json::json!(others).to_string()),
        None => Default::default(),
    };
    if !terms.is_empty() {
        wanted.extend([&rarest as &dyn ToSql, &others]);
    }
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(&wanted[..], read_head)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn list_child_runs(
    db: &Connection,
    filter: &ChildRunFilter,
) -> Result<Vec<RunHead>, StoreError> {
    let ChildRunFilter { tenant, parents, open_only, limit } = filter;
    let mut statement = db.prepare_cached(if *open_only { OPEN_CHILDREN } else { CHILDREN })?;
    let mut listed = Vec::new();
    for parent in parents.iter().collect::<BTreeSet<_>>() {
        let wanted = params![tenant.as_str(), parent, limit_to_i64(*limit)];
        for head in statement.query_map(wanted, read_head)? {
            listed.push(head?);
        }
    }
    Ok(listed)
}

pub(super) fn read_run_stats(
    db: &Connection,
    filter: &RunStatsFilter,
) -> Result<RunStats, StoreError> {
    let RunStatsFilter { tenant, since, until, workflow, .. } = filter;
    let sql = if workflow.is_some() { FIGURES_BY_WORKFLOW } else { FIGURES };
    let mut statement = db.prepare_cached(sql)?;
    let limit = limit_to_i64(filter.read_limit());
    let rows =
        statement.query_map(params![tenant.as_str(), since, until, workflow, limit], |row| {
            Ok(RunFigures {
                created_at: row.get(0)?,
                workflow: row.get(1)?,
                status: row.get(2)?,
                ended_at: row.get(3)?,
                input_tokens: row.get::<_, i64>(4)? as u64,
                output_tokens: row.get::<_, i64>(5)? as u64,
                cost: row.get::<_, i64>(6)? as u64,
            })
        })?;
    let figures: Vec<RunFigures> = rows.collect::<Result<_, _>>()?;
    Ok(filter.sum_up(figures.into_iter()))
}

pub(super) fn list_parked_runs(
    db: &Connection,
    tenant: &TenantId,
    now: i64,
    limit: usize,
) -> Result<Vec<RunHead>, StoreError> {
    let mut statement = db.prepare_cached(PARKED)?;
    let rows =
        statement.query_map(params![tenant.as_str(), now, limit_to_i64(limit)], read_head)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn list_waits(db: &Connection, filter: &WaitFilter) -> Result<Vec<WaitRow>, StoreError> {
    let WaitFilter { tenant, run, kind, who, after, limit } = filter;
    let (deadline, opened_at, after_run, after_id) = match after {
        Some(after) => (after.deadline, after.opened_at, after.run.as_str(), after.id.as_str()),
        None => (i64::MIN, i64::MIN, "", ""),
    };
    let who: Vec<String> = who.iter().map(|one| enclose_assignee(one)).collect();
    let who = (!who.is_empty()).then(|| serde_json::json!(who).to_string());
    let sql = if run.is_some() { WAITS_OF_RUN } else { WAITS };
    let mut statement = db.prepare_cached(sql)?;
    let owner = tenant.as_str();
    let wanted = params![
        owner,
        deadline,
        opened_at,
        after_run,
        after_id,
        run,
        kind,
        who,
        limit_to_i64(*limit)
    ];
    let rows = statement.query_map(wanted, |row| {
        let tenant = TenantId::new(row.get::<_, String>(0)?);
        Ok(WaitRow {
            run: RunId::new(tenant, row.get::<_, String>(1)?),
            id: row.get(2)?,
            kind: row.get(3)?,
            opened_at: row.get(4)?,
            deadline: row.get(5)?,
            who: decode_assignees(row.get::<_, Option<String>>(6)?.as_deref()),
            body: row.get(7)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn list_actions(db: &Connection, run: &RunId) -> Result<Vec<ActionRow>, StoreError> {
    let mut statement = db.prepare_cached(ACTIONS)?;
    let packed = statement.query_row(run_key(run), |row| row.get::<_, String>(0)).optional()?;
    decode_actions(&packed.unwrap_or_default())
}

pub(super) fn list_keys(db: &Connection, run: &RunId) -> Result<Vec<(String, u64)>, StoreError> {
    let mut statement = db.prepare_cached(KEYS)?;
    let rows =
        statement.query_map(run_key(run), |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn find_key_version(
    db: &Connection,
    run: &RunId,
    input: &str,
) -> Result<Option<u64>, StoreError> {
    let (tenant, id) = run_key(run);
    let mut statement = db.prepare_cached(KEY_VERSION)?;
    let version = statement.query_row((tenant, id, input), |row| row.get::<_, i64>(0));
    Ok(version.optional()?.map(|version| version as u64))
}

pub(super) fn load_blob(
    db: &Connection,
    tenant: &TenantId,
    digest: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    let mut statement = db.prepare_cached(BLOB)?;
    Ok(statement.query_row((tenant.as_str(), digest), |row| row.get(0)).optional()?)
}

pub(super) fn load_protocol(
    db: &Connection,
    tenant: &TenantId,
    digest: &str,
) -> Result<Option<String>, StoreError> {
    let mut statement = db.prepare_cached(PROTOCOL)?;
    Ok(statement.query_row((tenant.as_str(), digest), |row| row.get(0)).optional()?)
}

pub(super) fn resolve_run_id(
    db: &Connection,
    tenant: &TenantId,
    prefix: &str,
) -> Result<Vec<RunId>, StoreError> {
    let mut statement = db.prepare_cached(RUNS_BY_PREFIX)?;
    // A bound that may be absent would read to the end of the tenant.
    let end = prefix_upper_bound(prefix).map_or(AFTER_ALL_TEXT, Value::Text);
    let wanted = params![tenant.as_str(), prefix, end, limit_to_i64(RESOLVE_LIMIT)];
    let rows = statement.query_map(wanted, read_run_id)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn run_key(run: &RunId) -> (&str, &str) {
    (run.tenant.as_str(), &run.id)
}

fn limit_to_i64(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn read_run_id(row: &Row<'_>) -> rusqlite::Result<RunId> {
    let tenant = TenantId::new(row.get::<_, String>(0)?);
    Ok(RunId::new(tenant, row.get::<_, String>(1)?))
}

fn read_head(row: &Row<'_>) -> rusqlite::Result<RunHead> {
    let run = read_run_id(row)?;
    let number = |at: usize| Ok::<_, rusqlite::Error>(row.get::<_, i64>(at)? as u64);
    let tenure = LeaseState {
        worker: row.get(13)?,
        epoch: number(14)?,
        until: row.get(15)?,
        version: number(18)?,
        deaths: number(19)?,
    };
    Ok(RunHead {
        lease: tenure.to_lease(&run),
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
            Some(at) => Some(PruneSeal { pruned_at: at, digest: row.get(17)? }),
            None => None,
        },
        protocol_version: row.get(20)?,
        started_by: row.get(21)?,
        parent: row.get(22)?,
        title: row.get(23)?,
        asks: row.get(24)?,
        ended_at: row.get(25)?,
        input_tokens: number(26)?,
        output_tokens: number(27)?,
        cost: number(28)?,
    })
}
