//! The statements that read. Each names its tenant, and so does its transaction.

use tokio_postgres::Row;

use super::database::PostgresDatabase;
use super::fault::unreadable;
use super::pipeline::{Call, Scope};
use super::settings::LeaseClock;
use crate::lease::Tenure;
use crate::prefix::past;
use crate::wait::NEVER;
use crate::{
    ActionRow, Commit, EntryRow, Head, Loaded, RESOLVE_LIMIT, RunFilter, RunId, Seal, SnapshotRow,
    StoreError, TenantId, WaitFilter, WaitRow,
};

macro_rules! head_columns {
    () => {
        "SELECT tenant, id, protocol, workflow, created_at, version, seq, hash, status, phase,
            updated_at, summary, wake_at, lease_worker, lease_epoch, lease_until,
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
            pruned_at, seal, lease_version, lease_deaths
        FROM countersign.runs "
    };
}

pub(super) const HEAD: &str = concat!(head_columns!(), "WHERE tenant = $1 AND id = $2");
pub(super) const RUNS: &str = concat!(
    head_columns!(),
    "WHERE tenant = $1 AND ($2::bigint IS NULL OR (created_at, id) < ($2, $3::text))
        AND ($4::text IS NULL OR status = $4) AND ($5::text IS NULL OR phase = $5)
        AND ($6::text IS NULL OR workflow = $6) AND ($7::text IS NULL OR protocol = $7)
    ORDER BY created_at DESC, id DESC LIMIT $8"
);
/// Judged by `$2`, the caller's clock, or by the server's where it is null.
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
pub(super) const ENTRIES: &str =
    "SELECT version, first, last, time, hash, body FROM countersign.log
    WHERE tenant = $1 AND run = $2 AND version <= $3 AND version > coalesce(
        (SELECT version FROM countersign.snapshots WHERE tenant = $1 AND run = $2 AND version <= $3
            ORDER BY version DESC LIMIT 1), 0)
    ORDER BY version";
pub(super) const LOG: &str = "SELECT version, first, last, time, hash, body FROM countersign.log
    WHERE tenant = $1 AND run = $2 AND version > $3 ORDER BY version LIMIT $4";
pub(super) const WAITS: &str =
    "SELECT tenant, run, id, kind, opened_at, deadline, who, body FROM countersign.waits
    WHERE tenant = $1
        AND ($2::bigint IS NULL OR (deadline, opened_at, run, id) > ($2, $3::bigint, $4::text, $5::text))
        AND ($6::text IS NULL OR run = $6) AND ($7::text IS NULL OR kind = $7)
        AND ($8::text IS NULL OR who IS NULL OR who = $8)
    ORDER BY deadline, opened_at, run, id LIMIT $9";
pub(super) const ACTIONS: &str = "SELECT id, kind, body FROM countersign.actions
    WHERE tenant = $1 AND run = $2 ORDER BY version, place";
pub(super) const KEYED: &str =
    "SELECT version FROM countersign.keys WHERE tenant = $1 AND run = $2 AND key = $3";
pub(super) const KEYS: &str =
    "SELECT key, version FROM countersign.keys WHERE tenant = $1 AND run = $2 ORDER BY key";
pub(super) const BLOB: &str =
    "SELECT bytes FROM countersign.blobs WHERE tenant = $1 AND digest = $2";
pub(super) const PROTOCOL: &str =
    "SELECT text FROM countersign.protocols WHERE tenant = $1 AND digest = $2";
pub(super) const STARTING: &str = "SELECT tenant, id FROM countersign.runs
    WHERE tenant = $1 AND id >= $2 AND ($3::text IS NULL OR id < $3) ORDER BY id LIMIT $4";
type Answer<T> = Result<T, StoreError>;

pub(super) async fn head(db: &PostgresDatabase, run: &RunId) -> Answer<Option<Head>> {
    let (tenant, id) = key(run);
    let rows = ask(db, tenant, Call::new(HEAD).text(&tenant).text(&id)).await?;
    rows.first().map(|row| read_head(row, db.settings().clock)).transpose()
}

pub(super) async fn load(
    db: &PostgresDatabase,
    run: &RunId,
    at: Option<u64>,
) -> Answer<Option<Loaded>> {
    let (tenant, id) = key(run);
    let last = at.map_or(i64::MAX, |at| i64::try_from(at).unwrap_or(i64::MAX));
    let of_run = |sql| Call::new(sql).text(&tenant).text(&id);
    let calls = [of_run(HEAD), of_run(SNAPSHOT).number(&last), of_run(ENTRIES).number(&last)];
    let answers = db.look(Scope::Tenant(tenant), &calls).await?;
    let [heads, snapshots, entries] = &answers[..] else { return Ok(None) };
    let Some(row) = heads.first() else { return Ok(None) };
    let head = read_head(row, db.settings().clock)?;
    let version = at.unwrap_or(head.version);
    if !(1..=head.version).contains(&version) {
        return Ok(None);
    }
    let snapshot = snapshots.first().map(read_snapshot).transpose()?;
    let entries = entries.iter().map(read_entry).collect::<Result<_, _>>()?;
    Ok(Some(Loaded { head, version, snapshot, entries }))
}

pub(super) async fn log(
    db: &PostgresDatabase,
    run: &RunId,
    after_version: u64,
    limit: usize,
) -> Answer<Vec<EntryRow>> {
    let (tenant, id) = key(run);
    let (after, most) = (i64::try_from(after_version).unwrap_or(i64::MAX), count(limit));
    let call = Call::new(LOG).text(&tenant).text(&id).number(&after).number(&most);
    ask(db, tenant, call).await?.iter().map(read_entry).collect()
}

pub(super) async fn runs(db: &PostgresDatabase, filter: &RunFilter) -> Answer<Vec<Head>> {
    let RunFilter { tenant, status, phase, workflow, protocol, after, limit } = filter;
    let tenant = tenant.as_str();
    let (created, id) = (after.as_ref().map(|at| at.created_at), after.as_ref().map(|at| &at.id));
    let most = count(*limit);
    let call = Call::new(RUNS).text(&tenant).number(&created).text(&id);
    let call = call.text(status).text(phase).text(workflow).text(protocol).number(&most);
    let rows = ask(db, tenant, call).await?;
    rows.iter().map(|row| read_head(row, db.settings().clock)).collect()
}

pub(super) async fn waits(db: &PostgresDatabase, filter: &WaitFilter) -> Answer<Vec<WaitRow>> {
    let WaitFilter { tenant, run, kind, who, after, limit } = filter;
    let tenant = tenant.as_str();
    let after = after.as_ref();
    let (deadline, opened_at) = (after.map(|at| at.deadline), after.map(|at| at.opened_at));
    let (after_run, after_id) = (after.map(|at| &at.run), after.map(|at| &at.id));
    let most = count(*limit);
    let call = Call::new(WAITS).text(&tenant).number(&deadline).number(&opened_at);
    let call = call.text(&after_run).text(&after_id).text(run).text(kind).text(who).number(&most);
    ask(db, tenant, call).await?.iter().map(read_wait).collect()
}

pub(super) async fn actions(db: &PostgresDatabase, run: &RunId) -> Answer<Vec<ActionRow>> {
    let (tenant, id) = key(run);
    let rows = ask(db, tenant, Call::new(ACTIONS).text(&tenant).text(&id)).await?;
    let read =
        |row: &Row| Ok(ActionRow { id: get(row, 0)?, kind: get(row, 1)?, body: get(row, 2)? });
    rows.iter().map(read).collect()
}

pub(super) async fn keys(db: &PostgresDatabase, run: &RunId) -> Answer<Vec<(String, u64)>> {
    let (tenant, id) = key(run);
    let rows = ask(db, tenant, Call::new(KEYS).text(&tenant).text(&id)).await?;
    rows.iter().map(|row| Ok((get(row, 0)?, number(row, 1)?))).collect()
}

pub(super) async fn parked(
    db: &PostgresDatabase,
    tenant: &TenantId,
    now: i64,
    limit: usize,
) -> Answer<Vec<Head>> {
    let clock = db.settings().clock;
    let by = (clock == LeaseClock::Caller).then_some(now);
    let (tenant, limit) = (tenant.as_str(), i64::try_from(limit).unwrap_or(i64::MAX));
    let call = Call::new(PARKED).text(&tenant).number(&by).number(&limit);
    let rows = ask(db, tenant, call).await?;
    rows.iter().map(|row| read_head(row, clock)).collect()
}

pub(super) async fn keyed(db: &PostgresDatabase, run: &RunId, input: &str) -> Answer<Option<u64>> {
    let (tenant, id) = key(run);
    let rows = ask(db, tenant, Call::new(KEYED).text(&tenant).text(&id).text(&input)).await?;
    rows.first().map(|row| number(row, 0)).transpose()
}

pub(super) async fn blob(
    db: &PostgresDatabase,
    tenant: &TenantId,
    digest: &str,
) -> Answer<Option<Vec<u8>>> {
    let tenant = tenant.as_str();
    let rows = ask(db, tenant, Call::new(BLOB).text(&tenant).text(&digest)).await?;
    rows.first().map(|row| get(row, 0)).transpose()
}

pub(super) async fn protocol(
    db: &PostgresDatabase,
    tenant: &TenantId,
    digest: &str,
) -> Answer<Option<String>> {
    let tenant = tenant.as_str();
    let rows = ask(db, tenant, Call::new(PROTOCOL).text(&tenant).text(&digest)).await?;
    rows.first().map(|row| get(row, 0)).transpose()
}

pub(super) async fn resolve(
    db: &PostgresDatabase,
    tenant: &TenantId,
    prefix: &str,
) -> Answer<Vec<RunId>> {
    let tenant = tenant.as_str();
    let (end, most) = (past(prefix), count(RESOLVE_LIMIT));
    let call = Call::new(STARTING).text(&tenant).text(&prefix).text(&end).number(&most);
    ask(db, tenant, call).await?.iter().map(read_id).collect()
}

/// The id of a commit that is in use already, told.
pub(super) async fn in_use(db: &PostgresDatabase, commit: &Commit) -> Answer<Option<String>> {
    let known = actions(db, &commit.run).await?;
    let twice = |action: &&ActionRow| {
        !commit.finished.contains(&action.id) && known.iter().any(|known| known.id == action.id)
    };
    if let Some(action) = commit.actions.iter().find(twice) {
        return Ok(Some(format!("action `{}` is outstanding already", action.id)));
    }
    let all = WaitFilter::all(commit.run.tenant.clone(), usize::MAX);
    let known = waits(db, &WaitFilter { run: Some(commit.run.id.clone()), ..all }).await?;
    let twice = |wait: &&WaitRow| {
        !commit.waits_closed.contains(&wait.id) && known.iter().any(|known| known.id == wait.id)
    };
    let wait = commit.waits_opened.iter().find(twice);
    Ok(wait.map(|wait| format!("wait `{}` is open already", wait.id)))
}

async fn ask(db: &PostgresDatabase, tenant: &str, call: Call<'_>) -> Answer<Vec<Row>> {
    let answers = db.look(Scope::Tenant(tenant), &[call]).await?;
    Ok(answers.into_iter().next().unwrap_or_default())
}

pub(super) fn key(run: &RunId) -> (&str, &str) {
    (run.tenant.as_str(), &run.id)
}

pub(super) fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) fn get<'r, T: tokio_postgres::types::FromSql<'r>>(row: &'r Row, at: usize) -> Answer<T> {
    row.try_get(at).map_err(|error| unreadable(&error))
}

pub(super) fn number(row: &Row, at: usize) -> Answer<u64> {
    get::<i64>(row, at).map(|number| number as u64)
}

pub(super) fn read_id(row: &Row) -> Answer<RunId> {
    Ok(RunId::new(TenantId::new(get::<String>(row, 0)?), get::<String>(row, 1)?))
}

fn read_head(row: &Row, clock: LeaseClock) -> Answer<Head> {
    let run = read_id(row)?;
    let until = clock.told(get(row, 15)?, get(row, 16)?);
    let (worker, epoch) = (get(row, 13)?, number(row, 14)?);
    let (version, deaths) = (number(row, 19)?, number(row, 20)?);
    let tenure = Tenure { worker, epoch, until, version, deaths };
    Ok(Head {
        lease: tenure.lease(&run),
        deaths: tenure.deaths_at(number(row, 5)?, false),
        run,
        protocol: get(row, 2)?,
        workflow: get(row, 3)?,
        created_at: get(row, 4)?,
        version: number(row, 5)?,
        seq: number(row, 6)?,
        hash: get(row, 7)?,
        status: get(row, 8)?,
        phase: get(row, 9)?,
        updated_at: get(row, 10)?,
        summary: get(row, 11)?,
        wake_at: get(row, 12)?,
        pruned: match get(row, 17)? {
            Some(at) => Some(Seal { at, digest: get(row, 18)? }),
            None => None,
        },
    })
}

fn read_snapshot(row: &Row) -> Answer<SnapshotRow> {
    Ok(SnapshotRow { version: number(row, 0)?, seq: number(row, 1)?, body: get(row, 2)? })
}

fn read_entry(row: &Row) -> Answer<EntryRow> {
    Ok(EntryRow {
        version: number(row, 0)?,
        first: number(row, 1)?,
        last: number(row, 2)?,
        time: get(row, 3)?,
        hash: get(row, 4)?,
        body: get(row, 5)?,
    })
}

fn read_wait(row: &Row) -> Answer<WaitRow> {
    let tenant = TenantId::new(get::<String>(row, 0)?);
    let deadline: i64 = get(row, 5)?;
    Ok(WaitRow {
        run: RunId::new(tenant, get::<String>(row, 1)?),
        id: get(row, 2)?,
        kind: get(row, 3)?,
        opened_at: get(row, 4)?,
        deadline: (deadline != NEVER).then_some(deadline),
        who: get(row, 6)?,
        body: get(row, 7)?,
    })
}
