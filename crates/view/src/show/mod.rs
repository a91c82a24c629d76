//! Text and graphs that describe a run, shared by HTTP, MCP, the web page and the command line.
//!
//! Nothing here reads a store, except for the output and the family of a run, and nothing uses
//! colours or a terminal.

mod truncate;
mod parking;
mod run_output;
mod run_family;
mod status_report;
pub mod input_text;
pub mod wait_text;
pub mod graph;

pub use parking::describe_parking;
pub use run_family::{RunFamily, describe_waiting_child, find_waiting_children, load_run_family};
pub use run_output::{RunOutputView, collect_outputs};
pub use status_report::{
    BudgetStatus, RunStatusReport, describe_action, describe_effect, describe_tool_call,
    list_child_runs,
};
pub use truncate::truncate_line;
