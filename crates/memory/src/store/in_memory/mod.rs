//! The in-memory reference backend. It stores everything in maps and answers by scanning; it
//! defines correct results and is not optimized.

mod backend;
mod transaction;
mod forget;
mod scope_violations;

pub use backend::EphemeralMemory;
