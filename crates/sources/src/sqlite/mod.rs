//! `SQLite` as a source: opened to be read, and by named queries only.

mod guard;
mod origin;
mod source;

pub(crate) use source::SqliteSource;
