//! How the program ends. Every command uses these codes and no others.

use std::process::ExitCode;

use countersign_core::contract::RegistryError;
use countersign_core::spec::Diagnostic;
use thiserror::Error;

/// The meaning of an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; accepted; compatible.
    Good = 0,
    /// The answer is no: refused, incompatible.
    Refused = 1,
    /// The command line or an author's file is wrong.
    Author = 2,
    /// The outside world: a file that cannot be read, a disk that is full.
    World = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not do what was asked.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// The command line asks for something that is not there.
    #[error("{0}")]
    Usage(String),
    /// An author's files have faults.
    #[error("{} in the contract files", count(.0.len()))]
    Author(Vec<Diagnostic>),
    /// A contract is unknown, or claims a name that is taken.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A file could not be read.
    #[error("cannot read {what}: {source}")]
    Unreadable {
        /// The file, as it was named.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    /// The code this ends with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) | Self::Author(_) | Self::Registry(_) => Exit::Author,
            Self::Unreadable { .. } => Exit::World,
        }
    }
}

fn count(faults: usize) -> String {
    if faults == 1 { "1 fault".to_owned() } else { format!("{faults} faults") }
}
