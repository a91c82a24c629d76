//! The reference: everything in maps, every question a walk. What it answers is right; how fast, is no
//! matter.

mod backend;
mod transaction;
mod forget;
mod scope_violations;

pub use backend::EphemeralMemory;
