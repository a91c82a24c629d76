//! Where the data of a `SQLite` source comes from: a file, or a script that fills an empty
//! database.

use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_runtime::effect::{EffectError, EffectErrorKind};
use countersign_runtime::workspace::Workspace;
use rusqlite::{Connection, OpenFlags};
use sha2::{Digest as _, Sha256};

use super::guard::{self, QueryDeadline};
use crate::settings::{SourceSettings, source_config_error};

/// Maximum size of a script.
const MAX_SCRIPT_BYTES: u64 = 4 * 1024 * 1024;

/// Time limit for running a script.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(5);

/// A database file or a script.
#[derive(Debug)]
pub(super) enum SqliteOrigin {
    /// A database that is maintained elsewhere. `base` is set if the file must be inside that
    /// workspace folder.
    File { path: PathBuf, base: Option<PathBuf> },
    /// A script in the workspace folder; its database exists only in memory.
    Script { path: String, base: PathBuf },
}

/// An open database, and the script it was made from.
pub(super) struct OpenedDatabase {
    pub(super) db: Connection,
    /// The digest of the script; `None` for a file.
    script_digest: Option<[u8; 32]>,
}

impl SqliteOrigin {
    /// Reads `path`, `path_env` or `script`.
    pub(super) fn from_settings(settings: &SourceSettings<'_>) -> Result<Self, EffectError> {
        let base = settings.base().to_owned();
        match (settings.get_path("path")?, settings.get_text("script")?) {
            (Some(path), None) => {
                let confined = settings.get("path").is_some();
                Ok(Self::File { path, base: confined.then_some(base) })
            }
            (None, Some(script)) => Ok(Self::Script { path: script.to_owned(), base }),
            (Some(_), Some(_)) => {
                Err(settings.config_error("has both a file and a `script`; expected one of them"))
            }
            (None, None) => {
                Err(settings
                    .config_error("has no `path`, `path_env` or `script`; expected a database"))
            }
        }
    }

    /// Opens the database, or returns the open one if nothing has changed.
    pub(super) fn open(
        &self,
        name: &str,
        kept: Option<OpenedDatabase>,
    ) -> Result<OpenedDatabase, EffectError> {
        let gone = |what: String| source_config_error(name, what);
        match self {
            Self::File { path, base } => {
                if let Some(kept) = kept.filter(|_| path.is_file()) {
                    return Ok(kept);
                }
                let path = resolve_confined(path, base.as_deref()).map_err(gone)?;
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
                    | OpenFlags::SQLITE_OPEN_NO_MUTEX
                    // The path was checked above; a link that replaces the file after that is
                    // refused here.
                    | OpenFlags::SQLITE_OPEN_NOFOLLOW;
                let unusable = |error: rusqlite::Error| gone(describe_open_error(&error));
                let mut db = Connection::open_with_flags(path, flags).map_err(unusable)?;
                // `SQLite` notices only at the first read that a file is not a database.
                let read = db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
                read.map_err(unusable)?;
                db.busy_timeout(Duration::from_secs(2)).map_err(unusable)?;
                guard::restrict_to_reads(&mut db).map_err(unusable)?;
                Ok(OpenedDatabase { db, script_digest: None })
            }
            Self::Script { path, base } => {
                let folder = Workspace::open(base)
                    .map_err(|error| gone(format!("has no usable folder: {error}")))?;
                let script = folder.read(path, MAX_SCRIPT_BYTES);
                let script =
                    script.map_err(|error| gone(format!("has no readable script: {error}")))?;
                if script.truncated {
                    return Err(gone("has a `script` of more than 4 MiB".to_owned()));
                }
                let digest: [u8; 32] = Sha256::digest(&script.bytes).into();
                if let Some(kept) = kept.filter(|kept| kept.script_digest == Some(digest)) {
                    return Ok(kept);
                }
                let text = String::from_utf8(script.bytes)
                    .map_err(|_| gone("has a `script` that is not UTF-8".to_owned()))?;
                let db = run_script(name, &text)?;
                Ok(OpenedDatabase { db, script_digest: Some(digest) })
            }
        }
    }
}

fn run_script(name: &str, script: &str) -> Result<Connection, EffectError> {
    let mut deadline = None;
    let mut fill = || {
        let mut db = Connection::open_in_memory()?;
        guard::restrict_to_script(&mut db)?;
        deadline = Some(QueryDeadline::install(&mut db, SCRIPT_TIMEOUT)?);
        db.execute_batch(script)?;
        db.authorizer(
            None::<fn(rusqlite::hooks::AuthContext<'_>) -> rusqlite::hooks::Authorization>,
        )?;
        guard::restrict_to_reads(&mut db)?;
        Ok(db)
    };
    fill().map_err(|error: rusqlite::Error| {
        if deadline.is_some_and(|deadline| deadline.was_hit()) {
            let message =
                format!("source `{name}` has a script that runs longer than {SCRIPT_TIMEOUT:?}");
            return EffectError::new_permanent(EffectErrorKind::TimedOut, message);
        }
        // The author wrote the script, so the message of `SQLite` is useful and reveals no secret.
        source_config_error(name, format!("has a script that fails: {error}"))
    })
}

/// Resolves the links of a path, and checks that the result is inside `base`.
fn resolve_confined(path: &Path, base: Option<&Path>) -> Result<PathBuf, String> {
    let real = path.canonicalize().map_err(|_| "has no file at its path".to_owned())?;
    if let Some(base) = base {
        let base = base.canonicalize().map_err(|_| "has no working folder".to_owned())?;
        if !real.starts_with(&base) {
            return Err("has a path with a link that leads out of the working folder".to_owned());
        }
    }
    if real.is_file() { Ok(real) } else { Err("has no file at its path".to_owned()) }
}

fn describe_open_error(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => {
            "has a file that is not a SQLite database".to_owned()
        }
        code => format!("has a database that cannot be opened ({code:?})"),
    }
}
