//! The statements that write, inside a transaction that the writer began. A step touches as few
//! trees as it can: the run's row, its log, and what really changes beside them.

use rusqlite::{Connection, OptionalExtension, params};

use super::fault::is_duplicate;
use super::outstanding::{pack, unpack};
use crate::lease::Tenure;
use crate::ruling::Standing;
use crate::{
    ActionRow, Blob, Commit, EntryRow, Lease, NewRun, RunId, SnapshotRow, StoreError, TenantId,
    WaitRow,
};

const STANDING: &str =
    "SELECT number, version, seq, lease_worker, lease_epoch, lease_until, wake_at,
        actions, tail, lease_version, lease_deaths
    FROM runs WHERE tenant = ?1 AND id = ?2";
const TENURE: &str =
    "SELECT lease_worker, lease_epoch, lease_until, lease_version, lease_deaths, version FROM runs
    WHERE tenant = ?1 AND id = ?2";
const SET_TENURE: &str = "UPDATE runs SET lease_worker = ?3, lease_epoch = ?4, lease_until = ?5,
        lease_version = ?6, lease_deaths = ?7
    WHERE tenant = ?1 AND id = ?2";
const KEYED: &str = "SELECT version FROM keys WHERE tenant = ?1 AND run = ?2 AND key = ?3";
const ADD_RUN: &str = "INSERT INTO runs (tenant, id, protocol, workflow, created_at, version, seq,
        hash, tail, status, phase, updated_at, summary, lease_epoch, lease_until, actions)
    VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, '', 0, '', '', ?5, '', 0, 0, '')";
const STEP: &str = "UPDATE runs SET version = ?2, seq = ?3, hash = ?4, status = ?5, phase = ?6,
        updated_at = ?7, summary = ?8, lease_until = ?9, actions = ?10, tail = ?11
    WHERE number = ?1";
/// For when indexes must be written too.
const WAKE: &str = "UPDATE runs SET wake_at = ?2 WHERE number = ?1";
const ADD_ENTRY: &str = "INSERT INTO log VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const ADD_SNAPSHOT: &str = "INSERT INTO snapshots VALUES (?1, ?2, ?3, ?4, ?5)";
const ADD_WAIT: &str = "INSERT INTO waits (tenant, run, id, kind, opened_at, deadline, who, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const TAKE_WAIT: &str = "DELETE FROM waits WHERE tenant = ?1 AND run = ?2 AND id = ?3";
const ADD_KEY: &str = "INSERT INTO keys (tenant, run, key, version) VALUES (?1, ?2, ?3, ?4)";
const ADD_BLOB: &str =
    "INSERT INTO blobs (tenant, digest, bytes) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
const ADD_PROTOCOL: &str =
    "INSERT INTO protocols (tenant, digest, text) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";

/// What a run's row says that a step may change.
struct Row {
    number: i64,
    standing: Standing,
    actions: String,
    tail: i64,
}

pub(super) fn create(db: &Connection, run: &NewRun, commit: &Commit) -> Result<(), StoreError> {
    let (tenant, id) = key(&commit.run);
    if let Some(row) = row(db, commit)? {
        row.standing.rule(commit)?;
    }
    db.prepare_cached(ADD_RUN)?.execute(params![
        tenant,
        id,
        run.protocol,
        run.workflow,
        run.created_at
    ])?;
    append(db, commit)
}

pub(super) fn append(db: &Connection, commit: &Commit) -> Result<(), StoreError> {
    let Some(row) = row(db, commit)? else {
        return Err(StoreError::NotFound { run: commit.run.clone() });
    };
    row.standing.rule(commit)?;
    let actions = change_actions(&row.actions, commit)?;
    let (tenant, id) = key(&commit.run);
    let entry = add_entry(db, &row, &commit.entry)?;
    if let Some(SnapshotRow { version, seq, body }) = &commit.snapshot {
        let (version, seq) = (*version as i64, *seq as i64);
        db.prepare_cached(ADD_SNAPSHOT)?.execute(params![row.number, version, entry, seq, body])?;
    }
    change_waits(db, commit)?;
    commit.blobs.iter().try_for_each(|blob| add_blob(db, &commit.run.tenant, blob))?;
    if let Some(input) = &commit.key {
        db.prepare_cached(ADD_KEY)?.execute(params![tenant, id, input, commit.version as i64])?;
    }
    step(db, commit, &row, &actions, entry)
}

/// Adds an entry to a run's log and gives its row.
fn add_entry(db: &Connection, run: &Row, entry: &EntryRow) -> Result<i64, StoreError> {
    let EntryRow { version, first, last, time, hash, body } = entry;
    let (version, first, last) = (*version as i64, *first as i64, *last as i64);
    let mut statement = db.prepare_cached(ADD_ENTRY)?;
    Ok(statement.insert(params![run.tail, run.number, version, first, last, time, hash, body])?)
}

/// Takes, renews or refuses.
pub(super) fn lease(
    db: &Connection,
    run: &RunId,
    worker: &str,
    now: i64,
    until: i64,
) -> Result<Option<Lease>, StoreError> {
    let Some((known, version)) = tenure(db, run)? else {
        return Err(StoreError::NotFound { run: run.clone() });
    };
    let Some(asked) = known.asked(worker, now, until, version) else { return Ok(None) };
    if asked != known {
        set_tenure(db, run, &asked)?;
    }
    Ok(asked.lease(run))
}

/// Gives a lease back, as the tenure that `freed` makes of it and the run's version. Whether it was the
/// current one.
pub(super) fn free(
    db: &Connection,
    lease: &Lease,
    freed: impl FnOnce(&Tenure, u64) -> Tenure,
) -> Result<bool, StoreError> {
    match tenure(db, &lease.run)? {
        Some((known, version)) if known.is(lease) => {
            set_tenure(db, &lease.run, &freed(&known, version))?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Whether it was parked.
pub(super) fn unpark(db: &Connection, run: &RunId, now: i64) -> Result<bool, StoreError> {
    let Some((known, version)) = tenure(db, run)? else {
        return Err(StoreError::NotFound { run: run.clone() });
    };
    let parked = known.parked(now, version);
    if parked {
        set_tenure(db, run, &known.rested())?;
    }
    Ok(parked)
}

pub(super) fn add_blob(db: &Connection, tenant: &TenantId, blob: &Blob) -> Result<(), StoreError> {
    let mut statement = db.prepare_cached(ADD_BLOB)?;
    statement.execute(params![tenant.as_str(), blob.digest, blob.bytes])?;
    Ok(())
}

pub(super) fn add_protocol(
    db: &Connection,
    tenant: &TenantId,
    digest: &str,
    text: &str,
) -> Result<(), StoreError> {
    db.prepare_cached(ADD_PROTOCOL)?.execute(params![tenant.as_str(), digest, text])?;
    Ok(())
}

fn key(run: &RunId) -> (&str, &str) {
    (run.tenant.as_str(), &run.id)
}

fn row(db: &Connection, commit: &Commit) -> Result<Option<Row>, StoreError> {
    let mut statement = db.prepare_cached(STANDING)?;
    let row = statement.query_row(key(&commit.run), |row| {
        let tenure = Tenure {
            worker: row.get(3)?,
            epoch: row.get::<_, i64>(4)? as u64,
            until: row.get(5)?,
            version: row.get::<_, i64>(9)? as u64,
            deaths: row.get::<_, i64>(10)? as u64,
        };
        let standing = Standing {
            version: row.get::<_, i64>(1)? as u64,
            seq: row.get::<_, i64>(2)? as u64,
            tenure,
            wake_at: row.get(6)?,
            keyed: None,
        };
        Ok(Row { number: row.get(0)?, standing, actions: row.get(7)?, tail: row.get(8)? })
    });
    let Some(mut row) = row.optional()? else { return Ok(None) };
    if let Some(input) = &commit.key {
        let (tenant, id) = key(&commit.run);
        let mut statement = db.prepare_cached(KEYED)?;
        let version = statement.query_row((tenant, id, input), |row| row.get::<_, i64>(0));
        row.standing.keyed = version.optional()?.map(|version| version as u64);
    }
    Ok(Some(row))
}

fn step(
    db: &Connection,
    commit: &Commit,
    row: &Row,
    actions: &str,
    tail: i64,
) -> Result<(), StoreError> {
    let (entry, head) = (&commit.entry, &commit.head);
    db.prepare_cached(STEP)?.execute(params![
        row.number,
        commit.version as i64,
        entry.last as i64,
        entry.hash,
        head.status,
        head.phase,
        head.updated_at,
        head.summary,
        row.standing.until(commit),
        actions,
        tail,
    ])?;
    let wake_at = row.standing.wake_at(commit);
    if wake_at != row.standing.wake_at {
        db.prepare_cached(WAKE)?.execute(params![row.number, wake_at])?;
    }
    Ok(())
}

/// What is outstanding after a commit.
fn change_actions(outstanding: &str, commit: &Commit) -> Result<String, StoreError> {
    if commit.finished.is_empty() && commit.actions.is_empty() {
        return Ok(outstanding.to_owned());
    }
    let mut known = unpack(outstanding)?;
    known.retain(|action| !commit.finished.contains(&action.id));
    let twice = |action: &&ActionRow| known.iter().any(|known| known.id == action.id);
    if let Some(action) = commit.actions.iter().find(twice) {
        return Err(StoreError::malformed(format!(
            "action `{}` is outstanding already",
            action.id
        )));
    }
    Ok(pack(known.iter().chain(&commit.actions)))
}

fn change_waits(db: &Connection, commit: &Commit) -> Result<(), StoreError> {
    let (tenant, id) = key(&commit.run);
    for wait in &commit.waits_closed {
        db.prepare_cached(TAKE_WAIT)?.execute(params![tenant, id, wait])?;
    }
    for wait in &commit.waits_opened {
        let WaitRow { id: wait_id, kind, opened_at, deadline, who, body, .. } = wait;
        let mut statement = db.prepare_cached(ADD_WAIT)?;
        let added =
            statement.execute(params![tenant, id, wait_id, kind, opened_at, deadline, who, body]);
        match added {
            Err(error) if is_duplicate(&error) => {
                return Err(StoreError::malformed(format!("wait `{wait_id}` is open already")));
            }
            added => added?,
        };
    }
    Ok(())
}

/// The tenure of a run, and its version.
pub(super) fn tenure(db: &Connection, run: &RunId) -> Result<Option<(Tenure, u64)>, StoreError> {
    let mut statement = db.prepare_cached(TENURE)?;
    let number =
        |row: &rusqlite::Row<'_>, at| Ok::<_, rusqlite::Error>(row.get::<_, i64>(at)? as u64);
    let tenure = statement.query_row(key(run), |row| {
        let (epoch, version, deaths) = (number(row, 1)?, number(row, 3)?, number(row, 4)?);
        let tenure = Tenure { worker: row.get(0)?, epoch, until: row.get(2)?, version, deaths };
        Ok((tenure, number(row, 5)?))
    });
    Ok(tenure.optional()?)
}

pub(super) fn set_tenure(db: &Connection, run: &RunId, tenure: &Tenure) -> Result<(), StoreError> {
    let (owner, id) = key(run);
    db.prepare_cached(SET_TENURE)?.execute(params![
        owner,
        id,
        tenure.worker,
        tenure.epoch as i64,
        tenure.until,
        tenure.version as i64,
        tenure.deaths as i64
    ])?;
    Ok(())
}
