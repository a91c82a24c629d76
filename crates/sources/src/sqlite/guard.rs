//! What a statement of a source may do to `SQLite`, and for how long.
//!
//! The database itself refuses: the authorizer sees every table, function and pragma while a
//! statement is prepared, so nothing depends on how the statement is spelt.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;

/// How many steps of its machine `SQLite` takes between two looks at the clock.
const PROGRESS_STEPS: i32 = 1_000;

/// No value may weigh more: a text of a gigabyte is made by one function call.
const MAX_VALUE_BYTES: i32 = 1024 * 1024;

/// Functions that reach out of the database, or into its insides.
const FORBIDDEN_FUNCTIONS: [&str; 4] =
    ["load_extension", "fts3_tokenizer", "readfile", "writefile"];

/// From now on the connection reads, and nothing else.
pub(super) fn restrict_to_reads(db: &mut Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "query_only", true)?;
    db.pragma_update(None, "trusted_schema", false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    db.authorizer(Some(authorize_read))
}

/// A script may make and fill tables; it may not open other files.
pub(super) fn restrict_to_script(db: &mut Connection) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    // 64 MiB: a script of a few lines can grow without end.
    db.pragma_update(None, "max_page_count", 16 * 1024)?;
    db.authorizer(Some(authorize_script))
}

fn authorize_read(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Function { function_name } => authorize_function(function_name),
        // Full-text tables ask it to see whether somebody else wrote; it tells nothing else.
        AuthAction::Pragma { pragma_name: "data_version", pragma_value: None } => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

fn authorize_script(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Attach { .. } | AuthAction::Detach { .. } | AuthAction::Pragma { .. } => {
            Authorization::Deny
        }
        AuthAction::Function { function_name } => authorize_function(function_name),
        _ => Authorization::Allow,
    }
}

fn authorize_function(function: &str) -> Authorization {
    let forbidden = FORBIDDEN_FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(function));
    if forbidden { Authorization::Deny } else { Authorization::Allow }
}

/// Breaks off what runs longer than it may. True from `was_hit` where that happened.
pub(super) struct QueryDeadline {
    hit: Arc<AtomicBool>,
}

impl QueryDeadline {
    pub(super) fn install(db: &mut Connection, limit: Duration) -> rusqlite::Result<Self> {
        let hit = Arc::new(AtomicBool::new(false));
        let (seen, end) = (Arc::clone(&hit), Instant::now() + limit);
        let over = move || {
            let over = Instant::now() >= end;
            if over {
                seen.store(true, Ordering::Relaxed);
            }
            over
        };
        db.progress_handler(PROGRESS_STEPS, Some(over))?;
        Ok(Self { hit })
    }

    pub(super) fn was_hit(&self) -> bool {
        self.hit.load(Ordering::Relaxed)
    }
}
