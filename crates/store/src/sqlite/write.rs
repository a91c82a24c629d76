//! The statements that write, inside a transaction that the writer began. A step touches as few
//! trees as it can: the run's row, its events, and what really changes beside them.

use rusqlite::{Connection, OptionalExtension, params};

use super::bundle::pack;
use super::fault::is_duplicate;
use crate::lease::Tenure;
use crate::ruling::Standing;
use crate::{
    ActionRow, Blob, Commit, EventRow, Lease, NewRun, RunId, StoreError, TenantId, WaitRow,
};

const STANDING: &str =
    "SELECT version, seq, lease_worker, lease_epoch, lease_until, wake_at, working
    FROM runs WHERE tenant = ?1 AND id = ?2";
const TENURE: &str =
    "SELECT lease_worker, lease_epoch, lease_until FROM runs WHERE tenant = ?1 AND id = ?2";
const SET_TENURE: &str = "UPDATE runs SET lease_worker = ?3, lease_epoch = ?4, lease_until = ?5
    WHERE tenant = ?1 AND id = ?2";
const KEYED: &str = "SELECT version FROM keys WHERE tenant = ?1 AND run = ?2 AND key = ?3";
const ADD_RUN: &str = "INSERT INTO runs (tenant, id, protocol, workflow, created_at, version, seq,
        hash, status, phase, updated_at, summary, lease_epoch, lease_until, working)
    VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, '', '', '', ?5, '', 0, 0, 0)";
const STEP: &str = "UPDATE runs SET version = ?3, seq = ?4, hash = ?5, status = ?6, phase = ?7,
        updated_at = ?8, summary = ?9, lease_until = ?10
    WHERE tenant = ?1 AND id = ?2";
/// `STEP` for when an index must be written too.
const STEP_AND_INDEX: &str = "UPDATE runs SET version = ?3, seq = ?4, hash = ?5, status = ?6,
        phase = ?7, updated_at = ?8, summary = ?9, lease_until = ?10, wake_at = ?11, working = ?12
    WHERE tenant = ?1 AND id = ?2";
const ADD_EVENTS: &str =
    "INSERT INTO events (tenant, run, seq, version, body) VALUES (?1, ?2, ?3, ?4, ?5)";
const ADD_SNAPSHOT: &str =
    "INSERT INTO snapshots (tenant, run, version, seq, body) VALUES (?1, ?2, ?3, ?4, ?5)";
const ADD_ACTION: &str = "INSERT INTO actions (tenant, run, id, version, position, kind, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const TAKE_ACTION: &str = "DELETE FROM actions WHERE tenant = ?1 AND run = ?2 AND id = ?3";
const ANY_ACTION: &str = "SELECT EXISTS (SELECT 1 FROM actions WHERE tenant = ?1 AND run = ?2)";
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
    standing: Standing,
    wake_at: Option<i64>,
    working: bool,
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
    add_events(db, &commit.run, &commit.events)?;
    let (tenant, id) = key(&commit.run);
    if let Some(snapshot) = &commit.snapshot {
        db.prepare_cached(ADD_SNAPSHOT)?.execute(params![
            tenant,
            id,
            snapshot.version as i64,
            snapshot.seq as i64,
            snapshot.body
        ])?;
    }
    let working = change_actions(db, commit)?.unwrap_or(row.working);
    change_waits(db, commit)?;
    commit.blobs.iter().try_for_each(|blob| add_blob(db, &commit.run.tenant, blob))?;
    if let Some(input) = &commit.key {
        db.prepare_cached(ADD_KEY)?.execute(params![tenant, id, input, commit.version as i64])?;
    }
    step(db, commit, &row, working)
}

/// Takes, renews or refuses.
pub(super) fn lease(
    db: &Connection,
    run: &RunId,
    worker: &str,
    now: i64,
    until: i64,
) -> Result<Option<Lease>, StoreError> {
    let Some(known) = tenure(db, run)? else {
        return Err(StoreError::NotFound { run: run.clone() });
    };
    let Some(asked) = known.asked(worker, now, until) else { return Ok(None) };
    if asked != known {
        set_tenure(db, run, &asked)?;
    }
    Ok(asked.lease(run))
}

pub(super) fn release(db: &Connection, lease: &Lease) -> Result<(), StoreError> {
    match tenure(db, &lease.run)? {
        Some(known) if known.is(lease) => {
            let free = Tenure { worker: None, epoch: lease.epoch, until: 0 };
            set_tenure(db, &lease.run, &free)
        }
        _ => Ok(()),
    }
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
        let tenure =
            Tenure { worker: row.get(2)?, epoch: row.get::<_, i64>(3)? as u64, until: row.get(4)? };
        let standing = Standing {
            version: row.get::<_, i64>(0)? as u64,
            seq: row.get::<_, i64>(1)? as u64,
            tenure,
            keyed: None,
        };
        Ok(Row { standing, wake_at: row.get(5)?, working: row.get(6)? })
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

fn step(db: &Connection, commit: &Commit, row: &Row, working: bool) -> Result<(), StoreError> {
    let (tenant, id) = key(&commit.run);
    let head = &commit.head;
    let until = row.standing.until(commit);
    let (version, seq) = (commit.version as i64, head.seq as i64);
    if commit.wake_at == row.wake_at && working == row.working {
        db.prepare_cached(STEP)?.execute(params![
            tenant,
            id,
            version,
            seq,
            head.hash,
            head.status,
            head.phase,
            head.updated_at,
            head.summary,
            until
        ])?;
    } else {
        db.prepare_cached(STEP_AND_INDEX)?.execute(params![
            tenant,
            id,
            version,
            seq,
            head.hash,
            head.status,
            head.phase,
            head.updated_at,
            head.summary,
            until,
            commit.wake_at,
            working
        ])?;
    }
    Ok(())
}

fn add_events(db: &Connection, run: &RunId, events: &[EventRow]) -> Result<(), StoreError> {
    let Some(first) = events.first() else { return Ok(()) };
    let (tenant, id) = key(run);
    let (seq, version) = (first.seq as i64, first.version as i64);
    db.prepare_cached(ADD_EVENTS)?.execute(params![tenant, id, seq, version, pack(events)])?;
    Ok(())
}

/// Whether any action is outstanding afterwards; `None` where nothing was changed.
fn change_actions(db: &Connection, commit: &Commit) -> Result<Option<bool>, StoreError> {
    let (tenant, id) = key(&commit.run);
    for action in &commit.finished {
        db.prepare_cached(TAKE_ACTION)?.execute(params![tenant, id, action])?;
    }
    for (position, action) in commit.actions.iter().enumerate() {
        let ActionRow { id: action_id, kind, body } = action;
        let mut statement = db.prepare_cached(ADD_ACTION)?;
        let version = commit.version as i64;
        let added =
            statement.execute(params![tenant, id, action_id, version, position as i64, kind, body]);
        match added {
            Err(error) if is_duplicate(&error) => {
                return Err(StoreError::malformed(format!(
                    "action `{action_id}` is outstanding already"
                )));
            }
            added => added?,
        };
    }
    if !commit.actions.is_empty() {
        return Ok(Some(true));
    }
    if commit.finished.is_empty() {
        return Ok(None);
    }
    Ok(Some(db.prepare_cached(ANY_ACTION)?.query_row((tenant, id), |row| row.get(0))?))
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

fn tenure(db: &Connection, run: &RunId) -> Result<Option<Tenure>, StoreError> {
    let mut statement = db.prepare_cached(TENURE)?;
    let tenure = statement.query_row(key(run), |row| {
        let epoch = row.get::<_, i64>(1)? as u64;
        Ok(Tenure { worker: row.get(0)?, epoch, until: row.get(2)? })
    });
    Ok(tenure.optional()?)
}

fn set_tenure(db: &Connection, run: &RunId, tenure: &Tenure) -> Result<(), StoreError> {
    let (owner, id) = key(run);
    db.prepare_cached(SET_TENURE)?.execute(params![
        owner,
        id,
        tenure.worker,
        tenure.epoch as i64,
        tenure.until
    ])?;
    Ok(())
}
