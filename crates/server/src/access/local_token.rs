//! The token of a server on loopback: other users of the machine can reach its port, and cannot read this file.
//!
//! It lies in `.countersign/token`. Programs send it as `Authorization: Bearer TOKEN`; the page is opened once with
//! `?token=TOKEN`, and has a cookie from then on. Whoever has it is an admin of tenant `local`.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::json::sha256_hex;
use countersign_runtime::private_files;
use subtle::ConstantTimeEq as _;

/// What every token begins with.
const TOKEN_PREFIX: &str = "cst_";

/// Characters behind the prefix: 256 bits.
const TOKEN_LENGTH: usize = 43;

/// The token of one server.
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
    /// Where the token of an engine's folder lies.
    #[must_use]
    pub fn path_in(folder: &Path) -> PathBuf {
        folder.join("token")
    }

    /// The token of an engine's folder, for a server on a port. It is made where there is none, and made anew where
    /// others could have read it.
    pub fn open(folder: &Path, port: u16) -> io::Result<Self> {
        let path = Self::path_in(folder);
        // Of two servers that start at once, one makes it and the other reads it.
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
        // Cookies go to every port of this machine: what they hold does not tell the token.
        let cookie_value = sha256_hex(&[b"countersign cookie ", secret.as_bytes()]);
        Ok(Self { path, secret, cookie_name, cookie_value })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text, for the one who started the server.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.secret
    }

    /// Whether somebody showed the token. Takes the same time whatever the answer.
    #[must_use]
    pub fn matches(&self, shown: &str) -> bool {
        let [ours, shown] = [&self.secret, shown].map(|text| sha256_hex(&[text.as_bytes()]));
        ours.as_bytes().ct_eq(shown.as_bytes()).into()
    }

    /// Whether a `Cookie` header has the cookie of this server. Takes the same time whatever the answer.
    #[must_use]
    pub fn is_in_cookies(&self, header: &str) -> bool {
        let pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
        let mut found = pairs.filter(|(name, _)| *name == self.cookie_name);
        found.any(|(_, value)| self.cookie_value.as_bytes().ct_eq(value.as_bytes()).into())
    }

    /// The `Set-Cookie` header that lets a browser in: no script reads it, and no other site has it sent.
    #[must_use]
    pub fn to_set_cookie(&self) -> String {
        let Self { cookie_name, cookie_value, .. } = self;
        format!("{cookie_name}={cookie_value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000")
    }
}

/// The token in a file, where it is one and nobody else can read or replace it.
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
fn is_ours(_: &fs::Metadata) -> bool {
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
