//! Selects quotes: events that match the request, and events that the summary keeps verbatim.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersign_shipped_contracts::JsonObject;
use countersign_shipped_contracts::memory::short_term::{KeyQuote, MessageRole};

use super::context::ComposeContext;
use super::evidence_index::CitableEvent;
use super::fill::{DetailTier, PacketItem};
use super::normalize::normalize_text;
use super::selection_log::{OmissionReason, RankedItem, SelectionLog};
use super::timestamp;
use crate::ScoredRow;
use crate::policy::{InjectionStrength, QuoteDateStyle};
use crate::rank::{excerpt_piece, split_into_pieces};
use crate::record::{MemoryEvent, SpeakerRole};
use crate::render::{self, PacketHeading, REFERENCE_ELLIPSIS};

/// An event that may be quoted.
#[derive(Debug)]
pub(super) struct QuoteCandidate<'a> {
    pub(super) row: &'a MemoryEvent,
    score: i64,
    /// The rank among the events that the summary keeps.
    summary_rank: Option<usize>,
    /// The number of the piece to show of a long message.
    piece: Option<u32>,
    rule: String,
}

impl RankedItem for QuoteCandidate<'_> {
    const KIND: &'static str = "quote";

    fn ids(&self) -> Vec<&str> {
        vec![&self.row.id]
    }

    fn rule(&self, _: &str) -> String {
        self.rule.clone()
    }
}

/// Selects the events that may be quoted, ranked. Events in the conversation window are not
/// repeated.
pub(super) fn select_quotes<'a>(
    ctx: &ComposeContext<'a>,
    ledger: &mut SelectionLog,
    in_window: &BTreeSet<&str>,
) -> Vec<QuoteCandidate<'a>> {
    let kept: BTreeMap<&str, usize> = ctx
        .candidates
        .summary
        .iter()
        .flat_map(|summary| summary.quotes.iter().enumerate())
        .map(|(place, id)| (id.as_str(), place))
        .collect();
    let mut list: Vec<QuoteCandidate<'_>> = Vec::new();
    for ScoredRow { row, score } in &ctx.candidates.quotes {
        let kept = kept.get(row.id.as_str()).copied();
        if let Some(reason) = find_omission_reason(ctx, row, score.total, kept, in_window) {
            ledger.omit("quote", &row.id, reason);
            continue;
        }
        let mut rule = format!("score:{}", score.total);
        for (part, value) in &score.parts {
            rule.push_str(&format!(",{part}:{value}"));
        }
        rule.push_str(if kept.is_some() { ",kept" } else { "" });
        if let Some(piece) = score.piece {
            rule.push_str(&format!(",piece:{piece}/{}", split_into_pieces(&row.text).len()));
        }
        let (piece, score) = (score.piece, score.total);
        list.push(QuoteCandidate { row, score, summary_rank: kept, piece, rule });
    }
    list.sort_by(|one, other| {
        let key = |it: &QuoteCandidate<'_>| {
            let kept = it.summary_rank.unwrap_or(usize::MAX);
            (Reverse(it.score.max(0)), kept, Reverse(it.row.ts), Reverse(it.row.location))
        };
        key(one).cmp(&key(other)).then_with(|| one.row.id.cmp(&other.row.id))
    });
    let mut ids = BTreeSet::new();
    let mut texts: BTreeMap<(SpeakerRole, Option<&str>, String), &str> = BTreeMap::new();
    list.retain(|candidate| {
        let row = candidate.row;
        if !ids.insert(row.id.as_str()) {
            ledger.omit("quote", &row.id, OmissionReason::SameId);
            return false;
        }
        let text = (row.role, row.speaker.as_deref(), normalize_text(&row.text));
        let first = *texts.entry(text).or_insert(&row.id);
        if first != row.id {
            let extra = JsonObject::from_iter([("duplicate_of".to_owned(), first.into())]);
            ledger.omit_with_details("quote", &row.id, OmissionReason::Duplicate, extra);
        }
        first == row.id
    });
    ledger.truncate_to_cap(&mut list, ctx.limit_quotes(), OmissionReason::Cap);
    list
}

/// Builds the packet item of a quote: in full, its beginning, or as a reference.
pub(super) fn build_item(
    ctx: &ComposeContext<'_>,
    candidate: &QuoteCandidate<'_>,
    tier: DetailTier,
) -> PacketItem<KeyQuote> {
    let row = candidate.row;
    let text = excerpt_piece(&row.text, candidate.piece);
    let words = match &row.speaker {
        Some(speaker) => format!("{speaker}: {text}"),
        None => text.into_owned(),
    };
    let whole = ctx.fit_to_longest(&words);
    let (quote, name) = match tier {
        DetailTier::Raw => (whole.text, "raw"),
        DetailTier::Short => {
            let short = ctx.shorten_item(&words).text;
            let name = if short == whole.text { "raw" } else { "short" };
            (short, name)
        }
        DetailTier::Ref => (REFERENCE_ELLIPSIS.to_owned(), "ref"),
    };
    let (evidence_id, role) = (row.id.clone(), Some(to_message_role(row.role)));
    let item = KeyQuote { evidence_id, quote, role, ts: timestamp::format_timestamp(row.ts) };
    let mut shared = vec![PacketHeading::Quotes.line().to_owned()];
    if ctx.policy.render.dates == QuoteDateStyle::Day {
        shared.extend(render::render_quote_date(&item));
    }
    let line = render::render_quote(&item, &ctx.markers);
    PacketItem { item, shared, line, name, is_truncated: whole.is_truncated }
}

pub(super) fn to_message_role(role: SpeakerRole) -> MessageRole {
    match role {
        SpeakerRole::User => MessageRole::User,
        SpeakerRole::Assistant => MessageRole::Assistant,
        SpeakerRole::Tool => MessageRole::Tool,
    }
}

fn find_omission_reason(
    ctx: &ComposeContext<'_>,
    row: &MemoryEvent,
    score: i64,
    kept: Option<usize>,
    in_window: &BTreeSet<&str>,
) -> Option<OmissionReason> {
    if ctx.row.quotes == InjectionStrength::None {
        Some(OmissionReason::Purpose)
    } else if in_window.contains(row.id.as_str()) {
        Some(OmissionReason::Duplicate)
    } else if row.expires.is_some_and(|expires| ctx.is_expired(expires, row.scope.run())) {
        Some(OmissionReason::Expired)
    } else if row.text.trim().is_empty() || timestamp::format_timestamp(row.ts).is_none() {
        Some(OmissionReason::Invalid)
    } else if is_withheld(ctx, row) {
        Some(OmissionReason::Quarantined)
    } else if ctx.cues.has_query && score <= 0 && kept.is_none() {
        Some(OmissionReason::NoMatch)
    } else {
        None
    }
}

/// Returns whether an event repeats an insight that must not be visible, or was written by an
/// author who had seen one.
pub(super) fn is_withheld(ctx: &ComposeContext<'_>, row: &MemoryEvent) -> bool {
    if ctx.guard.is_inactive() {
        return false;
    }
    let (kind, origin, ts) = (row.kind, row.origin, row.ts);
    // Check the text as it is rendered, with the speaker.
    let said = row.speaker.as_ref().map(|speaker| format!("{speaker}: {}", row.text));
    let text = said.as_ref().unwrap_or(&row.text);
    ctx.guard.must_withhold_event(&CitableEvent { id: &row.id, kind, origin, ts, text })
}
