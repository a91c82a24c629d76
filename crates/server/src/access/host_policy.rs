//! Which names a request may call us by. A page of somebody else, whose name leads to this machine, is none of
//! them: so a browser cannot be made to act here for it.

use std::net::{IpAddr, SocketAddr};

use thiserror::Error;

/// Why a request is not for us.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HostError {
    /// It calls us by a name that is not ours.
    #[error(
        "`{found}` is no name of this server; without a key it is called localhost or by its address"
    )]
    Host {
        /// What it called us.
        found: String,
    },
    /// A page of another origin sends it.
    #[error("a page of `{found}` may not use this server")]
    Origin {
        /// Where the page is from.
        found: String,
    },
}

/// Who needs a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuthMode {
    /// Everybody, unless only this machine can reach the server; there the token of the engine's folder does too.
    #[default]
    LoopbackToken,
    /// Everybody, unless only this machine can reach the server; there nobody needs anything, whichever user of the
    /// machine it is.
    LoopbackOpen,
    /// Everybody: behind a proxy on the same machine, all the world seems to come from here.
    KeyRequired,
}

/// Which names are ours.
#[derive(Debug, Clone)]
pub struct HostPolicy {
    allows_keyless: bool,
}

impl HostPolicy {
    /// For these addresses: without a key nobody comes in unless all of them are this machine's own.
    #[must_use]
    pub fn from_addresses(addresses: &[SocketAddr], demand: AuthMode) -> Self {
        let alone = addresses.iter().all(|address| address.ip().is_loopback());
        Self { allows_keyless: alone && demand != AuthMode::KeyRequired }
    }

    /// Whether somebody may come in without a key: only this machine can reach the server.
    #[must_use]
    pub fn allows_keyless(&self) -> bool {
        self.allows_keyless
    }

    /// Lets a request pass by its `Host` and its `Origin`.
    pub fn check(&self, host: Option<&str>, origin: Option<&str>) -> Result<(), HostError> {
        let host = host.unwrap_or_default();
        if self.allows_keyless && !is_loopback_host(host) {
            return Err(HostError::Host { found: host.to_owned() });
        }
        // What a browser sends for another page names that page; programs send none.
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
