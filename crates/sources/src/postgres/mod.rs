//! `PostgreSQL` as a source: a read-only transaction for every question, by named queries only.

mod cell;
mod server;
mod source;

pub(crate) use source::PostgresSource;
