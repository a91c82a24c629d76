//! The rolling summary of a session: by rules, or by a model under a contract. Pure.
//!
//! A summary is made of what is new and of what the one before it told, so that its cost does not grow with the
//! session. *Not here*: reading events, asking a model, writing anything.

mod summary_input;
mod summarize_by_rules;
mod summarize_from_reply;

pub use summarize_by_rules::{SummaryPolicy, WRITTEN_BY_RULES, summarize_by_rules};
pub use summarize_from_reply::summarize_from_reply;
pub use summary_input::SummaryInput;
