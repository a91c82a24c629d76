//! `SQLite` as a source: opened for reading, with named queries only.

mod guard;
mod origin;
mod source;

pub(crate) use source::SqliteSource;
