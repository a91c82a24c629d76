//! An address of a server, read. What is wrong with one is told without showing it: it may hold a
//! password.

use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::passfile::{self, Wanted};
use crate::tls::TlsError;

/// What is given beside an address. What the address says itself comes first.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// A file with the certificates of the authority to trust (`sslrootcert` in an address).
    pub authority: Option<PathBuf>,
    /// A password.
    pub password: Option<String>,
    /// A file of passwords, as `psql` reads it (`passfile` in an address).
    pub passfile: Option<PathBuf>,
}

/// Why an address is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It cannot be read.
    #[error("not a PostgreSQL address; expected `postgres://user@host:port/database`")]
    Unreadable,
    /// It names no host.
    #[error("the PostgreSQL address names no host")]
    NoHost,
    /// The file of passwords cannot be used.
    #[error("the passfile `{}` cannot be used: {why}", path.display())]
    Passfile {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
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
pub(crate) fn read(
    address: &str,
    given: &Given,
) -> Result<(Config, Option<PathBuf>), AddressError> {
    let mut beside = given.clone();
    let address = take_ours(address, &mut beside);
    let mut config: Config = address.parse().map_err(|_| AddressError::Unreadable)?;
    if config.get_hosts().is_empty() {
        return Err(AddressError::NoHost);
    }
    if config.get_password().is_none() {
        let password = match (beside.password, &beside.passfile) {
            (Some(password), _) => Some(password),
            (None, Some(path)) => passfile::password(path, &wanted(&config))?,
            (None, None) => None,
        };
        if let Some(password) = password {
            config.password(password);
        }
    }
    Ok((config, beside.authority))
}

/// Takes out of an address what the client does not know and `psql` does.
fn take_ours(address: &str, given: &mut Given) -> String {
    let Some((place, parameters)) = address.split_once('?').filter(|_| is_address(address)) else {
        return address.to_owned();
    };
    let mut kept = Vec::new();
    for parameter in parameters.split('&') {
        match parameter.split_once('=') {
            Some(("passfile", path)) => given.passfile = Some(decoded(path).into()),
            Some(("sslrootcert", path)) => given.authority = Some(decoded(path).into()),
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
fn decoded(text: &str) -> String {
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

fn wanted(config: &Config) -> Wanted<'_> {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host,
        // What `psql` looks for where a socket is meant.
        _ => "localhost",
    };
    let user = config.get_user().unwrap_or_default();
    Wanted {
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
        let given = Given { password: Some("beside".to_owned()), ..Given::default() };
        for (address, password) in [
            ("postgres://u:in@h/d", "in"),
            ("postgres://u@h/d?application_name=x", "beside"),
            ("host=h user=u password=in", "in"),
        ] {
            let (config, _) = read(address, &given).unwrap();
            assert_eq!(config.get_password(), Some(password.as_bytes()), "{address}");
        }
    }

    #[test]
    fn what_psql_knows_is_understood() {
        let address = "postgres://u@h/d?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem";
        let (config, authority) = read(address, &Given::default()).unwrap();
        assert_eq!(config.get_ssl_mode(), tokio_postgres::config::SslMode::Require);
        assert_eq!(authority, Some(PathBuf::from("/etc/ca.pem")));
        let (_, authority) = read("postgres://u@h/d?sslrootcert=a", &Given::default()).unwrap();
        assert_eq!(authority, Some(PathBuf::from("a")));
    }

    #[test]
    fn what_is_wrong_shows_nothing_of_the_address() {
        for address in ["postgres://u:s3cret@h:x/d", "postgres://u:s3cret@h/d?s3cret=1", "s3cret"] {
            let told = read(address, &Given::default()).unwrap_err();
            assert_eq!(told, AddressError::Unreadable);
            assert!(!told.to_string().contains("s3cret"));
        }
        assert_eq!(read("user=u", &Given::default()).unwrap_err(), AddressError::NoHost);
    }
}
