//! The conversation window: the latest messages of the session, where the policy gives them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use countersign_contracts::memory::short_term::Message;

use super::context::Context;
use super::fill::{Form, Tier};
use super::ledger::{Ledger, Ranked, Reason};
use super::moment;
use super::quotes::{role, withheld};
use crate::policy::Strength;
use crate::record::Event;
use crate::render::{self, Heading};

/// A message that may go in.
#[derive(Debug)]
pub(super) struct MessageCandidate<'a> {
    pub(super) row: &'a Event,
}

impl Ranked for MessageCandidate<'_> {
    const KIND: &'static str = "message";

    fn ids(&self) -> Vec<&str> {
        vec![&self.row.id]
    }

    fn rule(&self, _: &str) -> String {
        "latest".to_owned()
    }
}

/// The latest messages, the newest first.
pub(super) fn select<'a>(ctx: &Context<'a>, ledger: &mut Ledger) -> Vec<MessageCandidate<'a>> {
    let mut rows: Vec<&Event> = ctx.found.window.iter().collect();
    rows.sort_by(|one, other| {
        (Reverse(one.place), &one.id).cmp(&(Reverse(other.place), &other.id))
    });
    let mut ids = BTreeSet::new();
    let mut list = Vec::new();
    for row in rows.into_iter().filter(|row| ids.insert(row.id.as_str())) {
        if ctx.row.window == Strength::None {
            ledger.omit("message", &row.id, Reason::Purpose);
            continue;
        }
        let over = row.expires.is_some_and(|expires| ctx.is_over(expires, row.scope.run()));
        let invalid = row.text.trim().is_empty() || moment::told(row.ts).is_none();
        if over {
            ledger.omit("message", &row.id, Reason::Expired);
        } else if invalid {
            ledger.omit("message", &row.id, Reason::Invalid);
        } else if withheld(ctx, row) {
            ledger.omit("message", &row.id, Reason::Quarantined);
        } else {
            list.push(MessageCandidate { row });
        }
    }
    ledger.cap(&mut list, ctx.most(ctx.policy.caps.window), Reason::Cap);
    list
}

/// A message in a form: whole, or its beginning.
pub(super) fn form(
    ctx: &Context<'_>,
    candidate: &MessageCandidate<'_>,
    tier: Tier,
) -> Option<Form<Message>> {
    let row = candidate.row;
    let words = match &row.speaker {
        Some(speaker) => format!("{speaker}: {}", row.text),
        None => row.text.clone(),
    };
    let whole = ctx.whole(&words);
    let (content, name) = match tier {
        Tier::Raw => (whole.text, "raw"),
        Tier::Short => {
            let short = ctx.short(&words).text;
            let name = if short == whole.text { "raw" } else { "short" };
            (short, name)
        }
        Tier::Ref => return None,
    };
    let (evidence_id, role) = (row.id.clone(), role(row.role));
    let item = Message { evidence_id, role, content, ts: moment::told(row.ts) };
    let line = render::message(&item, &ctx.marks);
    let shared = vec![Heading::Recent.line().to_owned()];
    Some(Form { item, shared, line, name, cut: whole.cut })
}
