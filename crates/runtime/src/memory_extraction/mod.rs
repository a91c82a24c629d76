//! Memory extraction with a model: the model replies under a contract, and accepted replies are
//! proposed to the memory.
//!
//! ```text
//! session events ──► PromptEvents ──► model ──► contract (repair, retry) ──► candidates ──► Memory
//!                                                                        └─► a summary
//! ```
//!
//! *Not here*: what happens to a candidate, and runs, which are recorded without a model.

mod extraction_error;
mod ask_until_admitted;
mod extract_candidates;
mod extract_summary;

pub use ask_until_admitted::{ExtractionProgress, ExtractionReply, ask_until_admitted};
pub use extract_candidates::{ExtractionReport, extract_candidates};
pub use extract_summary::extract_summary;
pub use extraction_error::ExtractionError;
