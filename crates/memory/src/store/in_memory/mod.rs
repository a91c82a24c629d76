//! The reference: everything in maps, every question a walk. What it answers is right; how fast, is no
//! matter.

mod memory;
mod state;
mod forget;
mod misplaced;

pub use memory::InMemory;
