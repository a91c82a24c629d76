//! Memory in one `SQLite` file, separate from the log of runs, so that a subject can be erased from
//! it byte by byte.

mod backend;
mod transaction;
mod subjects;
mod events;
mod index;
mod vectors;
mod reindex;
mod facts;
mod rows;
mod builds;
mod forget;
mod residue_scan;
mod scope_violations;
#[cfg(test)]
mod query_plans;

pub use backend::SqliteMemory;
