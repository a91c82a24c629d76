//! Where runs and memory are stored: in a local file or in a database on a server.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_memory::store::{Memory, PostgresMemory, SqliteMemory};
use countersign_postgres::{PgConnectOptions, PgServer, is_address};
use countersign_store::{PostgresSettings, PostgresStore, SqliteStore, Store};

use crate::exit::CliError;
use crate::settings::env_var;

/// The location of a store or a memory. Its displayed form contains no password.
#[derive(Debug, Clone)]
pub(crate) enum StoreLocation {
    /// A local `SQLite` file.
    File(PathBuf),
    /// A `PostgreSQL` server.
    Server(Box<PgServer>),
}

impl StoreLocation {
    /// Parses the location that a setting names: a `PostgreSQL` URL or a file path.
    pub(crate) fn parse(named: &str) -> Result<Self, CliError> {
        if !is_address(named) {
            return Ok(Self::File(PathBuf::from(named)));
        }
        let home = env_var("HOME").map(|home| Path::new(&home).join(".pgpass"));
        let options = PgConnectOptions {
            ca_file: env_var("PGSSLROOTCERT").map(PathBuf::from),
            password: env_var("PGPASSWORD"),
            passfile: env_var("PGPASSFILE")
                .map(PathBuf::from)
                .or(home.filter(|path| path.is_file())),
        };
        let server = PgServer::parse(named, &options)
            .map_err(|fault| CliError::Usage(format!("cannot use the store: {fault}")))?;
        Ok(Self::Server(Box::new(server)))
    }

    /// Opens the store. Creates a missing file; connects to a server on first use.
    pub(crate) fn open_store(&self) -> Result<Arc<dyn Store>, CliError> {
        Ok(match self {
            Self::File(path) => Arc::new(SqliteStore::open(path)?),
            Self::Server(server) => {
                Arc::new(PostgresStore::new((**server).clone(), PostgresSettings::default()))
            }
        })
    }

    /// Opens the memory at this location, in the same way as the store.
    pub(crate) fn open_memory(&self) -> Result<Arc<dyn Memory>, CliError> {
        Ok(match self {
            Self::File(path) => Arc::new(SqliteMemory::open(path)?),
            Self::Server(server) => {
                // Few connections, in addition to those of the store, which has most of the
                // traffic.
                let settings = PostgresSettings { connections: 4, ..PostgresSettings::default() };
                Arc::new(PostgresMemory::new((**server).clone(), settings))
            }
        })
    }

    /// Returns whether the store exists, as far as can be known without connecting.
    pub(crate) fn exists(&self) -> bool {
        match self {
            Self::File(path) => path.is_file(),
            Self::Server(_) => true,
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Server(server) => server.fmt(f),
        }
    }
}
