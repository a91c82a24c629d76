//! Outages in the words of a store.

use std::sync::Arc;

use countersign_postgres::Outage;

use crate::StoreError;

impl From<Outage> for StoreError {
    fn from(outage: Outage) -> Self {
        match outage {
            Outage::Full => Self::Full,
            Outage::Locked | Outage::InTheWay => Self::Busy { source: Arc::new(outage) },
            other => Self::Unavailable { source: Arc::new(other) },
        }
    }
}

/// A row that does not have the columns that were asked for.
pub(super) fn unreadable(error: &tokio_postgres::Error) -> StoreError {
    StoreError::Corrupt { what: error.to_string() }
}
