//! The statements that remove bodies, inside a transaction that the writer started.

use rusqlite::{Connection, OptionalExtension, params};

use super::queries::load_head;
use super::run_log::SqliteRunLog;
use super::run_search;
use crate::{PruneRequest, PruneStats, SnapshotRow, StoreError, StoreWatermark};

const WATERMARK: &str = "SELECT ifnull(max(row), 0) FROM log";
const EMPTY_BODY: &str = "UPDATE log SET body = '' WHERE row = ?1";
const DROP_SNAPSHOTS: &str =
    "DELETE FROM snapshots WHERE run = ?1 RETURNING version, length(CAST(body AS BLOB))";
const ADD_SNAPSHOT: &str = "INSERT INTO snapshots VALUES (?1, ?2, ?3, ?4, ?5)";
/// Rows of the log have ascending numbers, so an entry that was added after the watermark has a
/// higher number.
const DROP_BLOB: &str = "DELETE FROM blobs WHERE tenant = ?1 AND digest = ?2
        AND NOT EXISTS (SELECT 1 FROM log WHERE row > ?3 AND instr(body, ?2) > 0)
    RETURNING length(bytes)";
const SET_SEAL: &str =
    "UPDATE runs SET pruned_at = ?3, seal = ?4, title = '' WHERE tenant = ?1 AND id = ?2";

pub(super) fn read_watermark(db: &Connection) -> Result<StoreWatermark, StoreError> {
    Ok(StoreWatermark(db.prepare_cached(WATERMARK)?.query_row([], |row| row.get(0))?))
}

pub(super) fn prune_run(db: &Connection, pruning: &PruneRequest) -> Result<PruneStats, StoreError> {
    let PruneRequest { run, version, seal, kept_snapshots: kept, blobs, since } = pruning;
    let missing = || StoreError::NotFound { run: run.clone() };
    let head = load_head(db, run)?.ok_or_else(missing)?;
    if head.version != *version {
        return Err(StoreError::Conflict { expected: *version, found: head.version });
    }
    if head.pruned.is_some() {
        return Ok(PruneStats::default());
    }
    let log = SqliteRunLog::open(db, run)?.ok_or_else(missing)?;
    let rows = log.read_all_rows()?;
    let mut pruned = PruneStats { versions: rows.len() as u64, ..PruneStats::default() };
    let mut empty = db.prepare_cached(EMPTY_BODY)?;
    for (row, entry) in &rows {
        pruned.bytes += entry.body.len() as u64;
        empty.execute([row])?;
    }
    let mut drop_snapshots = db.prepare_cached(DROP_SNAPSHOTS)?;
    let gone = drop_snapshots.query_map([log.run_number()], |row| {
        Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64))
    })?;
    for gone in gone {
        let (version, bytes) = gone?;
        if !kept.iter().any(|state| state.version == version) {
            pruned.snapshots += 1;
            pruned.bytes += bytes;
        }
    }
    for SnapshotRow { version, seq, body } in kept {
        let row = rows.iter().find(|(_, entry)| entry.version == *version).map(|(row, _)| row);
        let (version, seq) = (*version as i64, *seq as i64);
        db.prepare_cached(ADD_SNAPSHOT)?.execute(params![
            log.run_number(),
            version,
            row,
            seq,
            body
        ])?;
    }
    let tenant = run.tenant.as_str();
    for digest in blobs {
        let mut drop_blob = db.prepare_cached(DROP_BLOB)?;
        let gone =
            drop_blob.query_row(params![tenant, digest, since.0], |row| row.get::<_, i64>(0));
        if let Some(bytes) = gone.optional()? {
            pruned.blobs += 1;
            pruned.bytes += bytes as u64;
        }
    }
    run_search::replace_terms(db, run, log.run_number(), &[])?;
    db.prepare_cached(SET_SEAL)?.execute(params![tenant, run.id, seal.pruned_at, seal.digest])?;
    Ok(pruned)
}
