//! Where runs and memory are kept: a file here, or a database on a server.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_memory::store::{Memory, PostgresMemory, SqliteMemory};
use countersign_postgres::{Given, Server, is_address};
use countersign_store::{PostgresSettings, PostgresStore, SqliteStore, Store};

use crate::exit::Error;
use crate::settings::env;

/// A place that holds runs, or memory. Shown, it has no password.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// A file.
    File(PathBuf),
    /// A server.
    Server(Box<Server>),
}

impl Place {
    /// The place that a setting names: an address of `PostgreSQL`, or a file.
    pub(crate) fn named(named: &str) -> Result<Self, Error> {
        if !is_address(named) {
            return Ok(Self::File(PathBuf::from(named)));
        }
        let home = env("HOME").map(|home| Path::new(&home).join(".pgpass"));
        let given = Given {
            authority: env("PGSSLROOTCERT").map(PathBuf::from),
            password: env("PGPASSWORD"),
            passfile: env("PGPASSFILE").map(PathBuf::from).or(home.filter(|path| path.is_file())),
        };
        let server = Server::parse(named, &given)
            .map_err(|fault| Error::Usage(format!("the store cannot be used: {fault}")))?;
        Ok(Self::Server(Box::new(server)))
    }

    /// Opens it; a file is made where there is none, a server is reached when it is asked.
    pub(crate) fn open(&self) -> Result<Arc<dyn Store>, Error> {
        Ok(match self {
            Self::File(path) => Arc::new(SqliteStore::open(path)?),
            Self::Server(server) => {
                Arc::new(PostgresStore::new((**server).clone(), PostgresSettings::default()))
            }
        })
    }

    /// Opens the memory that is kept there, in the same way.
    pub(crate) fn memory(&self) -> Result<Arc<dyn Memory>, Error> {
        Ok(match self {
            Self::File(path) => Arc::new(SqliteMemory::open(path)?),
            Self::Server(server) => {
                // Beside those of the store, which has the most to say.
                let settings = PostgresSettings { connections: 4, ..PostgresSettings::default() };
                Arc::new(PostgresMemory::new((**server).clone(), settings))
            }
        })
    }

    /// Whether there is something to look at, as far as that can be seen from here.
    pub(crate) fn is_there(&self) -> bool {
        match self {
            Self::File(path) => path.is_file(),
            Self::Server(_) => true,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Server(server) => server.fmt(f),
        }
    }
}
