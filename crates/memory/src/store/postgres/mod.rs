//! Memory in a `PostgreSQL` database next to the runs, shared by all workers.
//!
//! The rules of all backends apply; here a transaction has a thread that waits for the server. Each
//! subject has one writer at a time. `countersign-store` handles connections, schema migrations and
//! the description of outages.

mod backend;
mod transaction;
mod subject_rows;
mod events;
mod index;
mod reindex;
mod vectors;
mod facts;
mod rows;
mod builds;
mod forget;
mod residue_scan;
mod scope_violations;

pub use backend::PostgresMemory;
