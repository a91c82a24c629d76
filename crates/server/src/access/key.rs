//! A key: 256 bits of chance, of which only a hash is kept.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::json::sha256;
use countersign_core::run::Time;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::Role;

/// What every key begins with, so that a scanner of files knows one when it sees it.
const PREFIX: &str = "csk_";

/// The key itself, as its holder has it. Shown once, and never printed by accident.
pub struct Secret(String);

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// Where the system has no chance to give.
    pub fn fresh() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// One that somebody showed.
    #[must_use]
    pub fn shown(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text, for the one who gets it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    #[must_use]
    pub fn hash(&self) -> String {
        // 256 bits of chance need no salt and no slow hash: there is nothing to guess.
        sha256(&[self.0.as_bytes()])
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A key as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// By which it is named in lists and revoked.
    pub id: String,
    /// SHA-256 of the key, in hexadecimal.
    pub hash: String,
    /// Whose runs and memory it opens.
    pub tenant: String,
    /// What its holder may do.
    pub role: Role,
    /// Who its holder is, for the record, and for waits that only they may answer.
    pub user: String,
    /// When it was made.
    pub created_at: Time,
    /// When it stops being one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    /// When somebody took it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Time>,
}

impl Key {
    /// Whether it is the key of this hash. Takes the same time whatever the answer.
    #[must_use]
    pub fn is(&self, hash: &str) -> bool {
        self.hash.as_bytes().ct_eq(hash.as_bytes()).into()
    }

    /// Why it opens nothing now; `None` where it does.
    #[must_use]
    pub fn dead(&self, now: Time) -> Option<&'static str> {
        if self.revoked_at.is_some() {
            return Some("revoked");
        }
        self.expires_at.filter(|at| *at <= now).map(|_| "expired")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(secret: &Secret) -> Key {
        Key {
            id: "k".to_owned(),
            hash: secret.hash(),
            tenant: "t".to_owned(),
            role: Role::Reader,
            user: "ann".to_owned(),
            created_at: Time(0),
            expires_at: Some(Time(10)),
            revoked_at: None,
        }
    }

    #[test]
    fn a_key_is_known_by_its_hash_and_shown_by_nothing() {
        let (one, other) = (Secret::fresh().unwrap(), Secret::fresh().unwrap());
        assert!(one.reveal().starts_with(PREFIX) && one.reveal().len() == PREFIX.len() + 43);
        assert!(kept(&one).is(&one.hash()));
        assert!(!kept(&one).is(&other.hash()));
        assert!(!format!("{one:?}").contains(&one.reveal()[8..]));
        let broken = Key { hash: String::new(), ..kept(&one) };
        assert!(!broken.is(&one.hash()), "a hash that is none is nobody's");
    }

    #[test]
    fn it_ends_by_time_or_by_somebody() {
        let key = kept(&Secret::shown("x"));
        assert_eq!(key.dead(Time(9)), None);
        assert_eq!(key.dead(Time(10)), Some("expired"));
        assert_eq!(Key { revoked_at: Some(Time(3)), ..key }.dead(Time(4)), Some("revoked"));
    }
}
