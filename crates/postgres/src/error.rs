//! What keeps a server from doing its work, told apart so that a person and a retry know what to do.
//! Holds codes and no text of the server: that may quote rows.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;

/// Why a server did not do what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PgError {
    /// Nobody listens there, or the socket is not there.
    #[error("nobody answers at the server's address: the connection was refused")]
    ConnectionRefused,
    /// There is no answer.
    #[error("the server does not answer in time")]
    Unresponsive,
    /// The name or the password is not known there.
    #[error("the server does not let this role in ({})", code(*.0))]
    AuthenticationFailed([u8; 5]),
    /// There is no such database.
    #[error("the server has no such database")]
    NoDatabase,
    /// The encrypted connection was not made.
    #[error("no encrypted connection: the server offers none, or its certificate is not trusted")]
    TlsFailed,
    /// The connection ended in the middle.
    #[error("the connection to the server was cut")]
    ConnectionLost,
    /// It is being stopped, or it crashed.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// It is not ready yet.
    #[error("the server is starting up")]
    StartingUp,
    /// It serves as many as it may.
    #[error("the server has too many connections")]
    TooManyConnections,
    /// Its disk is full.
    #[error("the server's disk is full")]
    DiskFull,
    /// It may not write: a standby, or the former primary after a failover.
    #[error("the server is read-only: it is a standby, or was one of two before a failover")]
    ReadOnly,
    /// Somebody holds what is needed.
    #[error("what is to be changed is locked by somebody else for too long")]
    LockTimeout,
    /// The question took longer than it may.
    #[error("the server took longer than it may")]
    StatementTimeout,
    /// Two writers were in each other's way.
    #[error("another writer was in the way")]
    SerializationFailure,
    /// The role may not do this.
    #[error("the role may not do this in this database")]
    InsufficientPrivilege,
    /// A prepared statement is another session's: a pooler between us does not keep sessions.
    #[error("a prepared statement is gone: a pooler keeps no sessions")]
    PreparedStatementLost,
    /// Every connection that this program may have is in use.
    #[error("every connection of this program is in use for too long")]
    PoolExhausted,
    /// Something else.
    #[error("the server failed with {}", code(*.0))]
    Other([u8; 5]),
    /// What it said was not understood.
    #[error("the server's answer was not understood")]
    UnexpectedResponse,
}

impl PgError {
    /// What an error of the client means.
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

    /// The same while a connection is made, where less can have happened.
    #[must_use]
    pub fn from_connect_error(error: &Error) -> Self {
        match Self::from_client_error(error) {
            Self::UnexpectedResponse if error.to_string().contains("TLS") => Self::TlsFailed,
            other => other,
        }
    }

    /// What a code of `PostgreSQL` means.
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

    /// Whether it may be over soon, so that asking again makes sense.
    #[must_use]
    pub fn is_transient(self) -> bool {
        self.is_connection_broken()
            || matches!(self, Self::TooManyConnections | Self::SerializationFailure)
    }

    /// Whether the connection is of no more use.
    #[must_use]
    pub fn is_connection_broken(self) -> bool {
        matches!(
            self,
            Self::ConnectionRefused
                | Self::Unresponsive
                | Self::ConnectionLost
                | Self::ShuttingDown
                | Self::StartingUp
                // Behind the same address there may be another server by now.
                | Self::ReadOnly
                | Self::UnexpectedResponse
        )
    }

    /// Whether a write that ended so may have been kept all the same.
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
        let told = PgError::AuthenticationFailed(*b"28P01").to_string();
        assert_eq!(told, "the server does not let this role in (28P01)");
    }
}
