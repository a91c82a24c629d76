//! API keys: 256 random bits, of which the server stores only a hash.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_contract::json::sha256_hex;
use countersign_run::Timestamp;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::AccessRole;

/// Prefix of every key, so that a secret scanner recognizes one in a file.
const KEY_PREFIX: &str = "csk_";

/// The plain text of a key, as its holder has it. The program shows it once, and its `Debug` output
/// hides it.
pub struct ApiKeySecret(String);

impl ApiKeySecret {
    /// Generates a new random key.
    ///
    /// # Errors
    /// When the system provides no randomness.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(format!("{KEY_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// Wraps the text that a caller presented.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the plain text, to be shown to the new holder.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Computes the hash that is stored: SHA-256 in hexadecimal.
    #[must_use]
    pub fn hash(&self) -> String {
        // 256 random bits need neither a salt nor a slow hash: they cannot be guessed.
        sha256_hex(&[self.0.as_bytes()])
    }
}

impl fmt::Debug for ApiKeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A stored key: its hash, its tenant, its role and its lifetime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// Names the key in lists and in `revoke`; not secret.
    pub id: String,
    /// SHA-256 of the key, in hexadecimal.
    pub hash: String,
    /// The tenant whose runs and memory the key opens.
    pub tenant: String,
    /// The role of the key's holder.
    pub role: AccessRole,
    /// The user name of the holder: recorded in logs, and matched against waits that only this user
    /// may answer.
    pub user: String,
    /// Groups that the holder is a member of, for waits that are assigned to a group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// When the key was created.
    pub created_at: Timestamp,
    /// When the key expires; `None` if it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When the key was revoked; `None` while it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

impl ApiKey {
    /// Whether this key has the given hash. Runs in constant time.
    #[must_use]
    pub fn matches_hash(&self, hash: &str) -> bool {
        self.hash.as_bytes().ct_eq(hash.as_bytes()).into()
    }

    /// Returns why the key is inactive at `now`, or `None` if it is active.
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
            groups: Vec::new(),
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
