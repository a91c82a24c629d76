//! What every door shows of a run, in words and pictures: HTTP, the web page and the command line alike.
//!
//! Not here: reading a store (but for what a run made), colours, a terminal.

mod truncate;
mod parking;
mod run_output;
mod status_report;
pub mod input_text;
pub mod wait_text;
pub mod graph;

pub use parking::describe_parking;
pub use run_output::{RunOutputView, collect_outputs};
pub use status_report::{
    BudgetStatus, RunStatusReport, describe_action, describe_effect, describe_tool_call,
    list_child_runs,
};
pub use truncate::truncate_line;
