//! Addresses of graph servers: `bolt://user:password@host:7687`, and `bolt+s://` with TLS.

/// A parsed server address.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct BoltAddress {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) encrypted: bool,
    /// User and password, if the address has them.
    pub(super) login: Option<(String, String)>,
}

impl BoltAddress {
    /// Parses an address; `None` if it is invalid. `neo4j://` means the same as `bolt://`: a single
    /// server.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once("://")?;
        let encrypted = match scheme {
            "bolt" | "neo4j" => false,
            "bolt+s" | "neo4j+s" => true,
            _ => return None,
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (login, host_part) = match rest.rsplit_once('@') {
            Some((login, host_part)) => {
                let (user, password) = login.split_once(':')?;
                (Some((percent_decode(user)?, percent_decode(password)?)), host_part)
            }
            None => (None, rest),
        };
        let (host, port) = match host_part.strip_prefix('[') {
            Some(rest) => {
                let (host, behind) = rest.split_once(']')?;
                (host, behind.strip_prefix(':'))
            }
            None => match host_part.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (host_part, None),
            },
        };
        let port = port.map_or(Some(7687), |port| port.parse().ok())?;
        let sound = !host.is_empty() && !host.contains(['/', '?', '#', ' ', '@']);
        sound.then(|| Self { host: host.to_owned(), port, encrypted, login })
    }
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push((high * 16 + low) as u8);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let read = BoltAddress::parse("bolt+s://neo%40x:p%3Aw@graph.example:7688/").unwrap();
        assert_eq!((read.host.as_str(), read.port, read.encrypted), ("graph.example", 7688, true));
        assert_eq!(read.login, Some(("neo@x".to_owned(), "p:w".to_owned())));
        let read = BoltAddress::parse("bolt://[::1]").unwrap();
        assert_eq!((read.host.as_str(), read.port, read.login), ("::1", 7687, None));
        for bad in [
            "",
            "http://a",
            "bolt://",
            "bolt://a:b:c",
            "bolt://u@h",
            "bolt://u:%zz@h",
            "bolt://h:99999",
        ] {
            assert!(BoltAddress::parse(bad).is_none(), "{bad}");
        }
    }
}
