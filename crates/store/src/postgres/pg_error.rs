//! Outages in the words of a store.

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

/// A row that does not have the columns that were asked for.
pub(super) fn column_error(error: &tokio_postgres::Error) -> StoreError {
    StoreError::Corrupt { reason: error.to_string() }
}
