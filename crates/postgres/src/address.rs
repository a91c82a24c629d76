//! Parses the address of a server. Errors do not show the address, because it may contain a
//! password.

use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::passfile::{self, PassfileKey};
use crate::tls::TlsError;

/// Connection options that are not part of the address. Options in the address take precedence.
#[derive(Debug, Clone, Default)]
pub struct PgConnectOptions {
    /// PEM file with the CA certificates to trust (`sslrootcert` in an address); `None` means the
    /// system's certificates.
    pub ca_file: Option<PathBuf>,
    /// Password to log in with; it takes precedence over `passfile`.
    pub password: Option<String>,
    /// Password file in the format of `psql` (`passfile` in an address).
    pub passfile: Option<PathBuf>,
}

/// Why an address cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PgAddressError {
    /// The text is not a valid address.
    #[error("not a PostgreSQL address; expected `postgres://user@host:port/database`")]
    Invalid,
    /// The address names no host.
    #[error("the PostgreSQL address names no host")]
    NoHost,
    /// The password file cannot be used.
    #[error("the passfile `{}` cannot be used: {reason}", path.display())]
    Passfile {
        /// Path of the password file.
        path: PathBuf,
        /// Why the file cannot be used.
        reason: String,
    },
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Whether a text looks like the address of a `PostgreSQL` server, by its URL scheme.
#[must_use]
pub fn is_address(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// Combines an address with the options: returns the client configuration and the CA file to trust.
pub(crate) fn parse_address(
    address: &str,
    options: &PgConnectOptions,
) -> Result<(Config, Option<PathBuf>), PgAddressError> {
    let mut beside = options.clone();
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

/// Removes parameters that `psql` knows and the client library does not, and applies them to the
/// options.
fn extract_psql_options(address: &str, options: &mut PgConnectOptions) -> String {
    let Some((base, parameters)) = address.split_once('?').filter(|_| is_address(address)) else {
        return address.to_owned();
    };
    let mut kept = Vec::new();
    for parameter in parameters.split('&') {
        match parameter.split_once('=') {
            Some(("passfile", path)) => options.passfile = Some(percent_decode(path).into()),
            Some(("sslrootcert", path)) => options.ca_file = Some(percent_decode(path).into()),
            // The certificate and the host name are always verified here.
            Some(("sslmode", "verify-full" | "verify-ca")) => {
                kept.push("sslmode=require".to_owned());
            }
            _ => kept.push(parameter.to_owned()),
        }
    }
    if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) }
}

/// Decodes percent escapes such as `%2F`.
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
        // `psql` looks up `localhost` for a Unix socket.
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
        let options =
            PgConnectOptions { password: Some("beside".to_owned()), ..PgConnectOptions::default() };
        for (address, password) in [
            ("postgres://u:in@h/d", "in"),
            ("postgres://u@h/d?application_name=x", "beside"),
            ("host=h user=u password=in", "in"),
        ] {
            let (config, _) = parse_address(address, &options).unwrap();
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
            let message = parse_address(address, &PgConnectOptions::default()).unwrap_err();
            assert_eq!(message, PgAddressError::Invalid);
            assert!(!message.to_string().contains("s3cret"));
        }
        assert_eq!(
            parse_address("user=u", &PgConnectOptions::default()).unwrap_err(),
            PgAddressError::NoHost
        );
    }
}
