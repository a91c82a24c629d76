//! What is kept, a file a kind. Rows that change are kept by revision: the older ones stay, so that a
//! build of then can be composed again.

mod candidate;
mod episode;
mod event;
mod fact;
mod insight;
mod procedure;
mod summary;
mod working;

pub use candidate::{Candidate, CandidateState, Claim};
pub use episode::Episode;
pub use event::{Event, EventKind, Origin, Place, Role};
pub use fact::{Evidence, Fact};
pub use insight::{Expiry, Insight};
pub use procedure::Procedure;
pub use summary::Summary;
pub use working::Working;
