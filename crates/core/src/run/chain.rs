//! The chain: a run's log as it is kept, an entry a version, each with the hash of the one before it.
//!
//! What is hashed is the text that is kept, so nobody has to agree on anything but bytes.

use serde::{Deserialize, Serialize};

use super::event::{Event, FORMAT};
use super::{CorruptLog, State, Time, apply};
use crate::json::sha256;

/// The hash before the first entry.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// One version of a run as it is kept: the events of one decision, together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The version.
    pub version: u64,
    /// The number of its first event in the run, from 1.
    pub first: u64,
    /// The number of its last event.
    pub last: u64,
    /// When it came to be.
    pub time: Time,
    /// Of the hash before and the text.
    pub hash: String,
    /// The whole of it, as JSON.
    pub body: String,
}

/// What an entry says about itself.
#[derive(Debug, Serialize, Deserialize)]
struct Envelope<R, E> {
    /// The version of the format.
    v: u32,
    /// The run.
    run: R,
    version: u64,
    first: u64,
    time: Time,
    events: E,
}

/// Seals the events of one version of a run, which follow `hash`.
///
/// # Panics
/// Never: events are JSON.
#[must_use]
pub fn seal(before: &State, after: &State, events: &[Event], hash: &str) -> Entry {
    let (version, first, time) = (after.version, before.seq + 1, after.updated_at);
    let envelope = Envelope { v: FORMAT, run: &after.run, version, first, time, events };
    let body = serde_json::to_string(&envelope).expect("events are JSON");
    let (hash, last) = (link(hash, &body), before.seq + events.len() as u64);
    Entry { version, first, last, time, hash, body }
}

/// The hash of a text that follows another hash.
#[must_use]
pub fn link(before: &str, body: &str) -> String {
    sha256(&[before.as_bytes(), b"\n", body.as_bytes()])
}

impl Entry {
    /// An entry out of its text and its hash: it says the rest itself.
    pub fn of(body: String, hash: String) -> Result<Self, CorruptLog> {
        let envelope = read(1, &body)?;
        let Envelope { version, first, time, events, .. } = envelope;
        let last = (first + events.len() as u64).saturating_sub(1);
        Ok(Self { version, first, last, time, hash, body })
    }

    /// Its events, once it says what stands beside it.
    pub fn open(&self, run: &str) -> Result<Vec<Event>, CorruptLog> {
        let Envelope { version, first, time, events, .. } = opened(run, self.first, &self.body)?;
        let last = (first + events.len() as u64).saturating_sub(1);
        for (what, beside, said) in [
            ("version", self.version, version),
            ("last event", self.last, last),
            ("time", self.time.0 as u64, time.0 as u64),
        ] {
            if beside != said {
                return Err(CorruptLog::Row { version, what, beside, said });
            }
        }
        Ok(events)
    }
}

fn read(first: u64, body: &str) -> Result<Envelope<String, Vec<Event>>, CorruptLog> {
    serde_json::from_str(body)
        .map_err(|error| CorruptLog::Unreadable { seq: first, message: error.to_string() })
}

/// Reads an entry as it is kept, and checks that it belongs here.
fn opened(run: &str, first: u64, body: &str) -> Result<Envelope<String, Vec<Event>>, CorruptLog> {
    let envelope = read(first, body)?;
    let unreadable = |message: String| CorruptLog::Unreadable { seq: first, message };
    if envelope.v > FORMAT {
        return Err(unreadable(format!(
            "its format is {}, and this program knows formats up to {FORMAT}",
            envelope.v
        )));
    }
    if envelope.run != run {
        return Err(unreadable(format!("it belongs to run `{}`", envelope.run)));
    }
    if envelope.first != first {
        return Err(CorruptLog::Order { expected: first, found: envelope.first });
    }
    Ok(envelope)
}

/// Folds one kept version into a state.
pub fn fold(state: &mut State, body: &str) -> Result<Vec<Event>, CorruptLog> {
    let events = opened(&state.run, state.seq + 1, body)?.events;
    for event in &events {
        apply(state, event)?;
    }
    Ok(events)
}
