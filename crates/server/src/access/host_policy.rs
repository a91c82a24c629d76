//! Checks the `Host` and `Origin` of requests. A website whose domain name resolves to this machine
//! is rejected, so it cannot make a browser act on this server (DNS rebinding).

use std::net::{IpAddr, SocketAddr};

use thiserror::Error;

/// Why a request is rejected because of its `Host` or `Origin` header.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HostError {
    /// The `Host` header names a host that this server does not serve.
    #[error(
        "`{found}` is not a host name of this server; without a key, use `localhost` or the server's IP address"
    )]
    Host {
        /// The value of the `Host` header.
        found: String,
    },
    /// A page of another origin sent the request.
    #[error("pages from `{found}` are not allowed to call this server")]
    Origin {
        /// The value of the `Origin` header.
        found: String,
    },
}

/// Which requests need a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuthMode {
    /// Every request needs a key, except on a server that listens only on loopback: there the token
    /// in the engine's folder is accepted too. The default.
    #[default]
    LoopbackToken,
    /// Every request needs a key, except on a server that listens only on loopback: there no
    /// credential is needed, and every user of the machine has access.
    LoopbackOpen,
    /// Every request needs a key. Use this behind a proxy on the same machine, which makes all
    /// requests seem to come from loopback.
    KeyRequired,
}

/// Decides which `Host` and `Origin` headers are accepted.
#[derive(Debug, Clone)]
pub struct HostPolicy {
    allows_keyless: bool,
}

impl HostPolicy {
    /// Creates the policy for the listen addresses. Requests without a key are allowed only if all
    /// addresses are loopback addresses.
    #[must_use]
    pub fn from_addresses(addresses: &[SocketAddr], demand: AuthMode) -> Self {
        let alone = addresses.iter().all(|address| address.ip().is_loopback());
        Self { allows_keyless: alone && demand != AuthMode::KeyRequired }
    }

    /// Whether requests without a key are allowed; true only if the server listens on loopback
    /// alone.
    #[must_use]
    pub fn allows_keyless(&self) -> bool {
        self.allows_keyless
    }

    /// Checks the `Host` and `Origin` headers of a request.
    pub fn check(&self, host: Option<&str>, origin: Option<&str>) -> Result<(), HostError> {
        let host = host.unwrap_or_default();
        if self.allows_keyless && !is_loopback_host(host) {
            return Err(HostError::Host { found: host.to_owned() });
        }
        // A browser sends the origin of the page; programs send no `Origin` at all.
        match origin {
            None => Ok(()),
            Some(origin) if origin.split_once("://").is_some_and(|(_, from)| from == host) => {
                Ok(())
            }
            Some(origin) => Err(HostError::Origin { found: origin.to_owned() }),
        }
    }
}

fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(rest, |(name, _)| name),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let local = |address: IpAddr| address.is_loopback();
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_here_is_not_ours() {
        let local = HostPolicy::from_addresses(
            &["127.0.0.1:7070".parse().unwrap(), "[::1]:7070".parse().unwrap()],
            AuthMode::default(),
        );
        assert!(local.allows_keyless());
        for ours in ["localhost:7070", "LOCALHOST", "127.0.0.1:7070", "[::1]:7070", "127.3.2.1"] {
            assert_eq!(local.check(Some(ours), None), Ok(()), "{ours}");
        }
        for theirs in ["evil.example:7070", "localhost.evil.example", "10.0.0.1", "", "[::2]:7070"]
        {
            let fault = local.check(Some(theirs), None);
            assert!(matches!(fault, Err(HostError::Host { .. })), "{theirs}");
        }
        assert!(local.check(None, None).is_err());
    }

    #[test]
    fn a_page_of_another_origin_is_refused_everywhere() {
        let local =
            HostPolicy::from_addresses(&["127.0.0.1:7070".parse().unwrap()], AuthMode::default());
        let open =
            HostPolicy::from_addresses(&["0.0.0.0:80".parse().unwrap()], AuthMode::default());
        assert!(!open.allows_keyless());
        assert!(
            !HostPolicy::from_addresses(&["127.0.0.1:80".parse().unwrap()], AuthMode::KeyRequired)
                .allows_keyless()
        );
        let host = Some("127.0.0.1:7070");
        assert_eq!(local.check(host, Some("http://127.0.0.1:7070")), Ok(()));
        for other in ["http://evil.example", "null", "http://127.0.0.1:8080"] {
            assert!(local.check(host, Some(other)).is_err(), "{other}");
            assert!(open.check(Some("runs.example"), Some(other)).is_err(), "{other}");
        }
        assert_eq!(open.check(Some("runs.example"), Some("https://runs.example")), Ok(()));
    }
}
