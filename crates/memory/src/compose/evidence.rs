//! What the rows of a packet rest on, and the citations of those that went in.

use std::collections::BTreeMap;

use countersign_contracts::memory::report::Citation;
use countersign_core::run::Time;

use super::guard::Guard;
use super::moment;
use super::shorten::shorten_chars;
use crate::Found;
use crate::record::{EventKind, Origin};

/// How long the summary of a citation is, in characters.
const SUMMARY: usize = 80;

/// An event that can be cited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Witness<'a> {
    pub(super) id: &'a str,
    pub(super) kind: EventKind,
    pub(super) origin: Origin,
    pub(super) ts: Time,
    pub(super) text: &'a str,
}

/// Everything that can be cited, by id.
#[derive(Debug)]
pub(super) struct Evidences<'a>(BTreeMap<&'a str, Witness<'a>>);

impl<'a> Evidences<'a> {
    /// The evidence of what was found.
    pub(super) fn of(found: &'a Found) -> Self {
        let listed = found.evidence.iter().map(|(id, cited)| {
            let (kind, origin, ts) = (cited.kind, cited.origin, cited.ts);
            (id.as_str(), Witness { id, kind, origin, ts, text: &cited.text })
        });
        let events = found.quotes.iter().map(|scored| &scored.row).chain(&found.window);
        let shown = events.map(|event| {
            let (kind, origin, ts) = (event.kind, event.origin, event.ts);
            (event.id.as_str(), Witness { id: &event.id, kind, origin, ts, text: &event.text })
        });
        Self(listed.chain(shown).collect())
    }

    /// The evidence of an id.
    pub(super) fn find(&self, id: &str) -> Option<Witness<'a>> {
        self.0.get(id).copied()
    }

    /// Those of the sources that can be cited, each once, in their order.
    pub(super) fn resolving<'s>(&self, sources: impl Iterator<Item = &'s String>) -> Vec<String> {
        let mut kept: Vec<String> = Vec::new();
        for source in sources {
            if self.find(source).is_some() && !kept.contains(source) {
                kept.push(source.clone());
            }
        }
        kept
    }

    /// The citations of what went in, the oldest first: what is said later does not move them.
    pub(super) fn citations<'s>(
        &self,
        ids: impl Iterator<Item = &'s String>,
        guard: &Guard,
    ) -> Vec<Citation> {
        let cited: BTreeMap<(Time, &str), Witness<'_>> = ids
            .filter_map(|id| self.find(id).map(|witness| ((witness.ts, id.as_str()), witness)))
            .collect();
        cited
            .into_iter()
            .map(|((ts, id), witness)| {
                let told = shorten_chars(witness.text.trim(), SUMMARY);
                let summary =
                    told.filter(|text| !text.is_empty() && !guard.withholds_event(&witness));
                let kind = kind(witness.kind, witness.origin);
                Citation { id: id.to_owned(), kind, ts: moment::told(ts), summary }
            })
            .collect()
    }
}

/// What an event is, and where it came from: what it may be trusted for.
fn kind(kind: EventKind, origin: Origin) -> String {
    let kind = match kind {
        EventKind::Message => "message",
        EventKind::ToolResult => "tool_result",
        EventKind::Decision => "decision",
        EventKind::StatePatch => "state_patch",
    };
    let origin = match origin {
        Origin::User => "user",
        Origin::Tool => "tool",
        Origin::Web => "web",
        Origin::Model => "model",
        Origin::System => "system",
        Origin::Imported => "imported",
    };
    format!("{kind}:{origin}")
}
