//! Events in the form that a model sees and that contract rules read.

use countersign_contract::contract::Contract;
use countersign_contract::reply::{AdmissionVerdict, FinishReason, RuleContext};
use serde_json::{Value, json};

use crate::record::{MemoryEvent, MemoryEventKind};

/// The maximum number of characters of one event.
const MAX_EVENT_CHARS: usize = 4_000;

/// The maximum number of characters of all events.
const MAX_TOTAL_CHARS: usize = 32_000;

/// The events that a model sees: the latest that fit, oldest first. Changes to a run's document are
/// left out.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptEvents {
    events: Vec<MemoryEvent>,
}

impl PromptEvents {
    /// Selects from events that are in order. A long event is truncated to 4,000 characters.
    #[must_use]
    pub fn from_events(events: Vec<MemoryEvent>) -> Self {
        let mut left = MAX_TOTAL_CHARS;
        let mut shown = Vec::new();
        for mut event in events.into_iter().rev() {
            if event.kind == MemoryEventKind::StatePatch || event.text.trim().is_empty() {
                continue;
            }
            if let Some((end, _)) = event.text.char_indices().nth(MAX_EVENT_CHARS) {
                event.text.truncate(end);
            }
            let length = event.text.chars().count();
            if length > left {
                break;
            }
            left -= length;
            shown.push(event);
        }
        shown.reverse();
        Self { events: shown }
    }

    /// Returns the selected events, oldest first.
    #[must_use]
    pub fn events(&self) -> &[MemoryEvent] {
        &self.events
    }

    /// Returns the event with this id, if it was selected.
    #[must_use]
    pub fn find_event(&self, id: &str) -> Option<&MemoryEvent> {
        self.events.iter().find(|event| event.id == id)
    }

    /// Renders the events for the prompt, one JSON object per line, so that no text can pass for
    /// another event.
    #[must_use]
    pub fn render_prompt(&self) -> String {
        let lines = self.events.iter().map(|event| {
            let mut line = event_to_json(event);
            line["at"] = event.ts.to_string().into();
            if let Some(speaker) = &event.speaker {
                line["speaker"] = speaker.as_str().into();
            }
            line.to_string()
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Builds the state for contract rules: `events`, each with id, origin, role and text.
    #[must_use]
    pub fn build_state(&self) -> Value {
        json!({ "events": self.events.iter().map(event_to_json).collect::<Vec<_>>() })
    }

    /// Admits a reply under a contract whose rules read only the events.
    #[must_use]
    pub fn admit(
        &self,
        contract: &Contract,
        reply: &str,
        finish: FinishReason,
    ) -> AdmissionVerdict {
        let state = self.build_state();
        contract.admit(
            reply,
            finish,
            &RuleContext { state: Some(&state), ..RuleContext::default() },
        )
    }
}

fn event_to_json(event: &MemoryEvent) -> Value {
    let MemoryEvent { id, origin, role, text, .. } = event;
    json!({ "id": id, "origin": origin, "role": role, "text": text })
}
