//! Static analysis: finds mistakes in a protocol that loads, before anything runs.
//!
//! The analysis is pure and conservative: it reports an error only when it is certain. It neither
//! changes a protocol nor affects what a run does.

mod check_protocol;
mod wording;
mod analysis_budget;
mod schema_path_view;
mod failure_handlers;
mod located_expressions;
mod standalone_workflows;
mod gate_analysis;
mod never_taken;
mod reachability;
mod endless_loops;
mod overlapping_gates;
mod overlap_search;
mod written_paths;
mod unwritten_reads;
mod unused_authority;
mod unknown_fields;
mod value_mismatch;
mod for_each_lists;
mod wait_deadlines;
mod approvals;
mod unused_budgets;
mod invocation_cycles;
mod missing_tickets;
mod missing_languages;
mod hidden_paths;
mod inherited_reads;
mod model_names;
#[cfg(test)]
mod tests;

pub use check_protocol::{CHECK_CODES, check_protocol};
