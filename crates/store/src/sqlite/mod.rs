//! The embedded store: `SQLite`, one file, one writer with group commit, a few readers.
//! How many processes share the file is no matter; how fast the disk is, is.

mod store;
mod file;
mod connection;
mod identity;
mod migrate;
mod writer;
mod readers;
mod raw;
mod ahead;
mod log;
mod outstanding;
mod write;
mod read;
mod due;
mod workers;
mod prune;
mod fault;
mod health;

pub use ahead::{Sought, Trees};
pub use connection::Settings;
pub use file::SqliteFile;
pub use health::Health;
pub use migrate::{Migration, Schema};
pub use raw::RawFile;
pub use store::SqliteStore;
