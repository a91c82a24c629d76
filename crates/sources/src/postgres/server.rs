//! The server of a source: its address from the settings, its outages in the words of a source.

use countersign_postgres::{AddressError, Given, Outage};
use countersign_runtime::effect::{EffectError, EffectErrorKind};
use tokio_postgres::Client;

use crate::settings::{Settings, not_configured};
use crate::tls::unencrypted;

/// A server and a database on it.
pub(super) struct Server {
    name: String,
    server: countersign_postgres::Server,
}

impl Server {
    /// Reads the address from the variable that `url_env` names, and `ca` where there is one.
    pub(super) fn read(settings: &Settings<'_>) -> Result<Self, EffectError> {
        let url = settings.variable("url_env")?;
        let given = Given { authority: settings.place("ca")?, ..Given::default() };
        let server = countersign_postgres::Server::parse(&url, &given).map_err(|fault| {
            // What is wrong with it could show a password, so only that it is wrong is told.
            match fault {
                AddressError::NoHost => settings.fault("has a PostgreSQL address without a host"),
                AddressError::Tls(fault) => unencrypted(settings.name, fault),
                _ => settings
                    .fault("has a variable `url_env` that does not hold a PostgreSQL address"),
            }
        })?;
        Ok(Self { name: settings.name.to_owned(), server })
    }

    /// A new connection. It ends when the client is dropped.
    pub(super) async fn connect(&self) -> Result<Client, EffectError> {
        self.server.connect().await.map_err(|outage| self.unreached(outage))
    }

    /// Where the server knows neither us nor the database, trying again does not help.
    fn unreached(&self, outage: Outage) -> EffectError {
        let code = match outage {
            Outage::NotLetIn(code) => String::from_utf8_lossy(&code).into_owned(),
            Outage::NoDatabase => "3D000".to_owned(),
            _ => {
                let message = format!("source `{}` does not reach its server", self.name);
                return EffectError::passing(EffectErrorKind::Unavailable, message);
            }
        };
        not_configured(&self.name, format!("is not let in by its server ({code})"))
    }
}
