//! The rows of one subject within a transaction, and helpers that read columns.

use countersign_store::{PgTransaction, SqlStatement, TenantScope};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::super::expired_rows::ExpiryFilter;
use super::super::memory_error::corrupt_error;
use super::super::row_store::MemoryResult;

/// The rows of a subject. Every statement has the tenant and the subject number as its first
/// parameters.
pub(super) struct SubjectRows<'a> {
    dialogue: &'a PgTransaction<'a>,
    tenant: &'a str,
    number: i64,
}

impl<'a> SubjectRows<'a> {
    pub(super) fn new(dialogue: &'a PgTransaction<'a>, tenant: &'a str, number: i64) -> Self {
        Self { dialogue, tenant, number }
    }

    pub(super) fn number(&self) -> i64 {
        self.number
    }

    /// Creates a statement for the rows of the subject.
    pub(super) fn build_statement<'s>(&'s self, sql: &'s str) -> SqlStatement<'s> {
        SqlStatement::new(sql).bind_text(&self.tenant).bind_int8(&self.number)
    }

    pub(super) fn query(&self, call: SqlStatement<'_>) -> MemoryResult<Vec<Row>> {
        Ok(self.dialogue.query(TenantScope::Tenant(self.tenant), call)?)
    }

    /// Runs several statements in one round trip.
    pub(super) fn query_all(&self, calls: &[SqlStatement<'_>]) -> MemoryResult<Vec<Vec<Row>>> {
        Ok(self.dialogue.query_all(TenantScope::Tenant(self.tenant), calls)?)
    }

    /// Runs a statement for the rows past their timestamp and, if a run has ended, one for the rows
    /// that end with it.
    pub(super) fn query_expired(
        &self,
        expired: &str,
        ended_with_run: &str,
        filter: ExpiryFilter<'_>,
    ) -> MemoryResult<Vec<Row>> {
        let mut calls = vec![self.build_statement(expired).bind_int8(&filter.now.0)];
        if let Some(run) = &filter.ended_run {
            calls.push(self.build_statement(ended_with_run).bind_text(run));
        }
        Ok(self.query_all(&calls)?.into_iter().flatten().collect())
    }
}

/// Reads a column of a row.
pub(super) fn read_column<'r, T: FromSql<'r>>(row: &'r Row, at: usize) -> MemoryResult<T> {
    row.try_get(at).map_err(|error| corrupt_error(error.to_string()))
}

/// Reads a column that contains a count.
pub(super) fn read_count(row: &Row, at: usize) -> MemoryResult<u32> {
    let number: i64 = read_column(row, at)?;
    u32::try_from(number).map_err(|_| corrupt_error(format!("expected a count, found {number}")))
}

/// Converts a limit to a SQL parameter.
pub(super) fn to_sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Returns whether the server can store this text. Text that it cannot store does not exist there.
pub(super) fn is_storable_text(text: &str) -> bool {
    !text.contains('\0')
}
