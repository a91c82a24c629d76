//! The door: every analysis in turn, and the findings in the order of the files.

use super::opening::Openings;
use super::{
    authority, budgets, each, fields, gates, invoke, languages, loops, mismatch, overlap, tickets,
    unwritten, waits, ways,
};
use crate::protocol::Protocol;
use crate::spec::Diagnostic;

/// Every code that an analysis can tell.
pub const CODES: [&str; 21] = [
    "apply_mismatch",
    "authority_too_wide",
    "each_never_a_list",
    "endless_loop",
    "gate_never_opens",
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
/// the same order: by file, then by place.
#[must_use]
pub fn check(protocol: &Protocol) -> Vec<Diagnostic> {
    let openings = Openings::of(protocol);
    let mut findings = gates::check(protocol, &openings);
    findings.extend(ways::check(protocol, &openings));
    findings.extend(loops::check(protocol, &openings));
    findings.extend(overlap::check(protocol, &openings));
    findings.extend(unwritten::check(protocol, &openings));
    findings.extend(authority::check(protocol));
    findings.extend(fields::check(protocol));
    findings.extend(mismatch::check(protocol));
    findings.extend(each::check(protocol));
    findings.extend(waits::check(protocol));
    findings.extend(budgets::check(protocol));
    findings.extend(invoke::check(protocol, &openings));
    findings.extend(tickets::check(protocol, &openings));
    findings.extend(languages::check(protocol));
    findings.sort_by(|one, two| {
        let key = |finding: &Diagnostic| {
            (finding.source.name.clone(), finding.span, finding.code.clone())
        };
        key(one).cmp(&key(two)).then_with(|| one.message.cmp(&two.message))
    });
    // A phase that several workflows include is looked at with each of them.
    findings.dedup();
    findings
}
