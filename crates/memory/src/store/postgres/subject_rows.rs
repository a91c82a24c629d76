//! The rows of one subject within a transaction, and how a row is read.

use countersign_store::{PgTransaction, SqlStatement, TenantScope};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::super::memory_error::corrupt_error;
use super::super::row_store::MemoryResult;

/// Where the rows of a subject lie. Every statement has the tenant and the number as its first values.
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

    /// A statement about its rows.
    pub(super) fn build_statement<'s>(&'s self, sql: &'s str) -> SqlStatement<'s> {
        SqlStatement::new(sql).bind_text(&self.tenant).bind_int8(&self.number)
    }

    pub(super) fn query(&self, call: SqlStatement<'_>) -> MemoryResult<Vec<Row>> {
        Ok(self.dialogue.query(TenantScope::Tenant(self.tenant), call)?)
    }

    /// Several at once.
    pub(super) fn query_all(&self, calls: &[SqlStatement<'_>]) -> MemoryResult<Vec<Vec<Row>>> {
        Ok(self.dialogue.query_all(TenantScope::Tenant(self.tenant), calls)?)
    }
}

/// A column of a row.
pub(super) fn read_column<'r, T: FromSql<'r>>(row: &'r Row, at: usize) -> MemoryResult<T> {
    row.try_get(at).map_err(|error| corrupt_error(error.to_string()))
}

/// A column that counts something.
pub(super) fn read_count(row: &Row, at: usize) -> MemoryResult<u32> {
    let number: i64 = read_column(row, at)?;
    u32::try_from(number).map_err(|_| corrupt_error(format!("{number} where a count should be")))
}

/// At most so many.
pub(super) fn to_sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Whether the server is able to hold this text at all. What it is not, it does not have.
pub(super) fn is_storable_text(text: &str) -> bool {
    !text.contains('\0')
}
