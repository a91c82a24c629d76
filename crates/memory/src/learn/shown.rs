//! Events as a model is shown them, and as the rules of its contract read them.

use countersign_core::contract::Contract;
use countersign_core::reply::{Context, Finish, Verdict};
use serde_json::{Value, json};

use crate::record::{Event, EventKind};

/// The most characters of one event that are shown.
const LONGEST: usize = 4_000;

/// The most characters of all of them.
const MOST: usize = 32_000;

/// Events as a model is shown them: the latest that fit, the oldest first. How a document changed is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    events: Vec<Event>,
}

impl Shown {
    /// These events, which stand in their order. A long one is shown as far as there is room.
    #[must_use]
    pub fn of(events: Vec<Event>) -> Self {
        let mut left = MOST;
        let mut shown = Vec::new();
        for mut event in events.into_iter().rev() {
            if event.kind == EventKind::StatePatch || event.text.trim().is_empty() {
                continue;
            }
            if let Some((end, _)) = event.text.char_indices().nth(LONGEST) {
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

    /// The events, the oldest first.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The event with this id, if it is shown.
    #[must_use]
    pub fn event(&self, id: &str) -> Option<&Event> {
        self.events.iter().find(|event| event.id == id)
    }

    /// For the prompt: a line of JSON each, so that no text can pass for another event.
    #[must_use]
    pub fn text(&self) -> String {
        let lines = self.events.iter().map(|event| {
            let mut line = told(event);
            line["at"] = event.ts.to_string().into();
            if let Some(speaker) = &event.speaker {
                line["speaker"] = speaker.as_str().into();
            }
            line.to_string()
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// For the rules of a contract: `events`, each with id, origin, role and text.
    #[must_use]
    pub fn state(&self) -> Value {
        json!({ "events": self.events.iter().map(told).collect::<Vec<_>>() })
    }

    /// Holds a reply against a contract whose rules read nothing but the events.
    #[must_use]
    pub fn admit(&self, contract: &Contract, reply: &str, finish: Finish) -> Verdict {
        let state = self.state();
        contract.admit(reply, finish, &Context { state: Some(&state), ..Context::default() })
    }
}

fn told(event: &Event) -> Value {
    let Event { id, origin, role, text, .. } = event;
    json!({ "id": id, "origin": origin, "role": role, "text": text })
}
