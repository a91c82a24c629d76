//! The statements that read. Each statement names its tenant, and its transaction is scoped to that
//! tenant.

use std::collections::BTreeSet;

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::database::PostgresDatabase;
use super::pg_error::column_error;
use super::pipeline::{SqlStatement, TenantScope};
use super::run_search;
use super::settings::LeaseClock;
use crate::lease::LeaseState;
use crate::prefix::prefix_upper_bound;
use crate::wait::{NO_DEADLINE, decode_assignees, enclose_assignee};
use crate::{
    ActionRow, ChildRunFilter, LoadedRun, LogEntryRow, PruneSeal, RESOLVE_LIMIT, RunCommit,
    RunFilter, RunHead, RunId, SnapshotRow, StoreError, TenantId, WaitFilter, WaitRow,
};

macro_rules! head_columns {
    () => {
        "SELECT tenant, id, protocol, workflow, created_at, version, seq, hash, status, phase,
            updated_at, summary, wake_at, lease_worker, lease_epoch, lease_until,
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
            pruned_at, seal, lease_version, lease_deaths, protocol_version, started_by, parent,
            title, asks, ended_at, input_tokens, output_tokens, cost
        FROM countersign.runs "
    };
}

pub(super) const HEAD: &str = concat!(head_columns!(), "WHERE tenant = $1 AND id = $2");
/// One statement for each index: a condition that may be absent cannot select one.
macro_rules! list_runs_where {
    ($condition:literal) => {
        concat!(
            head_columns!(),
            "WHERE tenant = $1 AND ($2::bigint IS NULL OR (created_at, id) < ($2, $3::text)) AND ",
            $condition,
            " AND ($5::text IS NULL OR phase = $5) AND ($7::text IS NULL OR protocol = $7)
                AND ($9::text IS NULL OR protocol_version = $9)
                AND ($10::bigint IS NULL OR created_at >= $10)
            ORDER BY created_at DESC, id DESC LIMIT $8"
        )
    };
}
pub(super) const RUNS: &str =
    list_runs_where!("$4::text IS NULL AND $6::text IS NULL AND $11::text IS NULL");
pub(super) const RUNS_BY_STATUS: &str = list_runs_where!(
    "status = $4::text AND ($6::text IS NULL OR workflow = $6)
        AND ($11::text IS NULL OR started_by = $11)"
);
pub(super) const RUNS_BY_WORKFLOW: &str = list_runs_where!(
    "workflow = $6::text AND $4::text IS NULL AND ($11::text IS NULL OR started_by = $11)"
);
pub(super) const RUNS_BY_STARTER: &str =
    list_runs_where!("started_by = $11::text AND $4::text IS NULL AND $6::text IS NULL");
/// `$12` is the rarest word, `$13` the others. `OFFSET 0` keeps the order of the words' index, so
/// that the server stops at the limit.
pub(super) const RUNS_BY_TERMS: &str = concat!(
    "SELECT found.* FROM (
        SELECT t.created_at, t.run FROM countersign.run_terms AS t
        WHERE t.tenant = $1 AND t.term = $12
            AND ($2::bigint IS NULL OR (t.created_at, t.run) < ($2, $3::text))
            AND ($10::bigint IS NULL OR t.created_at >= $10)
        ORDER BY t.created_at DESC, t.run DESC) AS hit
    CROSS JOIN LATERAL (",
    head_columns!(),
    "WHERE tenant = $1 AND id = hit.run
            AND ($4::text IS NULL OR status = $4) AND ($6::text IS NULL OR workflow = $6)
            AND ($11::text IS NULL OR started_by = $11)
            AND ($5::text IS NULL OR phase = $5) AND ($7::text IS NULL OR protocol = $7)
            AND ($9::text IS NULL OR protocol_version = $9)
        OFFSET 0) AS found
    WHERE NOT EXISTS (SELECT 1 FROM unnest($13::text[]) AS other (term) WHERE NOT EXISTS (
        SELECT 1 FROM countersign.run_terms AS also WHERE also.tenant = $1
            AND also.term = other.term AND also.created_at = hit.created_at AND also.run = hit.run))
    ORDER BY hit.created_at DESC, hit.run DESC LIMIT $8"
);
/// The children of several parents, at most `$3` of each.
pub(super) const CHILDREN: &str = concat!(
    "SELECT child.* FROM unnest($2::text[]) AS one (id), LATERAL (",
    head_columns!(),
    "WHERE tenant = $1 AND parent = one.id ORDER BY created_at, id LIMIT $3) AS child
    ORDER BY child.parent, child.created_at, child.id"
);
pub(super) const OPEN_CHILDREN: &str = concat!(
    "SELECT child.* FROM unnest($2::text[]) AS one (id), LATERAL (",
    head_columns!(),
    "WHERE tenant = $1 AND parent = one.id AND ended_at IS NULL
        ORDER BY created_at, id LIMIT $3) AS child
    ORDER BY child.parent, child.created_at, child.id"
);
/// Decides by `$2`, the caller's clock, or by the server's clock if `$2` is null.
pub(super) const PARKED: &str = concat!(
    head_columns!(),
    "WHERE tenant = $1 AND lease_deaths >= 2 AND lease_version = version
        AND lease_deaths + (lease_worker IS NOT NULL)::int >= 3
        AND (lease_worker IS NULL OR lease_until
            <= coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint))
    ORDER BY id LIMIT $3"
);
pub(super) const SNAPSHOT: &str = "SELECT version, seq, body FROM countersign.snapshots
    WHERE tenant = $1 AND run = $2 AND version <= $3 ORDER BY version DESC LIMIT 1";
/// `coalesce` is inside the subquery: outside, row-level security would keep the condition from the
/// index, and the log would be read from its beginning.
pub(super) const ENTRIES: &str =
    "SELECT version, first_seq, last_seq, time, hash, body FROM countersign.log
    WHERE tenant = $1 AND run = $2 AND version <= $3 AND version > (
        SELECT coalesce(max(version), 0) FROM countersign.snapshots
        WHERE tenant = $1 AND run = $2 AND version <= $3)
    ORDER BY version";
pub(super) const LOG: &str =
    "SELECT version, first_seq, last_seq, time, hash, body FROM countersign.log
    WHERE tenant = $1 AND run = $2 AND version > $3 ORDER BY version LIMIT $4";
pub(super) const WAITS: &str =
    "SELECT tenant, run, id, kind, opened_at, deadline, who, body FROM countersign.waits
    WHERE tenant = $1
        AND ($2::bigint IS NULL OR (deadline, opened_at, run, id) > ($2, $3::bigint, $4::text, $5::text))
        AND ($6::text IS NULL OR run = $6) AND ($7::text IS NULL OR kind = $7)
        AND ($8::text[] IS NULL OR who IS NULL OR EXISTS (
            SELECT 1 FROM unnest($8::text[]) AS one (name) WHERE position(one.name IN who) > 0))
    ORDER BY deadline, opened_at, run, id LIMIT $9";
pub(super) const ACTIONS: &str = "SELECT id, kind, body FROM countersign.actions
    WHERE tenant = $1 AND run = $2 ORDER BY version, position";
pub(super) const KEY_VERSION: &str =
    "SELECT version FROM countersign.keys WHERE tenant = $1 AND run = $2 AND key = $3";
pub(super) const KEYS: &str =
    "SELECT key, version FROM countersign.keys WHERE tenant = $1 AND run = $2 ORDER BY key";
pub(super) const BLOB: &str =
    "SELECT bytes FROM countersign.blobs WHERE tenant = $1 AND digest = $2";
pub(super) const PROTOCOL: &str =
    "SELECT text FROM countersign.protocols WHERE tenant = $1 AND digest = $2";
pub(super) const RUNS_BY_PREFIX: &str = "SELECT tenant, id FROM countersign.runs
    WHERE tenant = $1 AND id >= $2 AND ($3::text IS NULL OR id < $3) ORDER BY id LIMIT $4";
type PgReadResult<T> = Result<T, StoreError>;

pub(super) async fn load_head(db: &PostgresDatabase, run: &RunId) -> PgReadResult<Option<RunHead>> {
    let (tenant, id) = run_key(run);
    let rows =
        query_tenant(db, tenant, SqlStatement::new(HEAD).bind_text(&tenant).bind_text(&id)).await?;
    rows.first().map(|row| read_head(row, db.settings().clock)).transpose()
}

pub(super) async fn load_run(
    db: &PostgresDatabase,
    run: &RunId,
    at: Option<u64>,
) -> PgReadResult<Option<LoadedRun>> {
    let (tenant, id) = run_key(run);
    let last = at.map_or(i64::MAX, |at| i64::try_from(at).unwrap_or(i64::MAX));
    let of_run = |sql| SqlStatement::new(sql).bind_text(&tenant).bind_text(&id);
    let calls = [of_run(HEAD), of_run(SNAPSHOT).bind_int8(&last), of_run(ENTRIES).bind_int8(&last)];
    let answers = db.query_all(TenantScope::Tenant(tenant), &calls).await?;
    let [heads, snapshots, entries] = &answers[..] else { return Ok(None) };
    let Some(row) = heads.first() else { return Ok(None) };
    let head = read_head(row, db.settings().clock)?;
    let version = at.unwrap_or(head.version);
    if !(1..=head.version).contains(&version) {
        return Ok(None);
    }
    let snapshot = snapshots.first().map(read_snapshot).transpose()?;
    let entries = entries.iter().map(read_entry).collect::<Result<_, _>>()?;
    Ok(Some(LoadedRun { head, version, snapshot, entries }))
}

pub(super) async fn read_log(
    db: &PostgresDatabase,
    run: &RunId,
    after_version: u64,
    limit: usize,
) -> PgReadResult<Vec<LogEntryRow>> {
    let (tenant, id) = run_key(run);
    let (after, most) = (i64::try_from(after_version).unwrap_or(i64::MAX), limit_to_i64(limit));
    let call =
        SqlStatement::new(LOG).bind_text(&tenant).bind_text(&id).bind_int8(&after).bind_int8(&most);
    query_tenant(db, tenant, call).await?.iter().map(read_entry).collect()
}

pub(super) async fn list_runs(
    db: &PostgresDatabase,
    filter: &RunFilter,
) -> PgReadResult<Vec<RunHead>> {
    let RunFilter { tenant, status, phase, workflow, protocol, terms, limit, .. } = filter;
    let ordered = run_search::order_terms(db, tenant, terms).await?;
    let tenant = tenant.as_str();
    let after = filter.start_cursor();
    let (created, id) = (after.as_ref().map(|at| at.created_at), after.as_ref().map(|at| &at.id));
    let most = limit_to_i64(*limit);
    let starter = &filter.started_by;
    let sql = match (status, workflow, starter) {
        _ if !terms.is_empty() => RUNS_BY_TERMS,
        (Some(_), _, _) => RUNS_BY_STATUS,
        (None, Some(_), _) => RUNS_BY_WORKFLOW,
        (None, None, Some(_)) => RUNS_BY_STARTER,
        (None, None, None) => RUNS,
    };
    let call = SqlStatement::new(sql).bind_text(&tenant).bind_int8(&created).bind_text(&id);
    let mut call = call
        .bind_text(status)
        .bind_text(phase)
        .bind_text(workflow)
        .bind_text(protocol)
        .bind_int8(&most)
        .bind_text(&filter.protocol_version)
        .bind_int8(&filter.since)
        .bind_text(starter);
    let (rarest, others) = ordered.split_at(ordered.len().min(1));
    if let [rarest] = rarest {
        call = call.bind_text(rarest).bind(&others, Type::TEXT_ARRAY);
    }
    let rows = query_tenant(db, tenant, call).await?;
    rows.iter().map(|row| read_head(row, db.settings().clock)).collect()
}

pub(super) async fn list_child_runs(
    db: &PostgresDatabase,
    filter: &ChildRunFilter,
) -> PgReadResult<Vec<RunHead>> {
    let ChildRunFilter { tenant, parents, open_only, limit } = filter;
    let (tenant, limit) = (tenant.as_str(), limit_to_i64(*limit));
    let parents: Vec<&String> = parents.iter().collect::<BTreeSet<_>>().into_iter().collect();
    let sql = if *open_only { OPEN_CHILDREN } else { CHILDREN };
    let call = SqlStatement::new(sql).bind_text(&tenant).bind(&parents, Type::TEXT_ARRAY);
    let rows = query_tenant(db, tenant, call.bind_int8(&limit)).await?;
    rows.iter().map(|row| read_head(row, db.settings().clock)).collect()
}

pub(super) async fn list_waits(
    db: &PostgresDatabase,
    filter: &WaitFilter,
) -> PgReadResult<Vec<WaitRow>> {
    let WaitFilter { tenant, run, kind, who, after, limit } = filter;
    let tenant = tenant.as_str();
    let after = after.as_ref();
    let (deadline, opened_at) = (after.map(|at| at.deadline), after.map(|at| at.opened_at));
    let (after_run, after_id) = (after.map(|at| &at.run), after.map(|at| &at.id));
    let most = limit_to_i64(*limit);
    let who: Vec<String> = who.iter().map(|one| enclose_assignee(one)).collect();
    let who = (!who.is_empty()).then_some(who);
    let call =
        SqlStatement::new(WAITS).bind_text(&tenant).bind_int8(&deadline).bind_int8(&opened_at);
    let call = call
        .bind_text(&after_run)
        .bind_text(&after_id)
        .bind_text(run)
        .bind_text(kind)
        .bind(&who, Type::TEXT_ARRAY)
        .bind_int8(&most);
    query_tenant(db, tenant, call).await?.iter().map(read_wait).collect()
}

pub(super) async fn list_actions(
    db: &PostgresDatabase,
    run: &RunId,
) -> PgReadResult<Vec<ActionRow>> {
    let (tenant, id) = run_key(run);
    let rows =
        query_tenant(db, tenant, SqlStatement::new(ACTIONS).bind_text(&tenant).bind_text(&id))
            .await?;
    let read = |row: &Row| {
        Ok(ActionRow {
            id: get_column(row, 0)?,
            kind: get_column(row, 1)?,
            body: get_column(row, 2)?,
        })
    };
    rows.iter().map(read).collect()
}

pub(super) async fn list_keys(
    db: &PostgresDatabase,
    run: &RunId,
) -> PgReadResult<Vec<(String, u64)>> {
    let (tenant, id) = run_key(run);
    let rows =
        query_tenant(db, tenant, SqlStatement::new(KEYS).bind_text(&tenant).bind_text(&id)).await?;
    rows.iter().map(|row| Ok((get_column(row, 0)?, get_u64(row, 1)?))).collect()
}

pub(super) async fn list_parked_runs(
    db: &PostgresDatabase,
    tenant: &TenantId,
    now: i64,
    limit: usize,
) -> PgReadResult<Vec<RunHead>> {
    let clock = db.settings().clock;
    let by = (clock == LeaseClock::Caller).then_some(now);
    let (tenant, limit) = (tenant.as_str(), i64::try_from(limit).unwrap_or(i64::MAX));
    let call = SqlStatement::new(PARKED).bind_text(&tenant).bind_int8(&by).bind_int8(&limit);
    let rows = query_tenant(db, tenant, call).await?;
    rows.iter().map(|row| read_head(row, clock)).collect()
}

pub(super) async fn find_key_version(
    db: &PostgresDatabase,
    run: &RunId,
    input: &str,
) -> PgReadResult<Option<u64>> {
    let (tenant, id) = run_key(run);
    let rows = query_tenant(
        db,
        tenant,
        SqlStatement::new(KEY_VERSION).bind_text(&tenant).bind_text(&id).bind_text(&input),
    )
    .await?;
    rows.first().map(|row| get_u64(row, 0)).transpose()
}

pub(super) async fn load_blob(
    db: &PostgresDatabase,
    tenant: &TenantId,
    digest: &str,
) -> PgReadResult<Option<Vec<u8>>> {
    let tenant = tenant.as_str();
    let rows =
        query_tenant(db, tenant, SqlStatement::new(BLOB).bind_text(&tenant).bind_text(&digest))
            .await?;
    rows.first().map(|row| get_column(row, 0)).transpose()
}

pub(super) async fn load_protocol(
    db: &PostgresDatabase,
    tenant: &TenantId,
    digest: &str,
) -> PgReadResult<Option<String>> {
    let tenant = tenant.as_str();
    let rows =
        query_tenant(db, tenant, SqlStatement::new(PROTOCOL).bind_text(&tenant).bind_text(&digest))
            .await?;
    rows.first().map(|row| get_column(row, 0)).transpose()
}

pub(super) async fn resolve_run_id(
    db: &PostgresDatabase,
    tenant: &TenantId,
    prefix: &str,
) -> PgReadResult<Vec<RunId>> {
    let tenant = tenant.as_str();
    let (end, most) = (prefix_upper_bound(prefix), limit_to_i64(RESOLVE_LIMIT));
    let call = SqlStatement::new(RUNS_BY_PREFIX)
        .bind_text(&tenant)
        .bind_text(&prefix)
        .bind_text(&end)
        .bind_int8(&most);
    query_tenant(db, tenant, call).await?.iter().map(read_run_id).collect()
}

/// Describes the id in a commit that is already in use; `None` if there is none.
pub(super) async fn describe_id_conflict(
    db: &PostgresDatabase,
    commit: &RunCommit,
) -> PgReadResult<Option<String>> {
    let known = list_actions(db, &commit.run).await?;
    let twice = |action: &&ActionRow| {
        !commit.finished_actions.contains(&action.id)
            && known.iter().any(|known| known.id == action.id)
    };
    if let Some(action) = commit.actions.iter().find(twice) {
        return Ok(Some(format!("action `{}` is already pending", action.id)));
    }
    let all = WaitFilter::all(commit.run.tenant.clone(), usize::MAX);
    let known = list_waits(db, &WaitFilter { run: Some(commit.run.id.clone()), ..all }).await?;
    let twice = |wait: &&WaitRow| {
        !commit.waits_closed.contains(&wait.id) && known.iter().any(|known| known.id == wait.id)
    };
    let wait = commit.waits_opened.iter().find(twice);
    Ok(wait.map(|wait| format!("wait `{}` is already open", wait.id)))
}

async fn query_tenant(
    db: &PostgresDatabase,
    tenant: &str,
    call: SqlStatement<'_>,
) -> PgReadResult<Vec<Row>> {
    let answers = db.query_all(TenantScope::Tenant(tenant), &[call]).await?;
    Ok(answers.into_iter().next().unwrap_or_default())
}

pub(super) fn run_key(run: &RunId) -> (&str, &str) {
    (run.tenant.as_str(), &run.id)
}

pub(super) fn limit_to_i64(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) fn get_column<'r, T: tokio_postgres::types::FromSql<'r>>(
    row: &'r Row,
    at: usize,
) -> PgReadResult<T> {
    row.try_get(at).map_err(|error| column_error(&error))
}

pub(super) fn get_u64(row: &Row, at: usize) -> PgReadResult<u64> {
    get_column::<i64>(row, at).map(|number| number as u64)
}

pub(super) fn read_run_id(row: &Row) -> PgReadResult<RunId> {
    Ok(RunId::new(TenantId::new(get_column::<String>(row, 0)?), get_column::<String>(row, 1)?))
}

fn read_head(row: &Row, clock: LeaseClock) -> PgReadResult<RunHead> {
    let run = read_run_id(row)?;
    let until = clock.to_caller_time(get_column(row, 15)?, get_column(row, 16)?);
    let (worker, epoch) = (get_column(row, 13)?, get_u64(row, 14)?);
    let (version, deaths) = (get_u64(row, 19)?, get_u64(row, 20)?);
    let tenure = LeaseState { worker, epoch, until, version, deaths };
    Ok(RunHead {
        lease: tenure.to_lease(&run),
        deaths: tenure.deaths_at(get_u64(row, 5)?, false),
        run,
        protocol: get_column(row, 2)?,
        workflow: get_column(row, 3)?,
        created_at: get_column(row, 4)?,
        version: get_u64(row, 5)?,
        seq: get_u64(row, 6)?,
        hash: get_column(row, 7)?,
        status: get_column(row, 8)?,
        phase: get_column(row, 9)?,
        updated_at: get_column(row, 10)?,
        summary: get_column(row, 11)?,
        wake_at: get_column(row, 12)?,
        pruned: match get_column(row, 17)? {
            Some(at) => Some(PruneSeal { pruned_at: at, digest: get_column(row, 18)? }),
            None => None,
        },
        protocol_version: get_column(row, 21)?,
        started_by: get_column(row, 22)?,
        parent: get_column(row, 23)?,
        title: get_column(row, 24)?,
        asks: get_column(row, 25)?,
        ended_at: get_column(row, 26)?,
        input_tokens: get_u64(row, 27)?,
        output_tokens: get_u64(row, 28)?,
        cost: get_u64(row, 29)?,
    })
}

fn read_snapshot(row: &Row) -> PgReadResult<SnapshotRow> {
    Ok(SnapshotRow { version: get_u64(row, 0)?, seq: get_u64(row, 1)?, body: get_column(row, 2)? })
}

fn read_entry(row: &Row) -> PgReadResult<LogEntryRow> {
    Ok(LogEntryRow {
        version: get_u64(row, 0)?,
        first_seq: get_u64(row, 1)?,
        last_seq: get_u64(row, 2)?,
        time: get_column(row, 3)?,
        hash: get_column(row, 4)?,
        body: get_column(row, 5)?,
    })
}

fn read_wait(row: &Row) -> PgReadResult<WaitRow> {
    let tenant = TenantId::new(get_column::<String>(row, 0)?);
    let deadline: i64 = get_column(row, 5)?;
    Ok(WaitRow {
        run: RunId::new(tenant, get_column::<String>(row, 1)?),
        id: get_column(row, 2)?,
        kind: get_column(row, 3)?,
        opened_at: get_column(row, 4)?,
        deadline: (deadline != NO_DEADLINE).then_some(deadline),
        who: decode_assignees(get_column::<Option<String>>(row, 6)?.as_deref()),
        body: get_column(row, 7)?,
    })
}
