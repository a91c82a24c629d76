//! Rows as texts: how a store that knows no types keeps them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::memory_error::{MemoryError, corrupt_error};
use super::row_store::MemoryResult;

/// A row's body as it is kept.
pub(super) fn encode_row(row: &impl Serialize) -> MemoryResult<String> {
    serde_json::to_string(row)
        .map_err(|error| corrupt_error(format!("it cannot be written: {error}")))
}

/// A row from its body. What is wrong with it is told by its place, not by its words.
pub(super) fn decode_row<T: DeserializeOwned>(body: &str) -> Result<T, MemoryError> {
    serde_json::from_str(body).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        corrupt_error(format!("the body of a row cannot be read at {line}:{column}"))
    })
}
