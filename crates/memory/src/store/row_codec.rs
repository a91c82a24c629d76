//! Encodes rows as JSON text for stores without types.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::memory_error::{MemoryError, corrupt_error};
use super::row_store::MemoryResult;

/// Encodes the body of a row.
pub(super) fn encode_row(row: &impl Serialize) -> MemoryResult<String> {
    serde_json::to_string(row)
        .map_err(|error| corrupt_error(format!("it cannot be written: {error}")))
}

/// Decodes the body of a row. The error gives the position of the problem and none of its text.
pub(super) fn decode_row<T: DeserializeOwned>(body: &str) -> Result<T, MemoryError> {
    serde_json::from_str(body).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        corrupt_error(format!("the body of a row cannot be read at {line}:{column}"))
    })
}
