//! Removes the bodies of a run in one transaction.

use tokio_postgres::types::Type;

use super::database::SharedPgDatabase;
use super::pipeline::{SqlStatement, TenantScope};
use super::queries::{get_column, get_u64, run_key};
use super::transaction::{PgTransaction, PgTransactionMode};
use crate::{PruneRequest, PruneStats, SnapshotRow, StoreError, StoreWatermark};

/// No transaction that is in progress now, or starts later, is older than this one.
const WATERMARK: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
const LOCK_RUN: &str = "SELECT version, pruned_at IS NOT NULL FROM countersign.runs
    WHERE tenant = $1 AND id = $2 FOR UPDATE";
const BODY_STATS: &str = "SELECT count(*), coalesce(sum(octet_length(body)), 0)::bigint
    FROM countersign.log WHERE tenant = $1 AND run = $2";
const EMPTY_BODIES: &str = "UPDATE countersign.log SET body = '' WHERE tenant = $1 AND run = $2";
const DROP_SNAPSHOTS: &str = "DELETE FROM countersign.snapshots WHERE tenant = $1 AND run = $2
    RETURNING version, octet_length(body)::bigint";
const ADD_SNAPSHOT: &str = "INSERT INTO countersign.snapshots (tenant, run, version, seq, body)
    VALUES ($1, $2, $3, $4, $5)";
const SET_SEAL: &str = "UPDATE countersign.runs SET pruned_at = $3, seal = $4, title = ''
    WHERE tenant = $1 AND id = $2";
const DROP_TERMS: &str = "DELETE FROM countersign.run_terms WHERE tenant = $1 AND run = $2
    AND created_at = (SELECT created_at FROM countersign.runs WHERE tenant = $1 AND id = $2)
    AND term = ANY (SELECT unnest(string_to_array(terms, ' ')) FROM countersign.run_search
        WHERE tenant = $1 AND run = $2)";
const DROP_SEARCH: &str = "DELETE FROM countersign.run_search WHERE tenant = $1 AND run = $2";
/// Waits for every running commit with blobs, and blocks new ones until the transaction ends.
const LOCK_BLOBS: &str = "LOCK TABLE countersign.blobs IN SHARE ROW EXCLUSIVE MODE";
/// A step updates the row of its run, so the runs that advanced since the watermark are those with
/// a younger row.
const DROP_BLOBS: &str = "WITH later AS MATERIALIZED (
        SELECT entry.body FROM countersign.runs AS run
            JOIN countersign.log AS entry ON entry.tenant = run.tenant AND entry.run = run.id
        WHERE run.tenant = $1
            AND age(run.xmin) <= pg_current_xact_id()::text::bigint - $3 AND entry.body <> '')
    DELETE FROM countersign.blobs AS blob WHERE tenant = $1 AND digest = ANY ($2)
        AND NOT EXISTS (SELECT FROM later WHERE strpos(later.body, blob.digest) > 0)
    RETURNING octet_length(bytes)::bigint";

pub(super) async fn read_watermark(db: &SharedPgDatabase) -> Result<StoreWatermark, StoreError> {
    let answers = db.query_all(TenantScope::AllTenants, &[SqlStatement::new(WATERMARK)]).await?;
    match answers.first().and_then(|rows| rows.first()) {
        Some(row) => Ok(StoreWatermark(get_column(row, 0)?)),
        None => Err(StoreError::Corrupt { reason: "the server returned no watermark".to_owned() }),
    }
}

pub(super) async fn prune_run(
    db: &SharedPgDatabase,
    pruning: PruneRequest,
) -> Result<PruneStats, StoreError> {
    db.run_transaction(PgTransactionMode::ReadWrite, move |dialogue| {
        prune_in_transaction(dialogue, &pruning)
    })
    .await
}

fn prune_in_transaction(
    dialogue: &PgTransaction<'_>,
    pruning: &PruneRequest,
) -> Result<PruneStats, StoreError> {
    let PruneRequest { run, version, seal, kept_snapshots: kept, blobs, since } = pruning;
    let (tenant, id) = run_key(run);
    let scope = TenantScope::Tenant(tenant);
    let of_run = |sql| SqlStatement::new(sql).bind_text(&tenant).bind_text(&id);
    let standing = dialogue.query(scope, of_run(LOCK_RUN))?;
    let Some(row) = standing.first() else {
        return Err(StoreError::NotFound { run: run.clone() });
    };
    let found = get_u64(row, 0)?;
    if found != *version {
        return Err(StoreError::Conflict { expected: *version, found });
    }
    if get_column(row, 1)? {
        return Ok(PruneStats::default());
    }
    let sealed = of_run(SET_SEAL).bind_int8(&seal.pruned_at).bind_text(&seal.digest);
    let calls = [
        of_run(BODY_STATS),
        of_run(EMPTY_BODIES),
        of_run(DROP_SNAPSHOTS),
        sealed,
        of_run(DROP_TERMS),
        of_run(DROP_SEARCH),
    ];
    let answers = dialogue.query_all(scope, &calls)?;
    let mut pruned = PruneStats::default();
    for row in answers.first().into_iter().flatten() {
        (pruned.versions, pruned.bytes) = (get_u64(row, 0)?, get_u64(row, 1)?);
    }
    for row in answers.get(2).into_iter().flatten() {
        let version = get_u64(row, 0)?;
        if !kept.iter().any(|state| state.version == version) {
            pruned.snapshots += 1;
            pruned.bytes += get_u64(row, 1)?;
        }
    }
    for SnapshotRow { version, seq, body } in kept {
        let (version, seq) = (*version as i64, *seq as i64);
        dialogue.query(
            scope,
            of_run(ADD_SNAPSHOT).bind_int8(&version).bind_int8(&seq).bind_text(body),
        )?;
    }
    if !blobs.is_empty() {
        let gone = SqlStatement::new(DROP_BLOBS).bind_text(&tenant).bind(blobs, Type::TEXT_ARRAY);
        let answers = dialogue
            .query_all(scope, &[SqlStatement::new(LOCK_BLOBS), gone.bind_int8(&since.0)])?;
        for row in answers.get(1).into_iter().flatten() {
            pruned.blobs += 1;
            pruned.bytes += get_u64(row, 0)?;
        }
    }
    Ok(pruned)
}
