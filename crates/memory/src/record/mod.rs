//! What is kept, a file a kind. Rows that change are kept by revision: the older ones stay, so that a
//! build of then can be composed again.

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
