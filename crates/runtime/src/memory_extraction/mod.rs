//! Learning by a model: it is asked under a contract, and what the contract lets in is proposed to the memory.
//!
//! ```text
//! events of a session ──► Shown ──► model ──► contract (repair, re-ask) ──► candidates ──► Memory
//!                                                                       └─► a summary
//! ```
//!
//! *Not here*: what becomes of a candidate, and runs, which remember without any model.

mod extraction_error;
mod ask_until_admitted;
mod extract_candidates;
mod extract_summary;

pub use ask_until_admitted::{ExtractionProgress, ExtractionReply, ask_until_admitted};
pub use extract_candidates::{ExtractionReport, extract_candidates};
pub use extract_summary::extract_summary;
pub use extraction_error::ExtractionError;
