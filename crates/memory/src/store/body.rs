//! Rows as texts: how a store that knows no types keeps them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{MemoryError, corrupt};
use super::shelves::Answer;

/// A row's body as it is kept.
pub(super) fn to_body(row: &impl Serialize) -> Answer<String> {
    serde_json::to_string(row).map_err(|error| corrupt(format!("it cannot be written: {error}")))
}

/// A row from its body. What is wrong with it is told by its place, not by its words.
pub(super) fn from_body<T: DeserializeOwned>(body: &str) -> Result<T, MemoryError> {
    serde_json::from_str(body).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        corrupt(format!("the body of a row cannot be read at {line}:{column}"))
    })
}
