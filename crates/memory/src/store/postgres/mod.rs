//! Memory in a `PostgreSQL` database, beside the runs: what one worker remembers, all of them know.
//!
//! The rules are those of every memory, written over shelves; here a transaction has a thread that waits for
//! the server's answers. One writes to a subject at a time. How the server is reached, how its schema goes
//! forward and what an outage is called is the business of `countersign-store`.

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
