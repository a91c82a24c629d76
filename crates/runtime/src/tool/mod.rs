//! Tools: what an agent may do in the workspace beside replying.
//!
//! Whether an agent may use a tool was decided before; here it is done.

mod suggest_paths;
mod perform_tool_call;

pub use perform_tool_call::{MAX_OUTPUT_BYTES, ToolOutcome, perform_tool_call};
