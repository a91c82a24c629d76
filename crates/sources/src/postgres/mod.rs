//! `PostgreSQL` as a source: named queries only, each in a read-only transaction.

mod cell;
mod server;
mod source;

pub(crate) use source::PostgresSource;
