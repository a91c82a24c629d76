//! The token of a server on loopback. Other users of the machine can reach the port, but they
//! cannot read the token file.
//!
//! The token is stored in `.countersign/token`. Programs send it as `Authorization: Bearer TOKEN`;
//! a browser opens the page once with `?token=TOKEN` and gets a cookie. A caller with the token is
//! an admin of tenant `default`.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_contract::json::sha256_hex;
use countersign_runtime::private_files;
use subtle::ConstantTimeEq as _;

/// Prefix of every token.
const TOKEN_PREFIX: &str = "cst_";

/// Number of characters after the prefix; they encode 256 bits.
const TOKEN_LENGTH: usize = 43;

/// The token of one server, and the cookie that stands for it.
pub struct LocalToken {
    path: PathBuf,
    secret: String,
    cookie_name: String,
    cookie_value: String,
}

impl fmt::Debug for LocalToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalToken").field("path", &self.path).finish_non_exhaustive()
    }
}

impl LocalToken {
    /// Returns the path of the token file in an engine's folder.
    #[must_use]
    pub fn path_in(folder: &Path) -> PathBuf {
        folder.join("token")
    }

    /// Opens the token of an engine's folder, for a server on `port`. Creates the token if there is
    /// none, and replaces it if other users could have read it.
    pub fn open(folder: &Path, port: u16) -> io::Result<Self> {
        let path = Self::path_in(folder);
        // If two servers start at the same time, one creates the token and the other reads it.
        let _locked = private_files::lock_file(&folder.join("token.lock"))?;
        let secret = match read_private(&path)? {
            Some(secret) => secret,
            None => {
                let mut bytes = [0_u8; 32];
                getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
                let secret = format!("{TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
                private_files::replace_file(&path, format!("{secret}\n").as_bytes())?;
                secret
            }
        };
        let cookie_name = format!("countersign_{port}");
        // Browsers send cookies to every port of a host, so the cookie must not reveal the token.
        let cookie_value = sha256_hex(&[b"countersign cookie ", secret.as_bytes()]);
        Ok(Self { path, secret, cookie_name, cookie_value })
    }

    /// The path of the token file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the plain text, to be shown to the user who started the server.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.secret
    }

    /// Whether `shown` is the token. Runs in constant time.
    #[must_use]
    pub fn matches(&self, shown: &str) -> bool {
        let [ours, shown] = [&self.secret, shown].map(|text| sha256_hex(&[text.as_bytes()]));
        ours.as_bytes().ct_eq(shown.as_bytes()).into()
    }

    /// Whether a `Cookie` header contains the cookie of this server. Runs in constant time.
    #[must_use]
    pub fn is_in_cookies(&self, header: &str) -> bool {
        let pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
        let mut found = pairs.filter(|(name, _)| *name == self.cookie_name);
        found.any(|(_, value)| self.cookie_value.as_bytes().ct_eq(value.as_bytes()).into())
    }

    /// Builds the `Set-Cookie` header for a browser that presented the token. Scripts cannot read
    /// the cookie, and other sites cannot make the browser send it.
    #[must_use]
    pub fn to_set_cookie(&self) -> String {
        let Self { cookie_name, cookie_value, .. } = self;
        format!("{cookie_name}={cookie_value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000")
    }
}

/// Reads the token from a file. Returns `None` if the contents are not a token, or if other users
/// can read or replace the file.
fn read_private(path: &Path) -> io::Result<Option<String>> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !found.is_file() || !private_files::is_private(&found) || !is_owned_by_process(&found) {
        return Ok(None);
    }
    let text = fs::read_to_string(path)?;
    let secret = text.trim_end();
    let whole = secret.strip_prefix(TOKEN_PREFIX).is_some_and(|rest| {
        let plain = |sign: u8| sign.is_ascii_alphanumeric() || matches!(sign, b'-' | b'_');
        rest.len() == TOKEN_LENGTH && rest.bytes().all(plain)
    });
    Ok(whole.then(|| secret.to_owned()))
}

#[cfg(unix)]
fn is_owned_by_process(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    found.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_owned_by_process(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_once_and_anew_where_others_could_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let one = LocalToken::open(folder.path(), 7070).unwrap();
        let again = LocalToken::open(folder.path(), 7071).unwrap();
        assert_eq!(one.reveal(), again.reveal());
        assert!(one.matches(again.reveal()) && !one.matches("cst_") && !one.matches(""));
        assert!(!format!("{one:?}").contains(&one.reveal()[8..]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(one.path()), 0o600);
            fs::set_permissions(one.path(), fs::Permissions::from_mode(0o644)).unwrap();
            let anew = LocalToken::open(folder.path(), 7070).unwrap();
            assert_ne!(anew.reveal(), one.reveal());
            assert_eq!(mode(anew.path()), 0o600);
        }
        fs::write(one.path(), "cst_short\n").unwrap();
        assert_eq!(LocalToken::open(folder.path(), 7070).unwrap().reveal().len(), 47);
    }

    #[test]
    fn a_cookie_is_one_servers_and_does_not_tell_the_token() {
        let folder = tempfile::tempdir().unwrap();
        let token = LocalToken::open(folder.path(), 7070).unwrap();
        let set = token.to_set_cookie();
        assert!(!set.contains(&token.reveal()[8..]));
        assert!(set.contains("; HttpOnly; SameSite=Strict"), "{set}");
        let cookie = set.split(';').next().unwrap();
        assert!(token.is_in_cookies(&format!("a=b; {cookie}; c=d")));
        assert!(!token.is_in_cookies("a=b; countersign_7070=x"));
        let other = LocalToken::open(folder.path(), 7071).unwrap();
        assert!(!other.is_in_cookies(cookie));
    }
}
