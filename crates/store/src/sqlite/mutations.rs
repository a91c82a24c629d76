//! The statements that write, inside a transaction that the writer started. A step writes to as few
//! B-trees as possible: the run's row, its log, and what else really changes.

use rusqlite::{Connection, OptionalExtension, params};

use super::action_codec::{decode_actions, encode_actions};
use super::run_search;
use super::sqlite_error::is_unique_violation;
use crate::lease::LeaseState;
use crate::stored_run_state::StoredRunState;
use crate::wait::encode_assignees;
use crate::{
    ActionRow, Blob, Lease, LogEntryRow, NewRun, RunCommit, RunId, SnapshotRow, StoreError,
    TenantId, WaitRow,
};

const RUN_STATE: &str =
    "SELECT number, version, seq, lease_worker, lease_epoch, lease_until, wake_at,
        actions, tail, lease_version, lease_deaths, ended_at
    FROM runs WHERE tenant = ?1 AND id = ?2";
const LEASE_STATE: &str =
    "SELECT lease_worker, lease_epoch, lease_until, lease_version, lease_deaths, version FROM runs
    WHERE tenant = ?1 AND id = ?2";
const SET_LEASE_STATE: &str =
    "UPDATE runs SET lease_worker = ?3, lease_epoch = ?4, lease_until = ?5,
        lease_version = ?6, lease_deaths = ?7
    WHERE tenant = ?1 AND id = ?2";
const KEY_VERSION: &str = "SELECT version FROM keys WHERE tenant = ?1 AND run = ?2 AND key = ?3";
const ADD_RUN: &str = "INSERT INTO runs (tenant, id, protocol, workflow, created_at, version, seq,
        hash, tail, status, phase, updated_at, summary, lease_epoch, lease_until, actions,
        protocol_version, started_by, parent, title, asks, input_tokens, output_tokens, cost)
    VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, '', 0, '', '', ?5, '', 0, 0, '', ?6, ?7, ?8, '', '', 0, 0, 0)";
const UPDATE_RUN: &str =
    "UPDATE runs SET version = ?2, seq = ?3, hash = ?4, status = ?5, phase = ?6,
        updated_at = ?7, summary = ?8, lease_until = ?9, actions = ?10, tail = ?11,
        title = ?12, asks = ?13, input_tokens = ?14, output_tokens = ?15, cost = ?16
    WHERE number = ?1";
/// Separate, because it must update indexes too.
const SET_WAKE_AT: &str = "UPDATE runs SET wake_at = ?2 WHERE number = ?1";
/// Separate, because it must update an index too; a run ends once.
const SET_ENDED_AT: &str = "UPDATE runs SET ended_at = ?2 WHERE number = ?1";
const ADD_ENTRY: &str = "INSERT INTO log VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const ADD_SNAPSHOT: &str = "INSERT INTO snapshots VALUES (?1, ?2, ?3, ?4, ?5)";
const ADD_WAIT: &str = "INSERT INTO waits (tenant, run, id, kind, opened_at, deadline, who, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const DELETE_WAIT: &str = "DELETE FROM waits WHERE tenant = ?1 AND run = ?2 AND id = ?3";
const ADD_KEY: &str = "INSERT INTO keys (tenant, run, key, version) VALUES (?1, ?2, ?3, ?4)";
const ADD_BLOB: &str =
    "INSERT INTO blobs (tenant, digest, bytes) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
const ADD_PROTOCOL: &str =
    "INSERT INTO protocols (tenant, digest, text) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";

/// The part of a run's row that a step may change.
struct SqliteRunRow {
    number: i64,
    state: StoredRunState,
    actions: String,
    tail: i64,
    ended_at: Option<i64>,
}

pub(super) fn create_run(
    db: &Connection,
    run: &NewRun,
    commit: &RunCommit,
) -> Result<(), StoreError> {
    let (tenant, id) = run_key(&commit.run);
    if let Some(row) = load_run_row(db, commit)? {
        row.state.validate_commit(commit)?;
    }
    db.prepare_cached(ADD_RUN)?.execute(params![
        tenant,
        id,
        run.protocol,
        run.workflow,
        run.created_at,
        run.protocol_version,
        run.started_by,
        run.parent,
    ])?;
    append_commit(db, commit)
}

pub(super) fn append_commit(db: &Connection, commit: &RunCommit) -> Result<(), StoreError> {
    let Some(row) = load_run_row(db, commit)? else {
        return Err(StoreError::NotFound { run: commit.run.clone() });
    };
    row.state.validate_commit(commit)?;
    let actions = merge_actions(&row.actions, commit)?;
    let (tenant, id) = run_key(&commit.run);
    let entry = insert_entry(db, &row, &commit.entry)?;
    if let Some(SnapshotRow { version, seq, body }) = &commit.snapshot {
        let (version, seq) = (*version as i64, *seq as i64);
        db.prepare_cached(ADD_SNAPSHOT)?.execute(params![row.number, version, entry, seq, body])?;
    }
    update_waits(db, commit)?;
    commit.blobs.iter().try_for_each(|blob| insert_blob(db, &commit.run.tenant, blob))?;
    if let Some(input) = &commit.idempotency_key {
        db.prepare_cached(ADD_KEY)?.execute(params![tenant, id, input, commit.version as i64])?;
    }
    if let Some(terms) = &commit.search_terms {
        run_search::replace_terms(db, &commit.run, row.number, terms)?;
    }
    update_run_row(db, commit, &row, &actions, entry)
}

/// Adds an entry to a run's log and returns its row id.
fn insert_entry(
    db: &Connection,
    run: &SqliteRunRow,
    entry: &LogEntryRow,
) -> Result<i64, StoreError> {
    let LogEntryRow { version, first_seq: first, last_seq: last, time, hash, body } = entry;
    let (version, first, last) = (*version as i64, *first as i64, *last as i64);
    let mut statement = db.prepare_cached(ADD_ENTRY)?;
    Ok(statement.insert(params![run.tail, run.number, version, first, last, time, hash, body])?)
}

/// Acquires or renews a lease; `None` if neither is possible.
pub(super) fn acquire_lease(
    db: &Connection,
    run: &RunId,
    worker: &str,
    now: i64,
    until: i64,
) -> Result<Option<Lease>, StoreError> {
    let Some((known, version)) = load_lease_state(db, run)? else {
        return Err(StoreError::NotFound { run: run.clone() });
    };
    let Some(asked) = known.to_acquired(worker, now, until, version) else { return Ok(None) };
    if asked != known {
        save_lease_state(db, run, &asked)?;
    }
    Ok(asked.to_lease(run))
}

/// Releases a lease; `freed` makes the new lease state from the old one and the run's version.
/// Returns whether the lease was the current one.
pub(super) fn release_lease_as(
    db: &Connection,
    lease: &Lease,
    freed: impl FnOnce(&LeaseState, u64) -> LeaseState,
) -> Result<bool, StoreError> {
    match load_lease_state(db, &lease.run)? {
        Some((known, version)) if known.matches_lease(lease) => {
            save_lease_state(db, &lease.run, &freed(&known, version))?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Unparks a run; returns whether it was parked.
pub(super) fn unpark_run(db: &Connection, run: &RunId, now: i64) -> Result<bool, StoreError> {
    let Some((known, version)) = load_lease_state(db, run)? else {
        return Err(StoreError::NotFound { run: run.clone() });
    };
    let parked = known.is_parked(now, version);
    if parked {
        save_lease_state(db, run, &known.to_reset())?;
    }
    Ok(parked)
}

pub(super) fn insert_blob(
    db: &Connection,
    tenant: &TenantId,
    blob: &Blob,
) -> Result<(), StoreError> {
    let mut statement = db.prepare_cached(ADD_BLOB)?;
    statement.execute(params![tenant.as_str(), blob.digest, blob.bytes])?;
    Ok(())
}

pub(super) fn insert_protocol(
    db: &Connection,
    tenant: &TenantId,
    digest: &str,
    text: &str,
) -> Result<(), StoreError> {
    db.prepare_cached(ADD_PROTOCOL)?.execute(params![tenant.as_str(), digest, text])?;
    Ok(())
}

fn run_key(run: &RunId) -> (&str, &str) {
    (run.tenant.as_str(), &run.id)
}

fn load_run_row(db: &Connection, commit: &RunCommit) -> Result<Option<SqliteRunRow>, StoreError> {
    let mut statement = db.prepare_cached(RUN_STATE)?;
    let row = statement.query_row(run_key(&commit.run), |row| {
        let tenure = LeaseState {
            worker: row.get(3)?,
            epoch: row.get::<_, i64>(4)? as u64,
            until: row.get(5)?,
            version: row.get::<_, i64>(9)? as u64,
            deaths: row.get::<_, i64>(10)? as u64,
        };
        let standing = StoredRunState {
            version: row.get::<_, i64>(1)? as u64,
            seq: row.get::<_, i64>(2)? as u64,
            lease: tenure,
            wake_at: row.get(6)?,
            key_version: None,
        };
        Ok(SqliteRunRow {
            number: row.get(0)?,
            state: standing,
            actions: row.get(7)?,
            tail: row.get(8)?,
            ended_at: row.get(11)?,
        })
    });
    let Some(mut row) = row.optional()? else { return Ok(None) };
    if let Some(input) = &commit.idempotency_key {
        let (tenant, id) = run_key(&commit.run);
        let mut statement = db.prepare_cached(KEY_VERSION)?;
        let version = statement.query_row((tenant, id, input), |row| row.get::<_, i64>(0));
        row.state.key_version = version.optional()?.map(|version| version as u64);
    }
    Ok(Some(row))
}

fn update_run_row(
    db: &Connection,
    commit: &RunCommit,
    row: &SqliteRunRow,
    actions: &str,
    tail: i64,
) -> Result<(), StoreError> {
    let (entry, head) = (&commit.entry, &commit.head);
    db.prepare_cached(UPDATE_RUN)?.execute(params![
        row.number,
        commit.version as i64,
        entry.last_seq as i64,
        entry.hash,
        head.status,
        head.phase,
        head.updated_at,
        head.summary,
        row.state.next_lease_until(commit),
        actions,
        tail,
        head.title,
        head.asks,
        head.input_tokens as i64,
        head.output_tokens as i64,
        head.cost as i64,
    ])?;
    if head.ended_at != row.ended_at {
        db.prepare_cached(SET_ENDED_AT)?.execute(params![row.number, head.ended_at])?;
    }
    let wake_at = row.state.next_wake_at(commit);
    if wake_at != row.state.wake_at {
        db.prepare_cached(SET_WAKE_AT)?.execute(params![row.number, wake_at])?;
    }
    Ok(())
}

/// Returns the encoded pending actions after a commit.
fn merge_actions(outstanding: &str, commit: &RunCommit) -> Result<String, StoreError> {
    if commit.finished_actions.is_empty() && commit.actions.is_empty() {
        return Ok(outstanding.to_owned());
    }
    let mut known = decode_actions(outstanding)?;
    known.retain(|action| !commit.finished_actions.contains(&action.id));
    let twice = |action: &&ActionRow| known.iter().any(|known| known.id == action.id);
    if let Some(action) = commit.actions.iter().find(twice) {
        return Err(StoreError::malformed(format!("action `{}` is already pending", action.id)));
    }
    Ok(encode_actions(known.iter().chain(&commit.actions)))
}

fn update_waits(db: &Connection, commit: &RunCommit) -> Result<(), StoreError> {
    let (tenant, id) = run_key(&commit.run);
    for wait in &commit.waits_closed {
        db.prepare_cached(DELETE_WAIT)?.execute(params![tenant, id, wait])?;
    }
    for wait in &commit.waits_opened {
        let WaitRow { id: wait_id, kind, opened_at, deadline, who, body, .. } = wait;
        let who = encode_assignees(who);
        let mut statement = db.prepare_cached(ADD_WAIT)?;
        let added =
            statement.execute(params![tenant, id, wait_id, kind, opened_at, deadline, who, body]);
        match added {
            Err(error) if is_unique_violation(&error) => {
                return Err(StoreError::malformed(format!("wait `{wait_id}` is already open")));
            }
            added => added?,
        };
    }
    Ok(())
}

/// Loads the lease state of a run, and its version.
pub(super) fn load_lease_state(
    db: &Connection,
    run: &RunId,
) -> Result<Option<(LeaseState, u64)>, StoreError> {
    let mut statement = db.prepare_cached(LEASE_STATE)?;
    let number =
        |row: &rusqlite::Row<'_>, at| Ok::<_, rusqlite::Error>(row.get::<_, i64>(at)? as u64);
    let tenure = statement.query_row(run_key(run), |row| {
        let (epoch, version, deaths) = (number(row, 1)?, number(row, 3)?, number(row, 4)?);
        let tenure = LeaseState { worker: row.get(0)?, epoch, until: row.get(2)?, version, deaths };
        Ok((tenure, number(row, 5)?))
    });
    Ok(tenure.optional()?)
}

pub(super) fn save_lease_state(
    db: &Connection,
    run: &RunId,
    tenure: &LeaseState,
) -> Result<(), StoreError> {
    let (owner, id) = run_key(run);
    db.prepare_cached(SET_LEASE_STATE)?.execute(params![
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
