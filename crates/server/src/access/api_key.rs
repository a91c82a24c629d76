//! A key: 256 bits of chance, of which only a hash is kept.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::json::sha256_hex;
use countersign_core::run::Timestamp;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::AccessRole;

/// What every key begins with, so that a scanner of files knows one when it sees it.
const KEY_PREFIX: &str = "csk_";

/// The key itself, as its holder has it. Shown once, and never printed by accident.
pub struct ApiKeySecret(String);

impl ApiKeySecret {
    /// A new one.
    ///
    /// # Errors
    /// Where the system has no chance to give.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(format!("{KEY_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// One that somebody showed.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
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
        sha256_hex(&[self.0.as_bytes()])
    }
}

impl fmt::Debug for ApiKeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A key as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// By which it is named in lists and revoked.
    pub id: String,
    /// SHA-256 of the key, in hexadecimal.
    pub hash: String,
    /// Whose runs and memory it opens.
    pub tenant: String,
    /// What its holder may do.
    pub role: AccessRole,
    /// Who its holder is, for the record, and for waits that only they may answer.
    pub user: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops being one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When somebody took it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

impl ApiKey {
    /// Whether it is the key of this hash. Takes the same time whatever the answer.
    #[must_use]
    pub fn matches_hash(&self, hash: &str) -> bool {
        self.hash.as_bytes().ct_eq(hash.as_bytes()).into()
    }

    /// Why it opens nothing now; `Empty` where it does.
    #[must_use]
    pub fn inactive_reason(&self, now: Timestamp) -> Option<&'static str> {
        if self.revoked_at.is_some() {
            return Some("revoked");
        }
        self.expires_at.filter(|at| *at <= now).map(|_| "expired")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(secret: &ApiKeySecret) -> ApiKey {
        ApiKey {
            id: "k".to_owned(),
            hash: secret.hash(),
            tenant: "t".to_owned(),
            role: AccessRole::Reader,
            user: "ann".to_owned(),
            created_at: Timestamp(0),
            expires_at: Some(Timestamp(10)),
            revoked_at: None,
        }
    }

    #[test]
    fn a_key_is_known_by_its_hash_and_shown_by_nothing() {
        let (one, other) = (ApiKeySecret::generate().unwrap(), ApiKeySecret::generate().unwrap());
        assert!(
            one.reveal().starts_with(KEY_PREFIX) && one.reveal().len() == KEY_PREFIX.len() + 43
        );
        assert!(kept(&one).matches_hash(&one.hash()));
        assert!(!kept(&one).matches_hash(&other.hash()));
        assert!(!format!("{one:?}").contains(&one.reveal()[8..]));
        let broken = ApiKey { hash: String::new(), ..kept(&one) };
        assert!(!broken.matches_hash(&one.hash()), "a hash that is none is nobody's");
    }

    #[test]
    fn it_ends_by_time_or_by_somebody() {
        let key = kept(&ApiKeySecret::from_text("x"));
        assert_eq!(key.inactive_reason(Timestamp(9)), None);
        assert_eq!(key.inactive_reason(Timestamp(10)), Some("expired"));
        assert_eq!(
            ApiKey { revoked_at: Some(Timestamp(3)), ..key }.inactive_reason(Timestamp(4)),
            Some("revoked")
        );
    }
}
