//! Limits what a statement of a source may do in `SQLite`, and for how long.
//!
//! The database itself enforces this: the authorizer sees every table, function and pragma while a
//! statement is prepared, so nothing depends on how the statement is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;

/// Number of virtual machine steps of `SQLite` between two checks of the clock.
const PROGRESS_STEPS: i32 = 1_000;

/// Maximum size of one value: a single function call can create a text of a gigabyte.
const MAX_VALUE_BYTES: i32 = 1024 * 1024;

/// Functions that access files, extensions or internals of the database.
const FORBIDDEN_FUNCTIONS: [&str; 4] =
    ["load_extension", "fts3_tokenizer", "readfile", "writefile"];

/// Restricts the connection to reads.
pub(super) fn restrict_to_reads(db: &mut Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "query_only", true)?;
    db.pragma_update(None, "trusted_schema", false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    db.authorizer(Some(authorize_read))
}

/// Restricts the connection to creating and filling tables; it cannot open other files.
pub(super) fn restrict_to_script(db: &mut Connection) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    // 64 MiB, because even a short script can create unlimited data.
    db.pragma_update(None, "max_page_count", 16 * 1024)?;
    db.authorizer(Some(authorize_script))
}

fn authorize_read(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Function { function_name } => authorize_function(function_name),
        // Full-text tables read it to detect other writers; it reveals nothing else.
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

/// Interrupts a statement that exceeds its time limit. `was_hit` then returns `true`.
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
