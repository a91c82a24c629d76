//! Taking bodies out, in one transaction.

use tokio_postgres::types::Type;

use super::database::Shared;
use super::dialogue::{Dialogue, Purpose};
use super::pipeline::{Call, Scope};
use super::read::{get, key, number};
use crate::{Moment, Pruned, Pruning, SnapshotRow, StoreError};

/// What every transaction that is under way now, or begins later, is no older than.
const MOMENT: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
const STANDING: &str = "SELECT version, pruned_at IS NOT NULL FROM countersign.runs
    WHERE tenant = $1 AND id = $2 FOR UPDATE";
const BODIES: &str = "SELECT count(*), coalesce(sum(octet_length(body)), 0)::bigint
    FROM countersign.log WHERE tenant = $1 AND run = $2";
const EMPTY: &str = "UPDATE countersign.log SET body = '' WHERE tenant = $1 AND run = $2";
const DROP_SNAPSHOTS: &str = "DELETE FROM countersign.snapshots WHERE tenant = $1 AND run = $2
    RETURNING version, octet_length(body)::bigint";
const ADD_SNAPSHOT: &str = "INSERT INTO countersign.snapshots (tenant, run, version, seq, body)
    VALUES ($1, $2, $3, $4, $5)";
const SEAL: &str =
    "UPDATE countersign.runs SET pruned_at = $3, seal = $4 WHERE tenant = $1 AND id = $2";
/// Waits for every commit with blobs that is under way, and holds up the next ones for as long as this takes.
const LOCK_BLOBS: &str = "LOCK TABLE countersign.blobs IN SHARE ROW EXCLUSIVE MODE";
/// A step changes the row of its run: the runs that have gone on since are those whose row is younger.
const DROP_BLOBS: &str = "WITH later AS MATERIALIZED (
        SELECT entry.body FROM countersign.runs AS run
            JOIN countersign.log AS entry ON entry.tenant = run.tenant AND entry.run = run.id
        WHERE run.tenant = $1
            AND age(run.xmin) <= pg_current_xact_id()::text::bigint - $3 AND entry.body <> '')
    DELETE FROM countersign.blobs AS blob WHERE tenant = $1 AND digest = ANY ($2)
        AND NOT EXISTS (SELECT FROM later WHERE strpos(later.body, blob.digest) > 0)
    RETURNING octet_length(bytes)::bigint";

pub(super) async fn moment(db: &Shared) -> Result<Moment, StoreError> {
    let answers = db.look(Scope::Across, &[Call::new(MOMENT)]).await?;
    match answers.first().and_then(|rows| rows.first()) {
        Some(row) => Ok(Moment(get(row, 0)?)),
        None => Err(StoreError::Corrupt { what: "the server has no moment".to_owned() }),
    }
}

pub(super) async fn prune(db: &Shared, pruning: Pruning) -> Result<Pruned, StoreError> {
    db.converse(Purpose::Change, move |dialogue| pruned(dialogue, &pruning)).await
}

fn pruned(dialogue: &Dialogue<'_>, pruning: &Pruning) -> Result<Pruned, StoreError> {
    let Pruning { run, version, seal, kept, blobs, since } = pruning;
    let (tenant, id) = key(run);
    let scope = Scope::Tenant(tenant);
    let of_run = |sql| Call::new(sql).text(&tenant).text(&id);
    let standing = dialogue.ask(scope, of_run(STANDING))?;
    let Some(row) = standing.first() else {
        return Err(StoreError::NotFound { run: run.clone() });
    };
    let found = number(row, 0)?;
    if found != *version {
        return Err(StoreError::Conflict { expected: *version, found });
    }
    if get(row, 1)? {
        return Ok(Pruned::default());
    }
    let sealed = of_run(SEAL).number(&seal.at).text(&seal.digest);
    let calls = [of_run(BODIES), of_run(EMPTY), of_run(DROP_SNAPSHOTS), sealed];
    let answers = dialogue.ask_all(scope, &calls)?;
    let mut pruned = Pruned::default();
    for row in answers.first().into_iter().flatten() {
        (pruned.versions, pruned.bytes) = (number(row, 0)?, number(row, 1)?);
    }
    for row in answers.get(2).into_iter().flatten() {
        let version = number(row, 0)?;
        if !kept.iter().any(|state| state.version == version) {
            pruned.snapshots += 1;
            pruned.bytes += number(row, 1)?;
        }
    }
    for SnapshotRow { version, seq, body } in kept {
        let (version, seq) = (*version as i64, *seq as i64);
        dialogue.ask(scope, of_run(ADD_SNAPSHOT).number(&version).number(&seq).text(body))?;
    }
    if !blobs.is_empty() {
        let gone = Call::new(DROP_BLOBS).text(&tenant).with(blobs, Type::TEXT_ARRAY);
        let answers = dialogue.ask_all(scope, &[Call::new(LOCK_BLOBS), gone.number(&since.0)])?;
        for row in answers.get(1).into_iter().flatten() {
            pruned.blobs += 1;
            pruned.bytes += number(row, 0)?;
        }
    }
    Ok(pruned)
}
