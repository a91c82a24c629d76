//! Tools: what an agent can do in the workspace besides replying.
//!
//! The caller has already checked whether the agent may use the tool; this module performs the
//! call.

mod suggest_paths;
mod perform_tool_call;

pub(crate) use perform_tool_call::truncate_output;
pub use perform_tool_call::{MAX_OUTPUT_BYTES, ToolOutcome, perform_tool_call};
