//! The store for many workers on many machines, on `PostgreSQL`.
//!
//! A step is one call of a stored function: one round trip and one commit. Commits of several runs
//! that wait at the same time share a call. The crate `countersign-postgres` connects to the
//! server.

mod store;
mod settings;
mod database;
mod pipeline;
mod transaction;
mod migrate;
mod commit_batch;
mod writer;
mod commit_verdict;
mod queries;
mod run_search;
mod lease;
mod workers;
mod prune;
mod wake_channel;
mod pg_error;
mod health;
#[cfg(test)]
mod query_plans;

pub use database::PostgresDatabase;
pub use health::PostgresHealth;
pub use migrate::{PostgresMigration, PostgresSchema};
pub use pipeline::{SqlStatement, TenantScope};
pub use settings::{LeaseClock, PostgresSettings};
pub use store::PostgresStore;
pub use transaction::{PgTransaction, PgTransactionMode};
