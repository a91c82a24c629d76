//! Where the `PostgreSQL` server is, and how a connection to it is made.

use std::time::Duration;

use countersign_runtime::effect::{EffectError, EffectErrorKind};
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls};

use super::encrypted::Encrypted;
use crate::settings::{Settings, not_configured};
use crate::tls::{connector, is_loopback};

/// How long it may take to reach the server.
const CONNECTING: Duration = Duration::from_secs(5);

/// A server and a database on it.
pub(super) struct Server {
    name: String,
    config: Config,
    tls: Option<Encrypted>,
}

impl Server {
    /// Reads the address from the variable that `url_env` names, and `ca` where there is one.
    pub(super) fn read(settings: &Settings<'_>) -> Result<Self, EffectError> {
        let url = settings.variable("url_env")?;
        // What is wrong with it could show a password, so only that it is wrong is told.
        let mut config: Config = url.parse().map_err(|_| {
            settings.fault("has a variable `url_env` that does not hold a PostgreSQL address")
        })?;
        if config.get_hosts().is_empty() {
            return Err(settings.fault("has a PostgreSQL address without a host"));
        }
        config.application_name("countersign").connect_timeout(CONNECTING);
        let near = config.get_hosts().iter().all(|host| match host {
            Host::Tcp(host) => is_loopback(host),
            #[cfg(unix)]
            Host::Unix(_) => true,
        });
        let ca = settings.place("ca")?;
        // `prefer`, the client's habit, lets anybody on the way turn encryption off.
        let mode = match config.get_ssl_mode() {
            SslMode::Prefer if near && ca.is_none() => SslMode::Disable,
            SslMode::Prefer => SslMode::Require,
            said => said,
        };
        config.ssl_mode(mode);
        let tls = match mode {
            SslMode::Disable => None,
            _ => Some(Encrypted(connector(settings.name, ca.as_deref())?)),
        };
        Ok(Self { name: settings.name.to_owned(), config, tls })
    }

    /// A new connection. It ends when the client is dropped.
    pub(super) async fn connect(&self) -> Result<Client, EffectError> {
        // The client's own limit ends with the first packet; one who then says nothing is waited
        // for without end.
        match timeout(CONNECTING, self.greet()).await {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(error)) => Err(self.unreached(error.code())),
            Err(_) => Err(self.unreached(None)),
        }
    }

    async fn greet(&self) -> Result<Client, tokio_postgres::Error> {
        match &self.tls {
            None => self.config.connect(NoTls).await.map(|(client, connection)| {
                drop(tokio::spawn(connection));
                client
            }),
            Some(tls) => self.config.connect(tls.clone()).await.map(|(client, connection)| {
                drop(tokio::spawn(connection));
                client
            }),
        }
    }

    fn unreached(&self, code: Option<&SqlState>) -> EffectError {
        match code {
            Some(code) if is_refusal(code) => {
                let code = code.code();
                not_configured(&self.name, format!("is not let in by its server ({code})"))
            }
            _ => {
                let message = format!("source `{}` does not reach its server", self.name);
                EffectError::passing(EffectErrorKind::Unavailable, message)
            }
        }
    }
}

/// Whether the server knows neither us nor the database: trying again does not help.
fn is_refusal(code: &SqlState) -> bool {
    code.code().starts_with("28") || *code == SqlState::INVALID_CATALOG_NAME
}
