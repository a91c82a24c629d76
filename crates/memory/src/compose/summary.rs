//! The rolling summary: as much of its beginning as fits.

use super::budget::Section;
use super::context::Context;
use super::ledger::{Ledger, Reason, Step};
use super::shorten::shorten;
use crate::policy::Strength;
use crate::render::{self, Heading};

const KIND: &str = "summary";
const ID: &str = "rolling_summary";

/// The summary that may go in.
pub(super) fn select<'a>(ctx: &Context<'a>, ledger: &mut Ledger) -> Option<&'a str> {
    let summary = ctx.found.summary.as_ref().filter(|it| !it.text.trim().is_empty())?;
    let out = if ctx.row.summary == Strength::None {
        Reason::Purpose
    } else if ctx.guard.taints(summary.sources.iter().chain(&summary.quotes))
        || ctx.guard.withholds(&summary.text, &summary.sources.iter(), &ctx.evidences)
    {
        Reason::Quarantined
    } else {
        return Some(&summary.text);
    };
    ledger.omit(KIND, ID, out);
    None
}

/// What of it goes in, what that costs, and whether it is all.
pub(super) fn fit(
    ctx: &Context<'_>,
    ledger: &mut Ledger,
    text: Option<&str>,
    budget: u64,
) -> (String, u64, bool) {
    let Some(text) = text else { return (String::new(), 0, true) };
    let heading = ctx.counter.count(Heading::Summary.line());
    let cost = |text: &str| heading + ctx.counter.count(&render::summary(text));
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
            ledger.degrade(Section::ShortTermSummary, Step::StrongerCompression, reason);
            return (short, used, false);
        }
        most = most.saturating_sub((used - budget).max(1));
    }
    ledger.omit(KIND, ID, Reason::Budget);
    let reason = format!("`{ID}` does not fit: no word of {all} tokens");
    ledger.degrade(Section::ShortTermSummary, Step::FewerItems, reason);
    (String::new(), 0, false)
}
