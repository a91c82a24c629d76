//! Service URLs whose user name and password must not appear in logs, events or messages.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

/// Replacement text for a user name and password.
const REDACTED: &str = "[redacted]";

/// URL of a service. `Display`, `Debug` and `Serialize` omit the user name and the password.
#[derive(Clone, PartialEq, Eq)]
pub struct ServiceUrl(String);

impl ServiceUrl {
    /// Wraps a URL exactly as it was configured, including any credentials.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the whole URL with its credentials. Use it only to open a connection.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact_credentials(&self.0))
    }
}

impl fmt::Debug for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", redact_credentials(&self.0))
    }
}

impl Serialize for ServiceUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&redact_credentials(&self.0))
    }
}

/// Returns whether any URL in the text contains a user name or a password.
#[must_use]
pub fn has_credentials(text: &str) -> bool {
    matches!(redact_credentials(text), Cow::Owned(_))
}

/// Replaces the user names and passwords of all URLs in the text with `[redacted]`.
#[must_use]
pub fn redact_credentials(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        let ends = |sign: char| matches!(sign, '/' | '?' | '#' | '"' | '`') || sign.is_whitespace();
        let authority = &after[..after.find(ends).unwrap_or(after.len())];
        shown.push_str(before);
        let hidden = authority.rfind('@').map_or(0, |at| at + 1);
        if hidden > 0 {
            shown.push_str(REDACTED);
            shown.push('@');
        }
        rest = &after[hidden..];
    }
    if shown.is_empty() || !shown.contains(REDACTED) {
        return Cow::Borrowed(text);
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_and_a_password_are_never_shown() {
        for (text, expected) in [
            ("openai:x@http://u:p@h/v1", "openai:x@http://[redacted]@h/v1"),
            ("postgres://u:p@ss@h:5/d?x=1", "postgres://[redacted]@h:5/d?x=1"),
            (
                "to http://token@h and https://a:b@i!",
                "to http://[redacted]@h and https://[redacted]@i!",
            ),
        ] {
            assert!(has_credentials(text));
            assert_eq!(redact_credentials(text), expected);
            let address = ServiceUrl::new(text);
            assert_eq!(address.to_string(), expected);
            assert_eq!(format!("{address:?}"), format!("Address({expected})"));
            assert_eq!(serde_json::to_value(&address).unwrap(), expected);
            assert_eq!(address.reveal(), text);
        }
    }

    #[test]
    fn what_has_none_stays_as_it_is() {
        for text in [
            "",
            "human",
            "openai:a@b",
            "http://h/v1?a=b@c",
            "http://h/a@b",
            "://",
            "http://[::1]:8/",
        ] {
            assert!(!has_credentials(text), "{text}");
            assert_eq!(redact_credentials(text), text);
        }
    }
}
