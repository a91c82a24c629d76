//! Extraction of claims by a model: which events the model sees, which contract its reply must
//! satisfy, and how an accepted reply becomes candidates. Pure.
//!
//! A proposal is not knowledge. It is stored as a candidate, and the rules for all claims decide on
//! it. This module neither calls a model nor writes anything.

mod prompt_events;
mod sentence;
mod proposals;
mod contract;

pub use contract::{candidates_contract, summary_contract};
pub use prompt_events::PromptEvents;
pub use proposals::build_candidates;
pub use sentence::find_sentence;
