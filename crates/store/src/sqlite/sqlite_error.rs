//! Converts errors of `SQLite` to store errors.

use std::sync::Arc;

use rusqlite::{Error, ErrorCode};

use crate::StoreError;

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        match &error {
            Error::SqliteFailure(failure, message) => match failure.code {
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                    Self::Busy { source: Arc::new(error) }
                }
                ErrorCode::DiskFull => Self::DiskFull,
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                    Self::Corrupt { reason: message.clone().unwrap_or_else(|| failure.to_string()) }
                }
                _ => Self::Unavailable { source: Arc::new(error) },
            },
            Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..) => Self::Corrupt { reason: error.to_string() },
            _ => Self::Unavailable { source: Arc::new(error) },
        }
    }
}

/// Whether a row was refused because its key exists already.
pub(super) fn is_unique_violation(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
        && error.sqlite_error().is_some_and(|failure| {
            failure.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY
                || failure.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE
        })
}
