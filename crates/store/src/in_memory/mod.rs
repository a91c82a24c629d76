//! The reference store: maps behind one lock, gone with the process. Written to be obviously right;
//! where another store differs from it, the other one is wrong.

mod run;
mod workers;
mod store;

pub use store::InMemoryStore;
