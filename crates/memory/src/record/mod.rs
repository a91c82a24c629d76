//! The stored record types, one file per kind. Rows that change are stored by revision; older
//! revisions stay, so that an earlier build can be composed again.

mod candidate;
mod episode;
mod event;
mod memory_fact;
mod insight;
mod procedure;
mod session_summary;
mod working_memory;

pub use candidate::{CandidateState, ClaimCandidate, MemoryClaim};
pub use episode::MemoryEpisode;
pub use event::{EventLocation, MemoryEvent, MemoryEventKind, MemoryOrigin, SpeakerRole};
pub use insight::{MemoryExpiry, MemoryInsight};
pub use memory_fact::{FactEvidence, MemoryFact};
pub use procedure::MemoryProcedure;
pub use session_summary::SessionSummary;
pub use working_memory::WorkingMemory;
