//! What a model may propose to the memory: which events it is shown, what its reply is held against, and what
//! becomes of a reply that was let in. Pure.
//!
//! A proposal is no knowledge: it waits as a candidate, and the rules that hold for every claim rule on it.
//! *Not here*: asking a model, writing anything.

mod prompt_events;
mod sentence;
mod proposals;
mod contract;

pub use contract::{candidates_contract, summary_contract};
pub use prompt_events::PromptEvents;
pub use proposals::build_candidates;
pub use sentence::find_sentence;
