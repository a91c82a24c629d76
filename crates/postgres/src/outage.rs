//! What keeps a server from doing its work, told apart so that a person and a retry know what to do.
//! Holds codes and no text of the server: that may quote rows.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;

/// Why a server did not do what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Outage {
    /// Nobody listens there, or the socket is not there.
    #[error("nobody answers at the server's address: the connection was refused")]
    Refused,
    /// There is no answer.
    #[error("the server does not answer in time")]
    Unreached,
    /// The name or the password is not known there.
    #[error("the server does not let this role in ({})", code(*.0))]
    NotLetIn([u8; 5]),
    /// There is no such database.
    #[error("the server has no such database")]
    NoDatabase,
    /// The encrypted connection was not made.
    #[error("no encrypted connection: the server offers none, or its certificate is not trusted")]
    NoTls,
    /// The connection ended in the middle.
    #[error("the connection to the server was cut")]
    Cut,
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
    Full,
    /// It may not write: a standby, or the former primary after a failover.
    #[error("the server is read-only: it is a standby, or was one of two before a failover")]
    ReadOnly,
    /// Somebody holds what is needed.
    #[error("what is to be changed is locked by somebody else for too long")]
    Locked,
    /// The question took longer than it may.
    #[error("the server took longer than it may")]
    TimedOut,
    /// Two writers were in each other's way.
    #[error("another writer was in the way")]
    InTheWay,
    /// The role may not do this.
    #[error("the role may not do this in this database")]
    Denied,
    /// A prepared statement is another session's: a pooler between us does not keep sessions.
    #[error("a prepared statement is gone: a pooler keeps no sessions")]
    NoStatement,
    /// Every connection that this program may have is in use.
    #[error("every connection of this program is in use for too long")]
    AllInUse,
    /// Something else.
    #[error("the server failed with {}", code(*.0))]
    Failed([u8; 5]),
    /// What it said was not understood.
    #[error("the server's answer was not understood")]
    NotUnderstood,
}

impl Outage {
    /// What an error of the client means.
    #[must_use]
    pub fn of(error: &Error) -> Self {
        if let Some(state) = error.code() {
            return Self::of_code(state.code());
        }
        let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        match io.map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => Self::Refused,
            Some(io::ErrorKind::TimedOut) => Self::Unreached,
            Some(_) => Self::Cut,
            None if error.is_closed() => Self::Cut,
            None => Self::NotUnderstood,
        }
    }

    /// The same while a connection is made, where less can have happened.
    #[must_use]
    pub fn of_connecting(error: &Error) -> Self {
        match Self::of(error) {
            Self::NotUnderstood if error.to_string().contains("TLS") => Self::NoTls,
            other => other,
        }
    }

    /// What a code of `PostgreSQL` means.
    #[must_use]
    pub fn of_code(code: &str) -> Self {
        match code {
            "57P01" | "57P02" | "57P04" => Self::ShuttingDown,
            "57P03" => Self::StartingUp,
            "53300" => Self::TooManyConnections,
            "53100" => Self::Full,
            "25006" => Self::ReadOnly,
            "55P03" => Self::Locked,
            "57014" | "25P03" | "25P04" => Self::TimedOut,
            "40001" | "40P01" => Self::InTheWay,
            "42501" => Self::Denied,
            "3D000" => Self::NoDatabase,
            "26000" | "42P05" => Self::NoStatement,
            code if code.starts_with("28") => Self::NotLetIn(bytes(code)),
            code if code.starts_with("08") => Self::Cut,
            code => Self::Failed(bytes(code)),
        }
    }

    /// Whether it may be over soon, so that asking again makes sense.
    #[must_use]
    pub fn passes(self) -> bool {
        self.ends_connection() || matches!(self, Self::TooManyConnections | Self::InTheWay)
    }

    /// Whether the connection is of no more use.
    #[must_use]
    pub fn ends_connection(self) -> bool {
        matches!(
            self,
            Self::Refused
                | Self::Unreached
                | Self::Cut
                | Self::ShuttingDown
                | Self::StartingUp
                // Behind the same address there may be another server by now.
                | Self::ReadOnly
                | Self::NotUnderstood
        )
    }

    /// Whether a write that ended so may have been kept all the same.
    #[must_use]
    pub fn leaves_doubt(self) -> bool {
        matches!(self, Self::Unreached | Self::Cut | Self::ShuttingDown | Self::NotUnderstood)
    }
}

fn bytes(code: &str) -> [u8; 5] {
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
            ("57P01", Outage::ShuttingDown, true, true),
            ("57P03", Outage::StartingUp, true, false),
            ("53300", Outage::TooManyConnections, true, false),
            ("53100", Outage::Full, false, false),
            ("25006", Outage::ReadOnly, true, false),
            ("55P03", Outage::Locked, false, false),
            ("57014", Outage::TimedOut, false, false),
            ("40P01", Outage::InTheWay, true, false),
            ("28P01", Outage::NotLetIn(*b"28P01"), false, false),
            ("3D000", Outage::NoDatabase, false, false),
            ("42501", Outage::Denied, false, false),
            ("22023", Outage::Failed(*b"22023"), false, false),
        ] {
            assert_eq!(Outage::of_code(code), outage);
            assert_eq!((outage.passes(), outage.leaves_doubt()), (passes, doubt), "{code}");
        }
        let told = Outage::NotLetIn(*b"28P01").to_string();
        assert_eq!(told, "the server does not let this role in (28P01)");
    }
}
