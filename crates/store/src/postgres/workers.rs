//! The statements for workers: what they take and hold, and who they are. The only ones that look across
//! tenants.

use tokio_postgres::types::Type;

use super::database::PostgresDatabase;
use super::pipeline::{Call, Scope};
use super::read::{count, get, number, read_id};
use super::settings::LeaseClock;
use crate::worker::LOST_FOR;
use crate::{Lease, StoreError, Taking, TenantId, Worker, WorkerRow};

/// `$1` is the time of the caller, or nothing where the server's counts.
macro_rules! clock {
    () => {
        "WITH clock AS MATERIALIZED (
            SELECT coalesce($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now) "
    };
}

pub(super) const TAKE: &str =
    "SELECT tenant, id, epoch FROM countersign.take_1($1, $2, $3, $4, $5, $6, $7, $8)";
pub(super) const HELD: &str = concat!(
    clock!(),
    "SELECT tenant, id, lease_worker, lease_epoch, lease_until - now FROM countersign.runs, clock
    WHERE lease_worker IS NOT NULL AND lease_until > now ORDER BY tenant, id LIMIT $2"
);
const ANNOUNCE: &str = concat!(
    clock!(),
    "INSERT INTO countersign.workers
        SELECT $2, $3, $4, $5, $6, $7, now, now + $8 FROM clock
    ON CONFLICT (name) DO UPDATE SET host = excluded.host, pid = excluded.pid,
        version = excluded.version, capacity = excluded.capacity, started_at = excluded.started_at,
        seen_at = excluded.seen_at, until = excluded.until"
);
const TIDY: &str =
    concat!(clock!(), "DELETE FROM countersign.workers USING clock WHERE until <= now - $2");
/// From one tenant to the next, however many runs each of them has.
const TENANTS: &str = "WITH RECURSIVE tenants AS (
        (SELECT tenant FROM countersign.runs ORDER BY tenant LIMIT 1)
        UNION ALL
        SELECT (SELECT r.tenant FROM countersign.runs r WHERE r.tenant > t.tenant
            ORDER BY r.tenant LIMIT 1)
        FROM tenants t WHERE t.tenant IS NOT NULL)
    SELECT tenant FROM tenants WHERE tenant IS NOT NULL";
const RETIRE: &str = "DELETE FROM countersign.workers WHERE name = $1";
const WORKERS: &str = concat!(
    clock!(),
    ", holding AS (SELECT lease_worker, count(*) AS holds FROM countersign.runs, clock
        WHERE lease_worker IS NOT NULL AND lease_until > now GROUP BY lease_worker)
    SELECT name, host, pid, version, capacity, started_at, seen_at - now, until - now,
        coalesce(holds, 0)
    FROM countersign.workers CROSS JOIN clock LEFT JOIN holding ON lease_worker = name
    ORDER BY name"
);

/// Takes what is due, in turn.
pub(super) async fn take(
    db: &PostgresDatabase,
    taking: &Taking,
    last: Option<&TenantId>,
) -> Result<Vec<Lease>, StoreError> {
    let Taking { worker, now, until, limit, per_tenant, tenants } = taking;
    let (by, term, most) = (caller(db, *now), until.saturating_sub(*now), count(*limit));
    let share = (*per_tenant != usize::MAX).then(|| count(*per_tenant));
    let last = last.map(TenantId::as_str);
    let only: Vec<&str> = tenants.iter().map(TenantId::as_str).collect();
    let call = Call::new(TAKE).text(worker).number(now).number(&by).number(&term);
    let call = call.number(&most).number(&share).text(&last);
    let call = call.with(&only, Type::TEXT_ARRAY);
    let answers = db.change(Scope::Across, &[call]).await?;
    let lease = |row| {
        let (run, epoch) = (read_id(row)?, number(row, 2)?);
        Ok(Lease { run, worker: worker.clone(), epoch, until: *until })
    };
    answers.iter().flatten().map(lease).collect()
}

pub(super) async fn held(
    db: &PostgresDatabase,
    now: i64,
    limit: usize,
) -> Result<Vec<Lease>, StoreError> {
    let (by, most) = (caller(db, now), count(limit));
    let answers = db.look(Scope::Across, &[Call::new(HELD).number(&by).number(&most)]).await?;
    let lease = |row| {
        let left: i64 = get(row, 4)?;
        let until = now.saturating_add(left);
        Ok(Lease { run: read_id(row)?, worker: get(row, 2)?, epoch: number(row, 3)?, until })
    };
    answers.iter().flatten().map(lease).collect()
}

pub(super) async fn announce(
    db: &PostgresDatabase,
    worker: &Worker,
    now: i64,
    until: i64,
) -> Result<(), StoreError> {
    let Worker { name, host, pid, version, capacity, started_at } = worker;
    let (by, term) = (caller(db, now), until.saturating_sub(now));
    let (pid, capacity) = (i64::from(*pid), *capacity as i64);
    let tidy = Call::new(TIDY).number(&by).number(&LOST_FOR);
    let there = Call::new(ANNOUNCE).number(&by).text(name).text(host).number(&pid).text(version);
    let there = there.number(&capacity).number(started_at).number(&term);
    db.change(Scope::Across, &[tidy, there]).await.map(|_| ())
}

pub(super) async fn retire(db: &PostgresDatabase, name: &str) -> Result<(), StoreError> {
    db.change(Scope::Across, &[Call::new(RETIRE).text(&name)]).await.map(|_| ())
}

pub(super) async fn workers(db: &PostgresDatabase, now: i64) -> Result<Vec<WorkerRow>, StoreError> {
    let by = caller(db, now);
    let answers = db.look(Scope::Across, &[Call::new(WORKERS).number(&by)]).await?;
    let read = |row| {
        let worker = Worker {
            name: get(row, 0)?,
            host: get(row, 1)?,
            pid: get::<i64>(row, 2)? as u32,
            version: get(row, 3)?,
            capacity: number(row, 4)?,
            started_at: get(row, 5)?,
        };
        // Told in the clock of who asks.
        let (seen, until): (i64, i64) = (get(row, 6)?, get(row, 7)?);
        let (seen_at, until) = (now.saturating_add(seen), now.saturating_add(until));
        Ok(WorkerRow { worker, seen_at, until, holds: number(row, 8)? })
    };
    answers.iter().flatten().map(read).collect()
}

pub(super) async fn tenants(db: &PostgresDatabase) -> Result<Vec<TenantId>, StoreError> {
    let answers = db.look(Scope::Across, &[Call::new(TENANTS)]).await?;
    let read = |row| Ok(TenantId::new(get::<String>(row, 0)?));
    answers.iter().flatten().map(read).collect()
}

fn caller(db: &PostgresDatabase, now: i64) -> Option<i64> {
    (db.settings().clock == LeaseClock::Caller).then_some(now)
}
