//! Learning by a model: it is asked under a contract, and what the contract lets in is proposed to the memory.
//!
//! ```text
//! events of a session ──► Shown ──► model ──► contract (repair, re-ask) ──► candidates ──► Memory
//!                                                                       └─► a summary
//! ```
//!
//! *Not here*: what becomes of a candidate, and runs, which remember without any model.

mod error;
mod ask;
mod propose;
mod summarize;

pub use ask::{Admitted, Heard, ask};
pub use error::LearnError;
pub use propose::{Proposals, propose};
pub use summarize::summarize;
