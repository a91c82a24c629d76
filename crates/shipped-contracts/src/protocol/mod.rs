//! The types of a protocol folder: `protocol_index`, `workflow`, `agent` and `state`.
//!
//! The schemas allow additional keys, so each type keeps the keys it does not know in `extra`:
//! reading a file and writing it back loses nothing. This is the only reason for `flatten` in this
//! crate.

pub mod index;
pub mod workflow;
pub mod agent;
pub mod runtime_state;

pub use agent::AgentSpec;
pub use index::ProtocolIndex;
pub use runtime_state::RuntimeState;
pub use workflow::WorkflowSpec;
