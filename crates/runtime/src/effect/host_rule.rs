//! Decides which addresses the host list of a policy allows.
//!
//! Rules and addresses are both parsed as URLs first, so that spelling makes no difference.

use std::net::{Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// An entry of the host list: `host` or `host:port`, optionally preceded by a scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    scheme: Option<String>,
    host: String,
    port: Option<u16>,
}

impl HostRule {
    /// Parses an entry. Returns `None` if it contains more or less than a host.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme @ ("http" | "https"), rest)) => (Some(scheme.to_owned()), rest),
            Some(_) => return None,
            None => (None, text),
        };
        if rest.contains(['/', '\\', '?', '#', '@']) || rest.contains(char::is_whitespace) {
            return None;
        }
        // A URL drops the default port of its scheme; parsing with both schemes preserves every
        // port.
        let secure = Url::parse(&format!("https://{rest}")).ok()?;
        let plain = Url::parse(&format!("http://{rest}")).ok()?;
        let port = secure.port().or(plain.port());
        Some(Self { scheme, host: secure.host_str()?.to_owned(), port })
    }

    /// Returns whether the rule allows an address.
    ///
    /// Without a port, only the default port of the scheme is allowed. Without a scheme, `https` is
    /// allowed, and `http` only if the request does not leave the machine.
    #[must_use]
    pub fn allows(&self, url: &Url) -> bool {
        let scheme = match &self.scheme {
            Some(scheme) => url.scheme() == scheme,
            None => url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url)),
        };
        let own = if url.scheme() == "https" { 443 } else { 80 };
        scheme
            && url.host_str() == Some(self.host.as_str())
            && url.port_or_known_default() == Some(self.port.unwrap_or(own))
    }
}

/// Returns whether an address refers to this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || bare.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || bare.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: &str, url: &str, expected: bool) {
        let rule = HostRule::parse(rule).unwrap();
        assert_eq!(rule.allows(&Url::parse(url).unwrap()), expected, "{rule:?} {url}");
    }

    #[test]
    fn a_host_means_itself_and_its_own_port() {
        check("api.example.org", "https://api.example.org/v1", true);
        check("API.example.org", "https://api.EXAMPLE.org", true);
        check("api.example.org", "https://api.example.org:443/", true);
        check("api.example.org", "https://api.example.org:8443/", false);
        check("api.example.org:8443", "https://api.example.org:8443/", true);
        check("api.example.org:8443", "https://api.example.org/", false);
        check("api.example.org", "https://api.example.org.evil.example/", false);
        check("api.example.org", "https://evil.example/api.example.org", false);
        check("api.example.org", "https://evil.example#api.example.org", false);
        check("example.org", "https://api.example.org/", false);
        check("bücher.example", "https://xn--bcher-kva.example/", true);
    }

    #[test]
    fn plain_http_stays_on_the_machine_unless_the_owner_says_otherwise() {
        check("api.example.org", "http://api.example.org/", false);
        check("http://api.example.org", "http://api.example.org/", true);
        check("http://api.example.org", "https://api.example.org/", false);
        check("https://127.0.0.1:9", "http://127.0.0.1:9/", false);
        check("127.0.0.1:8080", "http://127.0.0.1:8080/", true);
        check("127.0.0.1:8080", "http://0x7f.1:8080/", true);
        check("127.0.0.1:443", "http://127.0.0.1/", false);
        check("127.0.0.1:80", "http://127.0.0.1/", true);
        check("localhost", "http://localhost/", true);
        check("[::1]:8080", "http://[::1]:8080/", true);
        check("127.0.0.1", "http://127.0.0.1.evil.example/", false);
    }

    #[test]
    fn what_is_no_host_is_no_rule() {
        for text in ["", "ftp://a", "a/b", "a?b", "u@a", "https://", "a b", "a:99999", "\\\\a"] {
            assert_eq!(HostRule::parse(text), None, "{text:?}");
        }
    }
}
