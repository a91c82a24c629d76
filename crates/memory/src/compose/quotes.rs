//! Quotes: events that the request activates, and those that the summary keeps word for word.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::Object;
use countersign_contracts::memory::short_term::{KeyQuote, MessageRole};

use super::context::Context;
use super::evidence::Witness;
use super::fill::{Form, Tier};
use super::ledger::{Ledger, Ranked, Reason};
use super::moment;
use super::normal::normal;
use crate::Scored;
use crate::policy::{Dates, Strength};
use crate::record::{Event, Role};
use crate::render::{self, Heading, REF};

/// An event that may be quoted.
#[derive(Debug)]
pub(super) struct QuoteCandidate<'a> {
    pub(super) row: &'a Event,
    score: i64,
    /// Its place among those that the summary keeps.
    kept: Option<usize>,
    rule: String,
}

impl Ranked for QuoteCandidate<'_> {
    const KIND: &'static str = "quote";

    fn ids(&self) -> Vec<&str> {
        vec![&self.row.id]
    }

    fn rule(&self, _: &str) -> String {
        self.rule.clone()
    }
}

/// The events that may be quoted, in order. Those that stand in the conversation window are not
/// given twice.
pub(super) fn select<'a>(
    ctx: &Context<'a>,
    ledger: &mut Ledger,
    in_window: &BTreeSet<&str>,
) -> Vec<QuoteCandidate<'a>> {
    let kept: BTreeMap<&str, usize> = ctx
        .found
        .summary
        .iter()
        .flat_map(|summary| summary.quotes.iter().enumerate())
        .map(|(place, id)| (id.as_str(), place))
        .collect();
    let mut list: Vec<QuoteCandidate<'_>> = Vec::new();
    for Scored { row, score } in &ctx.found.quotes {
        let kept = kept.get(row.id.as_str()).copied();
        if let Some(reason) = filter(ctx, row, score.total, kept, in_window) {
            ledger.omit("quote", &row.id, reason);
            continue;
        }
        let mut rule = format!("score:{}", score.total);
        for (part, value) in &score.parts {
            rule.push_str(&format!(",{part}:{value}"));
        }
        rule.push_str(if kept.is_some() { ",kept" } else { "" });
        list.push(QuoteCandidate { row, score: score.total, kept, rule });
    }
    list.sort_by(|one, other| {
        let key = |it: &QuoteCandidate<'_>| {
            let kept = it.kept.unwrap_or(usize::MAX);
            (Reverse(it.score.max(0)), kept, Reverse(it.row.ts), Reverse(it.row.place))
        };
        key(one).cmp(&key(other)).then_with(|| one.row.id.cmp(&other.row.id))
    });
    let mut ids = BTreeSet::new();
    let mut texts: BTreeMap<(Role, Option<&str>, String), &str> = BTreeMap::new();
    list.retain(|candidate| {
        let row = candidate.row;
        if !ids.insert(row.id.as_str()) {
            ledger.omit("quote", &row.id, Reason::SameId);
            return false;
        }
        let text = (row.role, row.speaker.as_deref(), normal(&row.text));
        let first = *texts.entry(text).or_insert(&row.id);
        if first != row.id {
            let extra = Object::from_iter([("of".to_owned(), first.into())]);
            ledger.omit_for("quote", &row.id, Reason::Duplicate, extra);
        }
        first == row.id
    });
    ledger.cap(&mut list, ctx.most(ctx.policy.caps.quotes), Reason::Cap);
    list
}

/// A quote in a form: whole, its beginning, or its reference.
pub(super) fn form(
    ctx: &Context<'_>,
    candidate: &QuoteCandidate<'_>,
    tier: Tier,
) -> Form<KeyQuote> {
    let row = candidate.row;
    let words = match &row.speaker {
        Some(speaker) => format!("{speaker}: {}", row.text),
        None => row.text.clone(),
    };
    let whole = ctx.whole(&words);
    let (quote, name) = match tier {
        Tier::Raw => (whole.text, "raw"),
        Tier::Short => {
            let short = ctx.short(&words).text;
            let name = if short == whole.text { "raw" } else { "short" };
            (short, name)
        }
        Tier::Ref => (REF.to_owned(), "ref"),
    };
    let (evidence_id, role) = (row.id.clone(), Some(role(row.role)));
    let item = KeyQuote { evidence_id, quote, role, ts: moment::told(row.ts) };
    let mut shared = vec![Heading::Quotes.line().to_owned()];
    if ctx.policy.render.dates == Dates::Day {
        shared.extend(render::quote_date(&item));
    }
    let line = render::quote(&item, &ctx.marks);
    Form { item, shared, line, name, cut: whole.cut }
}

pub(super) fn role(role: Role) -> MessageRole {
    match role {
        Role::User => MessageRole::User,
        Role::Assistant => MessageRole::Assistant,
        Role::Tool => MessageRole::Tool,
    }
}

fn filter(
    ctx: &Context<'_>,
    row: &Event,
    score: i64,
    kept: Option<usize>,
    in_window: &BTreeSet<&str>,
) -> Option<Reason> {
    if ctx.row.quotes == Strength::None {
        Some(Reason::Purpose)
    } else if in_window.contains(row.id.as_str()) {
        Some(Reason::Duplicate)
    } else if row.expires.is_some_and(|expires| ctx.is_over(expires, row.scope.run())) {
        Some(Reason::Expired)
    } else if row.text.trim().is_empty() || moment::told(row.ts).is_none() {
        Some(Reason::Invalid)
    } else if withheld(ctx, row) {
        Some(Reason::Quarantined)
    } else if ctx.cues.asked && score <= 0 && kept.is_none() {
        Some(Reason::NoMatch)
    } else {
        None
    }
}

/// Whether an event is the words of a guess that must not be seen, or of somebody who had seen one.
pub(super) fn withheld(ctx: &Context<'_>, row: &Event) -> bool {
    if ctx.guard.is_idle() {
        return false;
    }
    let (kind, origin, ts) = (row.kind, row.origin, row.ts);
    // As it is given: with whoever says it.
    let said = row.speaker.as_ref().map(|speaker| format!("{speaker}: {}", row.text));
    let text = said.as_ref().unwrap_or(&row.text);
    ctx.guard.withholds_event(&Witness { id: &row.id, kind, origin, ts, text })
}
