//! The reference store: maps behind one lock, gone when the process ends. It is written to be
//! obviously correct; if another store behaves differently, the other store is wrong.

mod run;
mod workers;
mod store;

pub use store::InMemoryStore;
