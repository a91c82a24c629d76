//! A row that is not where its scope says.

/// A row that lacks a scope or crosses one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misplaced {
    /// The table.
    pub table: String,
    /// What it is called there.
    pub row: String,
    /// What is wrong.
    pub what: String,
}
