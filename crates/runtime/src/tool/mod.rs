//! Tools: what an agent may do in the workspace beside replying.
//!
//! Whether an agent may use a tool was decided before; here it is done.

mod near;
mod perform;

pub use perform::{OUTPUT_LIMIT, ToolOutcome, perform};
