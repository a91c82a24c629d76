//! Selects the rolling summary, and as much of its beginning as fits.

use super::budget::PacketSection;
use super::context::ComposeContext;
use super::selection_log::{DegradationStep, OmissionReason, SelectionLog};
use super::shorten::shorten;
use crate::policy::InjectionStrength;
use crate::render::{self, PacketHeading};

const KIND: &str = "summary";
const ID: &str = "rolling_summary";

/// Returns the summary if it may go into the packet.
pub(super) fn select_summary<'a>(
    ctx: &ComposeContext<'a>,
    ledger: &mut SelectionLog,
) -> Option<&'a str> {
    let summary = ctx.candidates.summary.as_ref().filter(|it| !it.text.trim().is_empty())?;
    let out = if ctx.row.summary == InjectionStrength::None {
        OmissionReason::Purpose
    } else if ctx.guard.has_tainted_source(summary.sources.iter().chain(&summary.quotes))
        || ctx.guard.must_withhold_text(&summary.text, &summary.sources.iter(), &ctx.evidence_index)
    {
        OmissionReason::Quarantined
    } else {
        return Some(&summary.text);
    };
    ledger.omit(KIND, ID, out);
    None
}

/// Returns the part of the summary that fits, its cost in tokens, and whether it is complete.
pub(super) fn fit_summary(
    ctx: &ComposeContext<'_>,
    ledger: &mut SelectionLog,
    text: Option<&str>,
    budget: u64,
) -> (String, u64, bool) {
    let Some(text) = text else { return (String::new(), 0, true) };
    let heading = ctx.counter.count(PacketHeading::Summary.line());
    let cost = |text: &str| heading + ctx.counter.count(&render::render_summary(text));
    let all = cost(text);
    if all <= budget {
        ledger.selected.push(format!("{ID}|{KIND},session"));
        return (text.to_owned(), all, true);
    }
    let mut most = budget.saturating_sub(heading);
    while most > 0 {
        let Some(short) = shorten(text, most, ctx.counter) else { break };
        let used = cost(&short);
        if used <= budget {
            ledger.selected.push(format!("{ID}|{KIND},session,short"));
            let reason = format!("`{ID}` raw→short: {used} of {all} tokens");
            ledger.record_degradation(
                PacketSection::ShortTermSummary,
                DegradationStep::StrongerCompression,
                reason,
            );
            return (short, used, false);
        }
        most = most.saturating_sub((used - budget).max(1));
    }
    ledger.omit(KIND, ID, OmissionReason::Budget);
    let reason = format!("`{ID}` does not fit: no word of {all} tokens");
    ledger.record_degradation(PacketSection::ShortTermSummary, DegradationStep::FewerItems, reason);
    (String::new(), 0, false)
}
