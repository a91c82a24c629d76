//! The store for many workers on many machines: `PostgreSQL`.
//!
//! A step is one call of a stored function, which is one round trip and one commit; commits of several
//! runs that wait at the same time share a call. How the server is reached is `countersign-postgres`.

mod store;
mod settings;
mod database;
mod pipeline;
mod dialogue;
mod migrate;
mod batch;
mod writer;
mod verdict;
mod read;
mod lease;
mod workers;
mod prune;
mod notices;
mod fault;
mod health;
#[cfg(test)]
mod plans;

pub use database::PostgresDatabase;
pub use dialogue::{Dialogue, Purpose};
pub use health::PostgresHealth;
pub use migrate::{PostgresSchema, PostgresStep};
pub use pipeline::{Call, Scope};
pub use settings::{LeaseClock, PostgresSettings};
pub use store::PostgresStore;
