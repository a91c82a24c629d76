//! Memory in a `PostgreSQL` database next to the runs, shared by all workers.
//!
//! The rules of all backends apply; here a transaction has a thread that waits for the server. Each
//! subject has one writer at a time. `countersign-store` handles connections, schema migrations and
//! the description of outages.
//!
//! The server has no statistics of texts, because they would outlive an erasure. It takes a list of
//! ids for a large part of a table and reads the whole table, so statements look up each id of a
//! list by itself: `unnest(…) CROSS JOIN LATERAL (SELECT … LIMIT 1)`.

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
#[cfg(test)]
mod query_plans;

pub use backend::PostgresMemory;
