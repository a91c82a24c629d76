//! The server of a source: its address from the settings, and its failures as errors of a source.

use countersign_postgres::{PgAddressError, PgConnectOptions, PgError};
use countersign_runtime::effect::{EffectError, EffectErrorKind};
use tokio_postgres::Client;

use crate::settings::{SourceSettings, source_config_error};
use crate::tls::tls_config_error;

/// A server and a database on it.
pub(super) struct PostgresSourceServer {
    name: String,
    server: countersign_postgres::PgServer,
}

impl PostgresSourceServer {
    /// Reads the address from the variable that `url_env` names, and `ca` if it is set.
    pub(super) fn from_settings(settings: &SourceSettings<'_>) -> Result<Self, EffectError> {
        let url = settings.read_variable("url_env")?;
        let options =
            PgConnectOptions { ca_file: settings.get_path("ca")?, ..PgConnectOptions::default() };
        let server = countersign_postgres::PgServer::parse(&url, &options).map_err(|fault| {
            // Details of the error could show a password, so it only says that the address is
            // invalid.
            match fault {
                PgAddressError::NoHost => {
                    settings.config_error("has a PostgreSQL address without a host")
                }
                PgAddressError::Tls(fault) => tls_config_error(settings.name, fault),
                _ => settings.config_error(
                    "has a variable `url_env` that does not contain a PostgreSQL address",
                ),
            }
        })?;
        Ok(Self { name: settings.name.to_owned(), server })
    }

    /// Opens a new connection. It closes when the client is dropped.
    pub(super) async fn connect(&self) -> Result<Client, EffectError> {
        self.server.connect().await.map_err(|outage| self.connect_error(outage))
    }

    /// Classifies a connection failure: if the server rejects the role or the database, a retry
    /// does not help.
    fn connect_error(&self, outage: PgError) -> EffectError {
        let code = match outage {
            PgError::AuthenticationFailed(code) => String::from_utf8_lossy(&code).into_owned(),
            PgError::NoDatabase => "3D000".to_owned(),
            _ => {
                let message = format!("source `{}` cannot reach its server", self.name);
                return EffectError::new_transient(EffectErrorKind::Unavailable, message);
            }
        };
        source_config_error(&self.name, format!("is rejected by its server ({code})"))
    }
}
