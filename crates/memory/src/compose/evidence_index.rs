//! Indexes the events that rows cite, and builds the citations of a packet.

use std::collections::BTreeMap;

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::report::Citation;

use super::insight_guard::InsightGuard;
use super::shorten::shorten_chars;
use super::timestamp;
use crate::Candidates;
use crate::record::{MemoryEventKind, MemoryOrigin};

/// The maximum length of a citation's summary, in characters.
const MAX_SUMMARY_CHARS: usize = 80;

/// An event that can be cited.
#[derive(Debug, Clone, Copy)]
pub(super) struct CitableEvent<'a> {
    pub(super) id: &'a str,
    pub(super) kind: MemoryEventKind,
    pub(super) origin: MemoryOrigin,
    pub(super) ts: Timestamp,
    pub(super) text: &'a str,
}

/// All citable events by id.
#[derive(Debug)]
pub(super) struct EvidenceIndex<'a>(BTreeMap<&'a str, CitableEvent<'a>>);

impl<'a> EvidenceIndex<'a> {
    /// Collects the citable events of the retrieved rows.
    pub(super) fn from_candidates(found: &'a Candidates) -> Self {
        let listed = found.evidence.iter().map(|(id, cited)| {
            let (kind, origin, ts) = (cited.kind, cited.origin, cited.ts);
            (id.as_str(), CitableEvent { id, kind, origin, ts, text: &cited.text })
        });
        let events = found.quotes.iter().map(|scored| &scored.row).chain(&found.window);
        let shown = events.map(|event| {
            let (kind, origin, ts) = (event.kind, event.origin, event.ts);
            (event.id.as_str(), CitableEvent { id: &event.id, kind, origin, ts, text: &event.text })
        });
        Self(listed.chain(shown).collect())
    }

    /// Returns the citable event with an id.
    pub(super) fn find_event(&self, id: &str) -> Option<CitableEvent<'a>> {
        self.0.get(id).copied()
    }

    /// Returns the sources that can be cited, each once, in their order.
    pub(super) fn filter_citable<'s>(
        &self,
        sources: impl Iterator<Item = &'s String>,
    ) -> Vec<String> {
        let mut kept: Vec<String> = Vec::new();
        for source in sources {
            if self.find_event(source).is_some() && !kept.contains(source) {
                kept.push(source.clone());
            }
        }
        kept
    }

    /// Builds the citations of the selected items, oldest first, so that later events do not change
    /// their numbers.
    pub(super) fn build_citations<'s>(
        &self,
        ids: impl Iterator<Item = &'s String>,
        guard: &InsightGuard,
    ) -> Vec<Citation> {
        let cited: BTreeMap<(Timestamp, &str), CitableEvent<'_>> = ids
            .filter_map(|id| {
                self.find_event(id).map(|witness| ((witness.ts, id.as_str()), witness))
            })
            .collect();
        cited
            .into_iter()
            .map(|((ts, id), witness)| {
                let source = describe_source(witness.origin);
                let told = shorten_chars(witness.text.trim(), MAX_SUMMARY_CHARS);
                let summary = match told.filter(|text| !text.is_empty()) {
                    Some(text) => format!("{source}: {text}"),
                    None => source.to_owned(),
                };
                let summary = (!guard.must_withhold_event(&witness)).then_some(summary);
                let kind = describe_kind(witness.kind).to_owned();
                Citation { id: id.to_owned(), kind, ts: timestamp::format_timestamp(ts), summary }
            })
            .collect()
    }
}

/// Returns the type of a citation.
fn describe_kind(kind: MemoryEventKind) -> &'static str {
    match kind {
        MemoryEventKind::Message => "message",
        MemoryEventKind::ToolResult => "tool_result",
        MemoryEventKind::Decision => "decision",
        MemoryEventKind::StatePatch => "state_patch",
    }
}

/// Returns who an event comes from, which shows how far it is trusted. A citation's summary begins
/// with it.
fn describe_source(origin: MemoryOrigin) -> &'static str {
    match origin {
        MemoryOrigin::User => "user",
        MemoryOrigin::Tool => "tool",
        MemoryOrigin::Web => "web",
        MemoryOrigin::Model => "model",
        MemoryOrigin::System => "system",
        MemoryOrigin::Imported => "imported",
    }
}
