//! Memory in one `SQLite` file, apart from the log of runs: a subject can be erased from it byte by byte.

mod memory;
mod shelves;
mod ahead;
mod subjects;
mod events;
mod index;
mod vectors;
mod reindex;
mod facts;
mod rows;
mod builds;
mod forget;
mod traces;
mod misplaced;

pub use memory::SqliteMemory;
