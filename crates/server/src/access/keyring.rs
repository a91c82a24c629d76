//! Stores the API keys of a server in one file of hashes: `.countersign/keys.json`.
//!
//! The keyring reads the file again whenever it changed, so that revoking a key takes effect in a
//! running server.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use countersign_run::Timestamp;
use countersign_runtime::engine::generate_run_name;
use countersign_runtime::private_files;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::api_key::{ApiKey, ApiKeySecret};
use super::role::AccessRole;

/// The version of the file's format.
const FORMAT_VERSION: u32 = 1;

/// Maximum length of a tenant name, in bytes.
const MAX_TENANT_LENGTH: usize = 63;

/// Why keys cannot be read, created or revoked.
#[derive(Debug, Error)]
pub enum KeyringError {
    /// The key file cannot be read or written.
    #[error("cannot access `{}`: {source}", path.display())]
    Io {
        /// The path of the key file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The key file has invalid contents.
    #[error("`{}` is not a valid key file: {why}", path.display())]
    InvalidFile {
        /// The path of the key file.
        path: PathBuf,
        /// What is wrong with the contents.
        why: String,
    },
    /// The tenant name is invalid. It must be usable as a folder name.
    #[error(
        "invalid tenant name `{0}`: expected 1 to {MAX_TENANT_LENGTH} characters from a-z, 0-9, `-` and `_`, not starting with `-`"
    )]
    InvalidTenant(String),
    /// The user name is invalid: it needs 1 to 200 characters, none of them a control character.
    #[error("invalid user name `{0}`: expected 1 to 200 characters without control characters")]
    InvalidUser(String),
    /// The expiry is in the past.
    #[error("expiry {0} is in the past")]
    AlreadyExpired(Timestamp),
    /// No key has this id.
    #[error("no key `{0}`; list the keys with `countersign key list`")]
    UnknownKey(String),
    /// The system provides no randomness.
    #[error("cannot create a key: the operating system returned no random bytes: {0}")]
    NoRandomness(getrandom::Error),
}

/// The properties of a key to create.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    /// The tenant whose runs and memory the key opens.
    pub tenant: String,
    /// The role of the key's holder.
    pub role: AccessRole,
    /// The user name of the holder; defaults to the key's id.
    pub user: Option<String>,
    /// Groups that the holder is a member of.
    pub groups: Vec<String>,
    /// When the key expires; `None` if it never does.
    pub expires_at: Option<Timestamp>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeyringFile {
    v: u32,
    keys: Vec<ApiKey>,
}

/// The keys of a server, with a cache of the key file.
#[derive(Debug)]
pub struct Keyring {
    path: PathBuf,
    cache: Mutex<Option<(KeyringFingerprint, Arc<Vec<ApiKey>>)>>,
}

/// Modification time, length and file number. Every write creates a new file, so the file number
/// tells two writes with the same modification time apart.
type KeyringFingerprint = (SystemTime, u64, u64);

impl Keyring {
    /// Creates a keyring for a file, which need not exist yet.
    #[must_use]
    pub fn open(path: PathBuf) -> Self {
        Self { path, cache: Mutex::default() }
    }

    /// Returns every key, the oldest first. Reads the file only if it changed.
    pub fn load_keys(&self) -> Result<Arc<Vec<ApiKey>>, KeyringError> {
        let stamp = match fs::metadata(&self.path) {
            Ok(found) => {
                let modified = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                (modified, found.len(), inode(&found))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Arc::default()),
            Err(source) => return Err(self.io_error(source)),
        };
        let mut read = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, keys)) = &*read
            && *known == stamp
        {
            return Ok(Arc::clone(keys));
        }
        let keys = Arc::new(self.read_file()?);
        *read = Some((stamp, Arc::clone(&keys)));
        Ok(keys)
    }

    fn read_file(&self) -> Result<Vec<ApiKey>, KeyringError> {
        if fs::metadata(&self.path).is_ok_and(|found| !private_files::is_owned_by_us(&found)) {
            let why = "other users can write to it, so its keys cannot be trusted; if the file is yours, run `chmod 600` on it";
            return Err(KeyringError::InvalidFile { path: self.path.clone(), why: why.to_owned() });
        }
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(self.io_error(source)),
        };
        let unreadable = |why: String| KeyringError::InvalidFile { path: self.path.clone(), why };
        let file: KeyringFile =
            serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        if file.v > FORMAT_VERSION {
            let why = format!(
                "its format version is {}, but this program supports only version {FORMAT_VERSION}",
                file.v
            );
            return Err(unreadable(why));
        }
        Ok(file.keys)
    }

    /// Changes the keys under a file lock: when several processes change them at the same time,
    /// each sees what the previous one wrote.
    fn update_file<T>(
        &self,
        change: impl FnOnce(&mut Vec<ApiKey>) -> Result<T, KeyringError>,
    ) -> Result<T, KeyringError> {
        let locked = private_files::lock_file(&self.path.with_extension("lock"));
        let _locked = locked.map_err(|source| self.io_error(source))?;
        let mut keys = self.read_file()?;
        let changed = change(&mut keys)?;
        self.write_file(keys)?;
        Ok(changed)
    }

    /// Finds the key that a caller presented, active or not. Compares with every key, so that the
    /// duration reveals nothing.
    pub fn find_by_secret(&self, shown: &str) -> Result<Option<ApiKey>, KeyringError> {
        let hash = ApiKeySecret::from_text(shown).hash();
        let mut found = None;
        for key in self.load_keys()?.iter() {
            if key.matches_hash(&hash) {
                found = Some(key.clone());
            }
        }
        Ok(found)
    }

    /// Creates a key and returns it with its secret. The secret cannot be read again later.
    pub fn create(
        &self,
        new: NewApiKey,
        now: Timestamp,
    ) -> Result<(ApiKey, ApiKeySecret), KeyringError> {
        let NewApiKey { tenant, role, user, groups, expires_at } = new;
        if !is_valid_tenant_name(&tenant) {
            return Err(KeyringError::InvalidTenant(tenant));
        }
        if let Some(at) = expires_at.filter(|at| *at <= now) {
            return Err(KeyringError::AlreadyExpired(at));
        }
        let secret = ApiKeySecret::generate().map_err(KeyringError::NoRandomness)?;
        let hash = secret.hash();
        let key = self.update_file(|keys| {
            let id = loop {
                let id = generate_run_name();
                if keys.iter().all(|key| key.id != id) {
                    break id;
                }
            };
            let user = user.unwrap_or_else(|| format!("key-{id}"));
            let named = !user.trim().is_empty() && user.chars().count() <= 200;
            if !named || user.chars().any(char::is_control) {
                return Err(KeyringError::InvalidUser(user));
            }
            let key = ApiKey {
                id,
                hash,
                tenant,
                role,
                user,
                groups,
                created_at: now,
                expires_at,
                revoked_at: None,
            };
            keys.push(key.clone());
            Ok(key)
        })?;
        Ok((key, secret))
    }

    /// Revokes a key. A key that is already revoked keeps its first revocation time.
    pub fn revoke(&self, id: &str, now: Timestamp) -> Result<ApiKey, KeyringError> {
        self.update_file(|keys| {
            let key = keys.iter_mut().find(|key| key.id == id);
            let key = key.ok_or_else(|| KeyringError::UnknownKey(id.to_owned()))?;
            key.revoked_at = key.revoked_at.or(Some(now));
            Ok(key.clone())
        })
    }

    /// Replaces the file atomically: a reader sees the old file or the new one.
    fn write_file(&self, keys: Vec<ApiKey>) -> Result<(), KeyringError> {
        let text = serde_json::to_string_pretty(&KeyringFile { v: FORMAT_VERSION, keys })
            .expect("keys serialize to JSON");
        private_files::replace_file(&self.path, text.as_bytes())
            .map_err(|source| self.io_error(source))?;
        *self.cache.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    fn io_error(&self, source: io::Error) -> KeyringError {
        KeyringError::Io { path: self.path.clone(), source }
    }
}

#[cfg(unix)]
fn inode(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}

/// Whether a name is a valid tenant name. A tenant name is also a folder name, so it has only
/// characters that are safe in paths.
pub(crate) fn is_valid_tenant_name(name: &str) -> bool {
    let plain = |sign: char| matches!(sign, 'a'..='z' | '0'..='9' | '-' | '_');
    (1..=MAX_TENANT_LENGTH).contains(&name.len())
        && name.chars().all(plain)
        && !name.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(tenant: &str) -> NewApiKey {
        NewApiKey {
            tenant: tenant.to_owned(),
            role: AccessRole::Operator,
            user: None,
            groups: Vec::new(),
            expires_at: None,
        }
    }

    #[test]
    fn a_key_is_found_until_it_is_taken_back_also_by_another_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let (ours, theirs) = (Keyring::open(path.clone()), Keyring::open(path.clone()));
        assert!(ours.load_keys().unwrap().is_empty());
        let (key, secret) = theirs.create(new("acme"), Timestamp(5)).unwrap();
        assert_eq!(ours.find_by_secret(secret.reveal()).unwrap(), Some(key.clone()));
        assert_eq!(ours.find_by_secret("csk_nothing").unwrap(), None);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(secret.reveal()), "only a hash is kept");
        theirs.revoke(&key.id, Timestamp(9)).unwrap();
        let found = ours.find_by_secret(secret.reveal()).unwrap().unwrap();
        assert_eq!(found.inactive_reason(Timestamp(10)), Some("revoked"));
        assert!(matches!(ours.revoke("zzz", Timestamp(9)), Err(KeyringError::UnknownKey(_))));
    }

    #[test]
    fn of_many_that_change_the_keys_at_once_none_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let first = Keyring::open(path.clone());
        let old: Vec<ApiKey> =
            (0..8).map(|_| first.create(new("old"), Timestamp(5)).unwrap().0).collect();
        std::thread::scope(|scope| {
            for key in &old {
                // Each thread has its own keyring, as separate processes have.
                let (path, other) = (path.clone(), path.clone());
                scope.spawn(move || Keyring::open(path).revoke(&key.id, Timestamp(9)).unwrap());
                scope.spawn(move || Keyring::open(other).create(new("new"), Timestamp(9)).unwrap());
            }
        });
        let keys = first.load_keys().unwrap();
        assert_eq!(keys.len(), 16);
        assert_eq!(keys.iter().filter(|key| key.revoked_at.is_some()).count(), 8);
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_reads_the_file() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        Keyring::open(path.clone()).create(new("acme"), Timestamp(5)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn odd_names_and_broken_files_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let keyring = Keyring::open(path.clone());
        for odd in ["", "../x", "A", "a b", "-a", &"a".repeat(64)] {
            let refused = keyring.create(new(odd), Timestamp(5)).unwrap_err();
            assert!(refused.to_string().contains("invalid tenant name"), "{refused}");
        }
        let over = NewApiKey { expires_at: Some(Timestamp(5)), ..new("a") };
        assert!(matches!(keyring.create(over, Timestamp(5)), Err(KeyringError::AlreadyExpired(_))));
        assert!(!path.exists());
        for broken in ["{", r#"{"v": 2, "keys": []}"#, "[]"] {
            fs::write(&path, broken).unwrap();
            assert!(
                matches!(keyring.load_keys(), Err(KeyringError::InvalidFile { .. })),
                "{broken}"
            );
        }
    }
}
