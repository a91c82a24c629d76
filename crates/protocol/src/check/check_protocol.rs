//! Entry point of `check`: runs every analysis and sorts the findings by file and position.

use countersign_contract::source::{Diagnostic, DiagnosticCollector};

use super::analysis_budget::AnalysisBudgets;
use super::gate_analysis::GateAnalyses;
use super::{
    approvals, endless_loops, for_each_lists, hidden_paths, inherited_reads, invocation_cycles,
    missing_languages, missing_tickets, model_names, never_taken, overlapping_gates, reachability,
    unknown_fields, unused_authority, unused_budgets, unwritten_reads, value_mismatch,
    wait_deadlines,
};
use crate::Protocol;

/// Every code that an analysis can report.
pub const CHECK_CODES: [&str; 27] = [
    "analysis_incomplete",
    "apply_mismatch",
    "approved_part_writable",
    "authority_too_wide",
    "denial_without_transition",
    "each_never_a_list",
    "endless_loop",
    "gate_never_opens",
    "hidden_path",
    "inherited_name",
    "invoke_cycle",
    "language_missing",
    "model_without_provider",
    "no_path_to_end",
    "overlapping_gates",
    "reads_unwritten",
    "retry_without_change",
    "rule_reads_unknown_field",
    "shadowed_transition",
    "ticket_skipped",
    "ticket_unknown",
    "unknown_budget",
    "unreachable_phase",
    "unused_budget",
    "unused_hook",
    "wait_without_deadline",
    "transition_from_end",
];

/// Finds what is certainly or probably a mistake in a protocol. The same protocol gives the same
/// findings in the same order: by file, then by position. At most
/// [`countersign_contract::limits::MAX_DIAGNOSTICS`] are listed, followed by one line for each code that has more.
#[must_use]
pub fn check_protocol(protocol: &Protocol) -> Vec<Diagnostic> {
    let efforts = AnalysisBudgets::with_max_steps();
    let openings = GateAnalyses::from_protocol(protocol, &efforts.schemas);
    // A phase that several workflows include is analysed with each of them and reported once.
    let mut findings = DiagnosticCollector::default();
    findings.extend(never_taken::check(protocol, &openings));
    findings.extend(reachability::check(protocol, &openings));
    findings.extend(endless_loops::check(protocol, &openings));
    findings.extend(overlapping_gates::check(protocol, &openings, &efforts.gates));
    unwritten_reads::check(protocol, &openings, &efforts, &mut findings);
    findings.extend(unused_authority::check(protocol, &efforts.schemas));
    unknown_fields::check(protocol, &efforts.schemas, &mut findings);
    findings.extend(value_mismatch::check(protocol, &efforts.schemas));
    findings.extend(for_each_lists::check(protocol, &efforts.schemas));
    findings.extend(wait_deadlines::check(protocol));
    findings.extend(approvals::check(protocol));
    unused_budgets::check(protocol, &mut findings);
    findings.extend(invocation_cycles::check(protocol, &openings, &efforts.invocations));
    missing_tickets::check(protocol, &openings, &efforts.tickets, &mut findings);
    missing_languages::check(protocol, &mut findings);
    findings.extend(hidden_paths::check(protocol));
    inherited_reads::check(protocol, &mut findings);
    model_names::check(protocol, &mut findings);
    findings.extend(efforts.report_exhausted(protocol));
    findings.finish()
}
