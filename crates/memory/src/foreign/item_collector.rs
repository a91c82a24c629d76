//! Collects the rows of one file with ids that depend on the source alone.

use std::collections::BTreeMap;

use countersign_contract::Timestamp;
use countersign_contract::json::sha256_hex;
use serde_json::Value;

use super::foreign_conversion::ORIGIN;
use super::{ForeignConversion, ForeignItem, ForeignOmission, ForeignSource};
use crate::record::{
    EventLocation, FactEvidence, MemoryEvent, MemoryEventKind, MemoryFact, SpeakerRole,
};
use crate::store::MemoryExportRow;
use crate::{MemoryScope, MemorySubject};

/// The number of hexadecimal digits of a derived id.
const ID_HEX_DIGITS: usize = 24;

/// The run that imported rows belong to.
const IMPORT_RUN: &str = "import";

/// Collects what is taken from a file, and what is not.
pub(super) struct ItemCollector<'a> {
    source: ForeignSource,
    path: &'a str,
    owner: &'a MemorySubject,
    now: Timestamp,
    conversion: ForeignConversion,
    /// The value of every fact key so far.
    keys: BTreeMap<String, Value>,
}

/// An event to collect.
pub(super) struct EventDraft<'a> {
    /// What identifies the event in the source.
    pub(super) id: Vec<&'a str>,
    pub(super) session: &'a str,
    pub(super) ts: Option<Timestamp>,
    pub(super) role: SpeakerRole,
    pub(super) speaker: Option<String>,
    pub(super) text: String,
    pub(super) tags: Vec<String>,
    pub(super) entities: Vec<String>,
}

/// A fact to collect. Its evidence is an event with the words of the source.
pub(super) struct FactDraft<'a> {
    /// What identifies the fact in the source.
    pub(super) id: Vec<&'a str>,
    pub(super) key: String,
    pub(super) value: Value,
    pub(super) valid_from: Option<Timestamp>,
    pub(super) valid_to: Option<Timestamp>,
    pub(super) evidence: Vec<FactEvidence>,
    pub(super) preference: bool,
    pub(super) tags: Vec<String>,
    pub(super) entities: Vec<String>,
    pub(super) notes: String,
}

impl<'a> ItemCollector<'a> {
    pub(super) fn new(
        source: ForeignSource,
        path: &'a str,
        owner: &'a MemorySubject,
        now: Timestamp,
    ) -> Self {
        let conversion = ForeignConversion::default();
        Self { source, path, owner, now, conversion, keys: BTreeMap::new() }
    }

    pub(super) fn into_conversion(self) -> ForeignConversion {
        self.conversion
    }

    /// The user that the rows are imported for.
    pub(super) fn user(&self) -> &str {
        &self.owner.user
    }

    /// Records that a part of the file is not taken.
    pub(super) fn leave_out(&mut self, pointer: &str, reason: impl Into<String>) {
        let (place, reason) = (self.place(pointer), reason.into());
        self.conversion.omissions.push(ForeignOmission { place, reason });
    }

    /// Adds an event and returns its id; an event without text or without a time is left out.
    pub(super) fn add_event(&mut self, pointer: &str, draft: EventDraft<'_>) -> Option<String> {
        if draft.text.trim().is_empty() {
            self.leave_out(pointer, "it has no text");
            return None;
        }
        let Some(ts) = draft.ts else {
            self.leave_out(pointer, "it has no time that can be read");
            return None;
        };
        let MemorySubject { tenant, user, agent } = self.owner;
        let session = self.name_session(draft.session);
        let scope = match MemoryScope::new(tenant, user, agent, session, IMPORT_RUN) {
            Ok(scope) => scope,
            Err(error) => {
                self.leave_out(pointer, error.to_string());
                return None;
            }
        };
        let id = self.derive_id("e", &draft.id);
        let kind = match draft.role {
            SpeakerRole::Tool => MemoryEventKind::ToolResult,
            SpeakerRole::User | SpeakerRole::Assistant => MemoryEventKind::Message,
        };
        let event = MemoryEvent {
            id: id.clone(),
            scope,
            location: EventLocation { session: 1, position: 1 },
            ts,
            recorded_at: self.now,
            role: draft.role,
            kind,
            origin: ORIGIN,
            speaker: draft.speaker,
            text: draft.text,
            tags: draft.tags,
            entities: draft.entities,
            expires: None,
            seen_insights: Vec::new(),
        };
        self.add_item(pointer, MemoryExportRow::Event(Box::new(event)));
        Some(id)
    }

    /// Adds a fact. A key that another fact of the file has with another value gets a suffix, so
    /// that two statements do not contradict each other because they are about the same things.
    pub(super) fn add_fact(&mut self, pointer: &str, draft: FactDraft<'_>) {
        let id = self.derive_id("f", &draft.id);
        let mut key = draft.key.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.keys.get(&key).is_some_and(|known| *known != draft.value) {
            let suffix: String = id.chars().rev().take(6).collect();
            key = format!("{key} ({suffix})");
        }
        self.keys.insert(key.clone(), draft.value.clone());
        if let (Some(from), Some(to)) = (draft.valid_from, draft.valid_to)
            && to < from
        {
            return self.leave_out(pointer, "it ends before it begins");
        }
        let mut fact = MemoryFact::new(id, key, draft.value, self.now);
        (fact.valid_from, fact.valid_to) = (draft.valid_from, draft.valid_to);
        fact.evidence = draft.evidence;
        fact.preference = draft.preference;
        (fact.tags, fact.entities, fact.notes) = (draft.tags, draft.entities, draft.notes);
        self.add_item(pointer, MemoryExportRow::Fact { fact: Box::new(fact), origin: ORIGIN });
    }

    /// Adds a fact that later values of its key replace, in the order of their times.
    pub(super) fn add_instruction(&mut self, pointer: &str, draft: FactDraft<'_>) {
        if self.keys.get(&draft.key) == Some(&draft.value) {
            return self.leave_out(pointer, "it is the same as before");
        }
        self.keys.remove(&draft.key);
        self.add_fact(pointer, draft);
    }

    /// Adds a statement: an event with its words and a fact that quotes it.
    pub(super) fn add_statement(
        &mut self,
        pointer: &str,
        event: EventDraft<'_>,
        fact: FactDraft<'_>,
    ) {
        let text = event.text.clone();
        if let Some(event) = self.add_event(pointer, event) {
            let evidence = vec![FactEvidence { event, quote: Some(text) }];
            self.add_fact(pointer, FactDraft { evidence, ..fact });
        }
    }

    /// Returns the id of the event that these names identify in the source.
    pub(super) fn event_id(&self, names: &[&str]) -> String {
        self.derive_id("e", names)
    }

    fn add_item(&mut self, pointer: &str, row: MemoryExportRow) {
        let place = self.place(pointer);
        self.conversion.items.push(ForeignItem { place, row });
    }

    fn place(&self, pointer: &str) -> String {
        if pointer.is_empty() { self.path.to_owned() } else { format!("{}#{pointer}", self.path) }
    }

    /// Names a session after its id in the source; an id that is no session name is hashed.
    fn name_session(&self, id: &str) -> String {
        let usable = !id.is_empty() && id.len() <= 200 && !id.chars().any(char::is_control);
        let id = if usable { id.to_owned() } else { sha256_hex(&[id.as_bytes()]) };
        format!("{}:{id}", self.source.name())
    }

    fn derive_id(&self, prefix: &str, names: &[&str]) -> String {
        let source = self.source.name();
        let mut parts: Vec<&[u8]> = vec![source.as_bytes()];
        for name in names {
            parts.extend([&b"\0"[..], name.as_bytes()]);
        }
        format!("{prefix}-{source}-{}", &sha256_hex(&parts)[..ID_HEX_DIGITS])
    }
}
