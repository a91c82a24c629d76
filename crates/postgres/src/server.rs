//! The parsed address of a server, and how to connect to it.

use std::fmt;
use std::future::poll_fn;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};

use crate::address::{self, PgAddressError, PgConnectOptions};
use crate::error::PgError;
use crate::rustls_connect::MakeRustlsConnect;
use crate::tls::{build_tls_connector, is_loopback};

/// Time limit for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Callback that receives the payload of every notification on a listening connection.
pub type NotificationHandler = Box<dyn Fn(&str) + Send>;

/// A database on a server, or on one of several servers.
#[derive(Clone)]
pub struct PgServer {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    display: String,
}

impl fmt::Debug for PgServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.display).finish()
    }
}

/// Shows user, host and database; never the password.
impl fmt::Display for PgServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display)
    }
}

impl PgServer {
    /// Parses an address without connecting.
    ///
    /// A connection to another machine uses TLS and verifies the certificate, unless the address
    /// says `sslmode=disable`.
    pub fn parse(address: &str, options: &PgConnectOptions) -> Result<Self, PgAddressError> {
        let (mut config, authority) = address::parse_address(address, options)?;
        if config.get_application_name().is_none() {
            config.application_name("countersign");
        }
        config.connect_timeout(CONNECT_TIMEOUT);
        let near = config.get_hosts().iter().all(|host| match host {
            Host::Tcp(host) => is_loopback(host),
            #[cfg(unix)]
            Host::Unix(_) => true,
        });
        // `prefer`, the client's default, lets an attacker on the network turn encryption off.
        let mode = match config.get_ssl_mode() {
            SslMode::Prefer if near && authority.is_none() => SslMode::Disable,
            SslMode::Prefer => SslMode::Require,
            said => said,
        };
        config.ssl_mode(mode);
        let tls = match mode {
            SslMode::Disable => None,
            _ => Some(MakeRustlsConnect(build_tls_connector(authority.as_deref())?)),
        };
        let shown = display_address(&config);
        Ok(Self { config, tls, display: shown })
    }

    /// Whether connections to the server are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// The role that logs in; `None` if the address names none.
    #[must_use]
    pub fn role(&self) -> Option<&str> {
        self.config.get_user()
    }

    /// The database; `None` if the address names none.
    #[must_use]
    pub fn database(&self) -> Option<&str> {
        self.config.get_dbname()
    }

    /// Opens a new connection. It closes when the client is dropped.
    pub async fn connect(&self) -> Result<Client, PgError> {
        self.connect_with_handler(None).await
    }

    /// Opens a new connection whose notifications go to a handler.
    pub async fn connect_with_handler(
        &self,
        hear: Option<NotificationHandler>,
    ) -> Result<Client, PgError> {
        // The client's own timeout ends with the first packet; without this one, a server that then
        // stays silent would block the caller forever.
        match timeout(CONNECT_TIMEOUT, self.open_connection(hear)).await {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(error)) => Err(PgError::from_connect_error(&error)),
            Err(_) => Err(PgError::Unresponsive),
        }
    }

    async fn open_connection(
        &self,
        hear: Option<NotificationHandler>,
    ) -> Result<Client, tokio_postgres::Error> {
        match &self.tls {
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                drop(tokio::spawn(drive_connection(connection, hear)));
                Ok(client)
            }
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await?;
                drop(tokio::spawn(drive_connection(connection, hear)));
                Ok(client)
            }
        }
    }
}

/// Transfers messages between the client and its socket until one of them ends.
async fn drive_connection<S, T>(mut connection: Connection<S, T>, hear: Option<NotificationHandler>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
        if let (AsyncMessage::Notification(notice), Some(hear)) = (message, &hear) {
            hear(notice.payload());
        }
    }
}

fn display_address(config: &Config) -> String {
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| {
        let port = ports.get(at).or_else(|| ports.first()).filter(|port| **port != 5432);
        let host = match host {
            Host::Tcp(host) => host.clone(),
            #[cfg(unix)]
            Host::Unix(folder) => folder.display().to_string(),
        };
        port.map_or(host.clone(), |port| format!("{host}:{port}"))
    });
    let hosts: Vec<String> = hosts.collect();
    let user = config.get_user().map_or_else(String::new, |user| format!("{user}@"));
    let database = config.get_dbname().map_or_else(String::new, |name| format!("/{name}"));
    format!("postgres://{user}{}{database}", hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(address: &str) -> PgServer {
        PgServer::parse(address, &PgConnectOptions::default()).unwrap()
    }

    #[test]
    fn a_password_is_never_shown() {
        let server = parse("postgres://cs:s3cret@localhost:5433,127.0.0.1:5434/runs");
        assert_eq!(server.to_string(), "postgres://cs@localhost:5433,127.0.0.1:5434/runs");
        assert!(!format!("{server:?}").contains("s3cret"));
        assert_eq!(parse("postgres://cs@localhost").to_string(), "postgres://cs@localhost");
    }

    #[test]
    fn another_machine_is_talked_to_under_tls() {
        for (address, encrypted) in [
            ("postgres://u@localhost/d", false),
            ("postgres://u@%2Ftmp/d", false),
            ("postgres://u@[::1]/d", false),
            ("postgres://u@db.example/d", true),
            ("postgres://u@localhost,db.example/d", true),
            ("postgres://u@db.example/d?sslmode=disable", false),
            ("postgres://u@localhost/d?sslmode=require", true),
        ] {
            assert_eq!(parse(address).is_encrypted(), encrypted, "{address}");
        }
    }
}
