//! Failures of a server, distinguished so that people and retry logic know what to do. An error
//! holds codes and no text from the server, because that text may quote rows.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;

/// Why a server did not execute a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PgError {
    /// No server listens at the address, or the socket does not exist.
    #[error("no server listens at the address: the connection was refused")]
    ConnectionRefused,
    /// The server did not respond in time.
    #[error("the server did not respond in time")]
    Unresponsive,
    /// The server rejected the role or the password; holds the SQLSTATE.
    #[error("the server rejected the role or the password ({})", code(*.0))]
    AuthenticationFailed([u8; 5]),
    /// The database does not exist.
    #[error("the server has no such database")]
    NoDatabase,
    /// The encrypted connection could not be established.
    #[error("no encrypted connection: the server offers none, or its certificate is not trusted")]
    TlsFailed,
    /// The connection closed unexpectedly.
    #[error("the connection to the server was lost")]
    ConnectionLost,
    /// The server is being stopped, or it crashed.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The server is not ready yet.
    #[error("the server is starting up")]
    StartingUp,
    /// The server has reached its connection limit.
    #[error("the server has too many connections")]
    TooManyConnections,
    /// The server's disk is full.
    #[error("the server's disk is full")]
    DiskFull,
    /// The server cannot write: it is a standby, or the former primary after a failover.
    #[error("the server is read-only: it is a standby, or the former primary after a failover")]
    ReadOnly,
    /// Another session held a required lock for too long.
    #[error("another session held a required lock for too long")]
    LockTimeout,
    /// The statement exceeded its time limit.
    #[error("the statement exceeded its time limit")]
    StatementTimeout,
    /// Two concurrent writers conflicted.
    #[error("a concurrent writer caused a conflict")]
    SerializationFailure,
    /// The role lacks a required privilege.
    #[error("the role lacks a required privilege in this database")]
    InsufficientPrivilege,
    /// A prepared statement belongs to another session: a connection pooler in between does not
    /// keep sessions.
    #[error("a prepared statement is missing: a connection pooler does not keep sessions")]
    PreparedStatementLost,
    /// Every connection that this program may open is in use.
    #[error("all connections of this program were in use for too long")]
    PoolExhausted,
    /// Any other failure; holds the SQLSTATE.
    #[error("the server failed with {}", code(*.0))]
    Other([u8; 5]),
    /// The client did not understand the server's response.
    #[error("the server's response was not understood")]
    UnexpectedResponse,
}

impl PgError {
    /// Classifies an error of the client library.
    #[must_use]
    pub fn from_client_error(error: &Error) -> Self {
        if let Some(state) = error.code() {
            return Self::from_sqlstate(state.code());
        }
        let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        match io.map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {
                Self::ConnectionRefused
            }
            Some(io::ErrorKind::TimedOut) => Self::Unresponsive,
            Some(_) => Self::ConnectionLost,
            None if error.is_closed() => Self::ConnectionLost,
            None => Self::UnexpectedResponse,
        }
    }

    /// Classifies an error while connecting, where fewer causes are possible.
    #[must_use]
    pub fn from_connect_error(error: &Error) -> Self {
        match Self::from_client_error(error) {
            Self::UnexpectedResponse if error.to_string().contains("TLS") => Self::TlsFailed,
            other => other,
        }
    }

    /// Classifies a `PostgreSQL` SQLSTATE code.
    #[must_use]
    pub fn from_sqlstate(code: &str) -> Self {
        match code {
            "57P01" | "57P02" | "57P04" => Self::ShuttingDown,
            "57P03" => Self::StartingUp,
            "53300" => Self::TooManyConnections,
            "53100" => Self::DiskFull,
            "25006" => Self::ReadOnly,
            "55P03" => Self::LockTimeout,
            "57014" | "25P03" | "25P04" => Self::StatementTimeout,
            "40001" | "40P01" => Self::SerializationFailure,
            "42501" => Self::InsufficientPrivilege,
            "3D000" => Self::NoDatabase,
            "26000" | "42P05" => Self::PreparedStatementLost,
            code if code.starts_with("28") => Self::AuthenticationFailed(sqlstate_bytes(code)),
            code if code.starts_with("08") => Self::ConnectionLost,
            code => Self::Other(sqlstate_bytes(code)),
        }
    }

    /// Whether the failure may pass soon, so that a retry makes sense.
    #[must_use]
    pub fn is_transient(self) -> bool {
        self.is_connection_broken()
            || matches!(self, Self::TooManyConnections | Self::SerializationFailure)
    }

    /// Whether the connection can no longer be used.
    #[must_use]
    pub fn is_connection_broken(self) -> bool {
        matches!(
            self,
            Self::ConnectionRefused
                | Self::Unresponsive
                | Self::ConnectionLost
                | Self::ShuttingDown
                | Self::StartingUp
                // Another server may answer at the same address by now.
                | Self::ReadOnly
                | Self::UnexpectedResponse
        )
    }

    /// Whether a write that failed this way may still have been committed.
    #[must_use]
    pub fn is_outcome_unknown(self) -> bool {
        matches!(
            self,
            Self::Unresponsive
                | Self::ConnectionLost
                | Self::ShuttingDown
                | Self::UnexpectedResponse
        )
    }
}

fn sqlstate_bytes(code: &str) -> [u8; 5] {
    code.as_bytes().try_into().unwrap_or(*b"XX000")
}

fn code(bytes: [u8; 5]) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_apart() {
        for (code, outage, passes, doubt) in [
            ("57P01", PgError::ShuttingDown, true, true),
            ("57P03", PgError::StartingUp, true, false),
            ("53300", PgError::TooManyConnections, true, false),
            ("53100", PgError::DiskFull, false, false),
            ("25006", PgError::ReadOnly, true, false),
            ("55P03", PgError::LockTimeout, false, false),
            ("57014", PgError::StatementTimeout, false, false),
            ("40P01", PgError::SerializationFailure, true, false),
            ("28P01", PgError::AuthenticationFailed(*b"28P01"), false, false),
            ("3D000", PgError::NoDatabase, false, false),
            ("42501", PgError::InsufficientPrivilege, false, false),
            ("22023", PgError::Other(*b"22023"), false, false),
        ] {
            assert_eq!(PgError::from_sqlstate(code), outage);
            assert_eq!(
                (outage.is_transient(), outage.is_outcome_unknown()),
                (passes, doubt),
                "{code}"
            );
        }
        let message = PgError::AuthenticationFailed(*b"28P01").to_string();
        assert_eq!(message, "the server rejected the role or the password (28P01)");
    }
}
