//! Where the data of a `SQLite` source comes from: a file, or a script that fills an empty database.

use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_runtime::effect::{EffectError, EffectErrorKind};
use countersign_runtime::workspace::Workspace;
use rusqlite::{Connection, OpenFlags};
use sha2::{Digest as _, Sha256};

use super::guard::{self, Deadline};
use crate::settings::{Settings, not_configured};

/// How large a script may be.
const LONGEST_SCRIPT: u64 = 4 * 1024 * 1024;

/// How long it may take to fill a database.
const FILLING: Duration = Duration::from_secs(5);

/// A file or a script.
#[derive(Debug)]
pub(super) enum Origin {
    /// A database that somebody else keeps. `confined` where it must lie in the folder of work.
    File { path: PathBuf, base: Option<PathBuf> },
    /// A script in the folder of work; its database lives in memory.
    Script { path: String, base: PathBuf },
}

/// An open database, and what it was made from.
pub(super) struct Opened {
    pub(super) db: Connection,
    /// The digest of the script, where there is one.
    made_from: Option<[u8; 32]>,
}

impl Origin {
    /// Reads `path`, `path_env` or `script`.
    pub(super) fn read(settings: &Settings<'_>) -> Result<Self, EffectError> {
        let base = settings.base().to_owned();
        match (settings.place("path")?, settings.text("script")?) {
            (Some(path), None) => {
                let confined = settings.get("path").is_some();
                Ok(Self::File { path, base: confined.then_some(base) })
            }
            (None, Some(script)) => Ok(Self::Script { path: script.to_owned(), base }),
            (Some(_), Some(_)) => {
                Err(settings.fault("has both a file and a `script`; one was expected"))
            }
            (None, None) => {
                Err(settings
                    .fault("has no `path`, `path_env` or `script`; a database was expected"))
            }
        }
    }

    /// Opens it, or keeps what is open where nothing has changed.
    pub(super) fn open(&self, name: &str, kept: Option<Opened>) -> Result<Opened, EffectError> {
        let gone = |what: String| not_configured(name, what);
        match self {
            Self::File { path, base } => {
                if let Some(kept) = kept.filter(|_| path.is_file()) {
                    return Ok(kept);
                }
                let path = confined(path, base.as_deref()).map_err(gone)?;
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
                    | OpenFlags::SQLITE_OPEN_NO_MUTEX
                    // Checked above; whoever puts a link there meanwhile is refused here.
                    | OpenFlags::SQLITE_OPEN_NOFOLLOW;
                let unusable = |error: rusqlite::Error| gone(unusable(&error));
                let mut db = Connection::open_with_flags(path, flags).map_err(unusable)?;
                // A file that is no database is only noticed when it is read.
                let read = db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
                read.map_err(unusable)?;
                db.busy_timeout(Duration::from_secs(2)).map_err(unusable)?;
                guard::read_only(&mut db).map_err(unusable)?;
                Ok(Opened { db, made_from: None })
            }
            Self::Script { path, base } => {
                let folder = Workspace::open(base)
                    .map_err(|error| gone(format!("has no folder: {error}")))?;
                let script = folder.read(path, LONGEST_SCRIPT);
                let script = script.map_err(|error| gone(format!("has no script: {error}")))?;
                if script.truncated {
                    return Err(gone("has a `script` of more than 4 MiB".to_owned()));
                }
                let digest: [u8; 32] = Sha256::digest(&script.bytes).into();
                if let Some(kept) = kept.filter(|kept| kept.made_from == Some(digest)) {
                    return Ok(kept);
                }
                let text = String::from_utf8(script.bytes)
                    .map_err(|_| gone("has a `script` that is not UTF-8".to_owned()))?;
                let db = filled(name, &text)?;
                Ok(Opened { db, made_from: Some(digest) })
            }
        }
    }
}

fn filled(name: &str, script: &str) -> Result<Connection, EffectError> {
    let mut deadline = None;
    let mut fill = || {
        let mut db = Connection::open_in_memory()?;
        guard::filling(&mut db)?;
        deadline = Some(Deadline::set(&mut db, FILLING)?);
        db.execute_batch(script)?;
        db.authorizer(
            None::<fn(rusqlite::hooks::AuthContext<'_>) -> rusqlite::hooks::Authorization>,
        )?;
        guard::read_only(&mut db)?;
        Ok(db)
    };
    fill().map_err(|error: rusqlite::Error| {
        if deadline.is_some_and(|deadline| deadline.was_hit()) {
            let message = format!("source `{name}` has a script that runs longer than {FILLING:?}");
            return EffectError::lasting(EffectErrorKind::TimedOut, message);
        }
        // The script is the author's, so SQLite's words about it help and tell no secret.
        not_configured(name, format!("has a script that fails: {error}"))
    })
}

/// The path with its links followed, where that stays inside.
fn confined(path: &Path, base: Option<&Path>) -> Result<PathBuf, String> {
    let real = path.canonicalize().map_err(|_| "has no file at its path".to_owned())?;
    if let Some(base) = base {
        let base = base.canonicalize().map_err(|_| "has no folder of work".to_owned())?;
        if !real.starts_with(&base) {
            return Err("has a path that a link leads out of the folder of work".to_owned());
        }
    }
    if real.is_file() { Ok(real) } else { Err("has no file at its path".to_owned()) }
}

fn unusable(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => {
            "has a file that is no SQLite database".to_owned()
        }
        code => format!("has a database that cannot be opened ({code:?})"),
    }
}
