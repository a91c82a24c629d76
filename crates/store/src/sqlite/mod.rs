//! The embedded store: one `SQLite` file with one writer that uses group commit, and a few readers.
//! Any number of processes may share the file; its speed depends on the disk.

mod store;
mod sqlite_file;
mod connector;
mod file_identity;
mod migrate;
mod writer;
mod reader_pool;
mod raw_file;
mod run_log;
mod run_search;
mod action_codec;
mod mutations;
mod queries;
mod due_runs;
mod workers;
mod prune;
mod sqlite_error;
mod health;
#[cfg(test)]
mod query_plans;

pub use connector::SqliteSettings;
pub use health::SqliteHealth;
pub use migrate::{SqliteMigration, SqliteSchema};
pub use raw_file::RawFile;
pub use sqlite_file::SqliteFile;
pub use store::SqliteStore;
