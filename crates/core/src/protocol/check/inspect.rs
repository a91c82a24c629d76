//! The door: every analysis in turn, and the findings in the order of the files.

use super::effort::Efforts;
use super::opening::Openings;
use super::{
    authority, budgets, each, fields, gates, hidden, inherited, invoke, languages, loops, mismatch,
    overlap, tickets, unwritten, waits, ways,
};
use crate::protocol::Protocol;
use crate::spec::{Diagnostic, Findings};

/// Every code that an analysis can tell.
pub const CODES: [&str; 24] = [
    "analysis_incomplete",
    "apply_mismatch",
    "authority_too_wide",
    "each_never_a_list",
    "endless_loop",
    "gate_never_opens",
    "hidden_path",
    "inherited_name",
    "invoke_cycle",
    "language_missing",
    "no_way_to_end",
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
    "way_out_of_end",
];

/// Looks for what is probably, or certainly, not meant. The same protocol gives the same findings in
/// the same order: by file, then by place. At most [`crate::limits::MAX_FINDINGS`] are listed, and
/// behind them one line for each code of which there are more.
#[must_use]
pub fn check(protocol: &Protocol) -> Vec<Diagnostic> {
    let efforts = Efforts::full();
    let openings = Openings::of(protocol, &efforts.schemas);
    // A phase that several workflows include is looked at with each of them, and reported once.
    let mut findings = Findings::default();
    findings.extend(gates::check(protocol, &openings));
    findings.extend(ways::check(protocol, &openings));
    findings.extend(loops::check(protocol, &openings));
    findings.extend(overlap::check(protocol, &openings, &efforts.gates));
    unwritten::check(protocol, &openings, &efforts, &mut findings);
    findings.extend(authority::check(protocol, &efforts.schemas));
    fields::check(protocol, &efforts.schemas, &mut findings);
    findings.extend(mismatch::check(protocol, &efforts.schemas));
    findings.extend(each::check(protocol, &efforts.schemas));
    findings.extend(waits::check(protocol));
    budgets::check(protocol, &mut findings);
    findings.extend(invoke::check(protocol, &openings, &efforts.calls));
    tickets::check(protocol, &openings, &efforts.tickets, &mut findings);
    languages::check(protocol, &mut findings);
    findings.extend(hidden::check(protocol));
    inherited::check(protocol, &mut findings);
    findings.extend(efforts.incomplete(protocol));
    findings.finish()
}
