//! The statements for the words that runs are found by, for children, and for statistics.

use tokio_postgres::Row;

use super::database::PostgresDatabase;
use super::pipeline::{SqlStatement, TenantScope};
use super::queries::{get_column, get_u64, limit_to_i64, run_key};
use crate::run_stats::RunFigures;
use crate::{RunId, RunStats, RunStatsFilter, StoreError, TenantId};

const TERMS: &str = "SELECT terms FROM countersign.run_search WHERE tenant = $1 AND run = $2";
/// Counts up to a limit: it is enough to know which word is rare.
pub(super) const TERM_COUNT: &str = "SELECT count(*) FROM (SELECT 1 FROM countersign.run_terms
    WHERE tenant = $1 AND term = $2 LIMIT 1000) AS found";
pub(super) const FIGURES: &str =
    "SELECT created_at, workflow, status, ended_at, input_tokens, output_tokens, cost
    FROM countersign.runs WHERE tenant = $1 AND created_at >= $2 AND created_at < $3
        AND $4::text IS NULL
    ORDER BY created_at DESC, id DESC LIMIT $5";
pub(super) const FIGURES_BY_WORKFLOW: &str =
    "SELECT created_at, workflow, status, ended_at, input_tokens, output_tokens, cost
    FROM countersign.runs WHERE tenant = $1 AND created_at >= $2 AND created_at < $3
        AND workflow = $4::text
    ORDER BY created_at DESC, id DESC LIMIT $5";

pub(super) async fn load_terms(
    db: &PostgresDatabase,
    run: &RunId,
) -> Result<Vec<String>, StoreError> {
    let (tenant, id) = run_key(run);
    let call = SqlStatement::new(TERMS).bind_text(&tenant).bind_text(&id);
    let answers = db.query_all(TenantScope::Tenant(tenant), &[call]).await?;
    let Some(row) = answers.first().and_then(|rows| rows.first()) else { return Ok(Vec::new()) };
    let packed: String = get_column(row, 0)?;
    Ok(packed.split(' ').filter(|term| !term.is_empty()).map(str::to_owned).collect())
}

/// Moves the rarest word to the front: it decides which rows a search reads.
pub(super) async fn order_terms(
    db: &PostgresDatabase,
    tenant: &TenantId,
    terms: &[String],
) -> Result<Vec<String>, StoreError> {
    let mut ordered = terms.to_vec();
    if terms.len() > 1 {
        let owner = tenant.as_str();
        let mut calls = Vec::with_capacity(terms.len());
        for term in terms {
            calls.push(SqlStatement::new(TERM_COUNT).bind_text(&owner).bind_text(term));
        }
        let answers = db.query_all(TenantScope::Tenant(owner), &calls).await?;
        let counts = answers.iter().map(|rows| match rows.first() {
            Some(row) => get_u64(row, 0),
            None => Ok(0),
        });
        let counts: Vec<u64> = counts.collect::<Result<_, _>>()?;
        let rarest = (0..counts.len()).min_by_key(|at| counts[*at]).unwrap_or(0);
        ordered.swap(0, rarest);
    }
    Ok(ordered)
}

pub(super) async fn read_run_stats(
    db: &PostgresDatabase,
    filter: &RunStatsFilter,
) -> Result<RunStats, StoreError> {
    let RunStatsFilter { tenant, since, until, workflow, .. } = filter;
    let (tenant, limit) = (tenant.as_str(), limit_to_i64(filter.read_limit()));
    let sql = if workflow.is_some() { FIGURES_BY_WORKFLOW } else { FIGURES };
    let call = SqlStatement::new(sql).bind_text(&tenant).bind_int8(since).bind_int8(until);
    let call = call.bind_text(workflow).bind_int8(&limit);
    let answers = db.query_all(TenantScope::Tenant(tenant), &[call]).await?;
    let rows = answers.into_iter().next().unwrap_or_default();
    let figures: Vec<RunFigures> = rows.iter().map(read_figures).collect::<Result<_, _>>()?;
    Ok(filter.sum_up(figures.into_iter()))
}

fn read_figures(row: &Row) -> Result<RunFigures, StoreError> {
    Ok(RunFigures {
        created_at: get_column(row, 0)?,
        workflow: get_column(row, 1)?,
        status: get_column(row, 2)?,
        ended_at: get_column(row, 3)?,
        input_tokens: get_u64(row, 4)?,
        output_tokens: get_u64(row, 5)?,
        cost: get_u64(row, 6)?,
    })
}
