//! The types of a protocol folder: `protocol_index`, `workflow`, `agent` and `state`.
//!
//! These objects are open, so each keeps what it does not know in `extra`: a file that is read and
//! written again loses nothing. That is the one reason for `flatten` in this crate.

pub mod index;
pub mod workflow;
pub mod agent;
pub mod runtime_state;

pub use agent::AgentSpec;
pub use index::ProtocolIndex;
pub use runtime_state::RuntimeState;
pub use workflow::WorkflowSpec;
