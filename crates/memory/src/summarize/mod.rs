//! The rolling summary of a session, written by rules or by a model under a contract. Pure.
//!
//! A summary is made from new events and the events of the previous summary, so its cost does not
//! grow with the session. This module neither reads events nor calls a model nor writes anything.

mod summary_input;
mod summarize_by_rules;
mod summarize_from_reply;

pub use summarize_by_rules::{SummaryPolicy, WRITTEN_BY_RULES, summarize_by_rules};
pub use summarize_from_reply::summarize_from_reply;
pub use summary_input::SummaryInput;
