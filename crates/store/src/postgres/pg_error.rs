//! Converts errors of the server to store errors.

use std::sync::Arc;

use countersign_postgres::PgError;

use crate::StoreError;

impl From<PgError> for StoreError {
    fn from(outage: PgError) -> Self {
        match outage {
            PgError::DiskFull => Self::DiskFull,
            PgError::LockTimeout | PgError::SerializationFailure => {
                Self::Busy { source: Arc::new(outage) }
            }
            other => Self::Unavailable { source: Arc::new(other) },
        }
    }
}

/// Error for a row that lacks the expected columns.
pub(super) fn column_error(error: &tokio_postgres::Error) -> StoreError {
    StoreError::Corrupt { reason: error.to_string() }
}
