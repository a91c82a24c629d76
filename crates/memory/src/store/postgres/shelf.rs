//! The rows of one subject within a transaction, and how a row is read.

use countersign_store::{Call, Dialogue, Scope};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::super::error::corrupt;
use super::super::shelves::Answer;

/// Where the rows of a subject lie. Every statement has the tenant and the number as its first values.
pub(super) struct Shelf<'a> {
    dialogue: &'a Dialogue<'a>,
    tenant: &'a str,
    number: i64,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(dialogue: &'a Dialogue<'a>, tenant: &'a str, number: i64) -> Self {
        Self { dialogue, tenant, number }
    }

    pub(super) fn number(&self) -> i64 {
        self.number
    }

    /// A statement about its rows.
    pub(super) fn call<'s>(&'s self, sql: &'s str) -> Call<'s> {
        Call::new(sql).text(&self.tenant).number(&self.number)
    }

    pub(super) fn ask(&self, call: Call<'_>) -> Answer<Vec<Row>> {
        Ok(self.dialogue.ask(Scope::Tenant(self.tenant), call)?)
    }

    /// Several at once.
    pub(super) fn ask_all(&self, calls: &[Call<'_>]) -> Answer<Vec<Vec<Row>>> {
        Ok(self.dialogue.ask_all(Scope::Tenant(self.tenant), calls)?)
    }
}

/// A column of a row.
pub(super) fn get<'r, T: FromSql<'r>>(row: &'r Row, at: usize) -> Answer<T> {
    row.try_get(at).map_err(|error| corrupt(error.to_string()))
}

/// A column that counts something.
pub(super) fn count(row: &Row, at: usize) -> Answer<u32> {
    let number: i64 = get(row, at)?;
    u32::try_from(number).map_err(|_| corrupt(format!("{number} where a count should be")))
}

/// At most so many.
pub(super) fn most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Whether the server is able to hold this text at all. What it is not, it does not have.
pub(super) fn is_text(text: &str) -> bool {
    !text.contains('\0')
}
