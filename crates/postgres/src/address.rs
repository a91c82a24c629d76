//! An address of a server, read. What is wrong with one is told without showing it: it may hold a
//! password.

use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::passfile::{self, PassfileKey};
use crate::tls::TlsError;

/// What is given beside an address. What the address says itself comes first.
#[derive(Debug, Clone, Default)]
pub struct PgConnectOptions {
    /// A file with the certificates of the authority to trust (`sslrootcert` in an address).
    pub ca_file: Option<PathBuf>,
    /// A password.
    pub password: Option<String>,
    /// A file of passwords, as `psql` reads it (`passfile` in an address).
    pub passfile: Option<PathBuf>,
}

/// Why an address is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PgAddressError {
    /// It cannot be read.
    #[error("not a PostgreSQL address; expected `postgres://user@host:port/database`")]
    Invalid,
    /// It names no host.
    #[error("the PostgreSQL address names no host")]
    NoHost,
    /// The file of passwords cannot be used.
    #[error("the passfile `{}` cannot be used: {reason}", path.display())]
    Passfile {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Nothing can be encrypted.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Whether a text means to be the address of a `PostgreSQL` server.
#[must_use]
pub fn is_address(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// An address with what stands beside it: the configuration, and the authority to trust.
pub(crate) fn parse_address(
    address: &str,
    given: &PgConnectOptions,
) -> Result<(Config, Option<PathBuf>), PgAddressError> {
    let mut beside = given.clone();
    let address = extract_psql_options(address, &mut beside);
    let mut config: Config = address.parse().map_err(|_| PgAddressError::Invalid)?;
    if config.get_hosts().is_empty() {
        return Err(PgAddressError::NoHost);
    }
    if config.get_password().is_none() {
        let password = match (beside.password, &beside.passfile) {
            (Some(password), _) => Some(password),
            (None, Some(path)) => passfile::find_password(path, &passfile_key(&config))?,
            (None, None) => None,
        };
        if let Some(password) = password {
            config.password(password);
        }
    }
    Ok((config, beside.ca_file))
}

/// Takes out of an address what the client does not know and `psql` does.
fn extract_psql_options(address: &str, given: &mut PgConnectOptions) -> String {
    let Some((place, parameters)) = address.split_once('?').filter(|_| is_address(address)) else {
        return address.to_owned();
    };
    let mut kept = Vec::new();
    for parameter in parameters.split('&') {
        match parameter.split_once('=') {
            Some(("passfile", path)) => given.passfile = Some(percent_decode(path).into()),
            Some(("sslrootcert", path)) => given.ca_file = Some(percent_decode(path).into()),
            // A certificate is always checked here, with the name of the host.
            Some(("sslmode", "verify-full" | "verify-ca")) => {
                kept.push("sslmode=require".to_owned());
            }
            _ => kept.push(parameter.to_owned()),
        }
    }
    if kept.is_empty() { place.to_owned() } else { format!("{place}?{}", kept.join("&")) }
}

/// A text with its `%2F` and the like read.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn passfile_key(config: &Config) -> PassfileKey<'_> {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host,
        // What `psql` looks for where a socket is meant.
        _ => "localhost",
    };
    let user = config.get_user().unwrap_or_default();
    PassfileKey {
        host,
        port: config.get_ports().first().copied().unwrap_or(5432),
        database: config.get_dbname().unwrap_or(user),
        user,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_password_counts() {
        let given =
            PgConnectOptions { password: Some("beside".to_owned()), ..PgConnectOptions::default() };
        for (address, password) in [
            ("postgres://u:in@h/d", "in"),
            ("postgres://u@h/d?application_name=x", "beside"),
            ("host=h user=u password=in", "in"),
        ] {
            let (config, _) = parse_address(address, &given).unwrap();
            assert_eq!(config.get_password(), Some(password.as_bytes()), "{address}");
        }
    }

    #[test]
    fn what_psql_knows_is_understood() {
        let address = "postgres://u@h/d?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem";
        let (config, authority) = parse_address(address, &PgConnectOptions::default()).unwrap();
        assert_eq!(config.get_ssl_mode(), tokio_postgres::config::SslMode::Require);
        assert_eq!(authority, Some(PathBuf::from("/etc/ca.pem")));
        let (_, authority) =
            parse_address("postgres://u@h/d?sslrootcert=a", &PgConnectOptions::default()).unwrap();
        assert_eq!(authority, Some(PathBuf::from("a")));
    }

    #[test]
    fn what_is_wrong_shows_nothing_of_the_address() {
        for address in ["postgres://u:s3cret@h:x/d", "postgres://u:s3cret@h/d?s3cret=1", "s3cret"] {
            let told = parse_address(address, &PgConnectOptions::default()).unwrap_err();
            assert_eq!(told, PgAddressError::Invalid);
            assert!(!told.to_string().contains("s3cret"));
        }
        assert_eq!(
            parse_address("user=u", &PgConnectOptions::default()).unwrap_err(),
            PgAddressError::NoHost
        );
    }
}
