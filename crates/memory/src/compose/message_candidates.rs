//! Selects the conversation window: the latest messages of the session, if the policy injects them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use countersign_shipped_contracts::memory::short_term::PacketMessage;

use super::context::ComposeContext;
use super::fill::{DetailTier, PacketItem};
use super::quote_candidates::{is_withheld, to_message_role};
use super::selection_log::{OmissionReason, RankedItem, SelectionLog};
use super::timestamp;
use crate::policy::InjectionStrength;
use crate::record::MemoryEvent;
use crate::render::{self, PacketHeading};

/// A message that may go into the packet.
#[derive(Debug)]
pub(super) struct MessageCandidate<'a> {
    pub(super) row: &'a MemoryEvent,
}

impl RankedItem for MessageCandidate<'_> {
    const KIND: &'static str = "message";

    fn ids(&self) -> Vec<&str> {
        vec![&self.row.id]
    }

    fn rule(&self, _: &str) -> String {
        "latest".to_owned()
    }
}

/// Selects the latest messages, newest first.
pub(super) fn select_messages<'a>(
    ctx: &ComposeContext<'a>,
    ledger: &mut SelectionLog,
) -> Vec<MessageCandidate<'a>> {
    let mut rows: Vec<&MemoryEvent> = ctx.candidates.window.iter().collect();
    rows.sort_by(|one, other| {
        (Reverse(one.location), &one.id).cmp(&(Reverse(other.location), &other.id))
    });
    let mut ids = BTreeSet::new();
    let mut list = Vec::new();
    for row in rows.into_iter().filter(|row| ids.insert(row.id.as_str())) {
        if ctx.row.window == InjectionStrength::None {
            ledger.omit("message", &row.id, OmissionReason::Purpose);
            continue;
        }
        let over = row.expires.is_some_and(|expires| ctx.is_expired(expires, row.scope.run()));
        let invalid = row.text.trim().is_empty() || timestamp::format_timestamp(row.ts).is_none();
        if over {
            ledger.omit("message", &row.id, OmissionReason::Expired);
        } else if invalid {
            ledger.omit("message", &row.id, OmissionReason::Invalid);
        } else if is_withheld(ctx, row) {
            ledger.omit("message", &row.id, OmissionReason::Quarantined);
        } else {
            list.push(MessageCandidate { row });
        }
    }
    ledger.truncate_to_cap(
        &mut list,
        ctx.limit_candidates(ctx.policy.caps.window),
        OmissionReason::Cap,
    );
    list
}

/// Builds the packet item of a message: in full, or its beginning.
pub(super) fn build_item(
    ctx: &ComposeContext<'_>,
    candidate: &MessageCandidate<'_>,
    tier: DetailTier,
) -> Option<PacketItem<PacketMessage>> {
    let row = candidate.row;
    let words = match &row.speaker {
        Some(speaker) => format!("{speaker}: {}", row.text),
        None => row.text.clone(),
    };
    let whole = ctx.fit_to_longest(&words);
    let (content, name) = match tier {
        DetailTier::Raw => (whole.text, "raw"),
        DetailTier::Short => {
            let short = ctx.shorten_item(&words).text;
            let name = if short == whole.text { "raw" } else { "short" };
            (short, name)
        }
        DetailTier::Ref => return None,
    };
    let (evidence_id, role) = (row.id.clone(), to_message_role(row.role));
    let item =
        PacketMessage { evidence_id, role, content, ts: timestamp::format_timestamp(row.ts) };
    let line = render::render_message(&item, &ctx.markers);
    let shared = vec![PacketHeading::Recent.line().to_owned()];
    Some(PacketItem { item, shared, line, name, is_truncated: whole.is_truncated })
}
