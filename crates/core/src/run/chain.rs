//! The chain: events as they are kept, each with the hash of the one before it.
//!
//! What is hashed is the text that is kept, so nobody has to agree on anything but bytes.

use serde::{Deserialize, Serialize};

use super::event::{Event, FORMAT};
use super::{CorruptLog, State, Time, apply};
use crate::json::sha256;

/// The hash before the first event.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// An event as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// Its number in the run, from 1.
    pub seq: u64,
    /// The version it belongs to.
    pub version: u64,
    /// When that version came to be.
    pub time: Time,
    /// The word for it.
    pub kind: String,
    /// Of the hash before and the text.
    pub hash: String,
    /// The whole of it, as JSON.
    pub body: String,
}

/// What an event says about itself when it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Envelope<E> {
    /// The version of the format.
    v: u32,
    /// The run.
    run: String,
    seq: u64,
    version: u64,
    time: Time,
    what: E,
}

/// Seals the events of one version of a run, which follow `hash`.
///
/// # Panics
/// Never: events are JSON.
#[must_use]
pub fn seal(before: &State, after: &State, events: &[Event], hash: &str) -> Vec<Sealed> {
    let mut hash = hash.to_owned();
    let mut sealed = Vec::with_capacity(events.len());
    for (index, event) in events.iter().enumerate() {
        let (seq, version, time) = (before.seq + 1 + index as u64, after.version, after.updated_at);
        let envelope =
            Envelope { v: FORMAT, run: after.run.clone(), seq, version, time, what: event };
        let body = serde_json::to_string(&envelope).expect("events are JSON");
        hash = link(&hash, &body);
        let kind = event.kind().to_owned();
        sealed.push(Sealed { seq, version, time, kind, hash: hash.clone(), body });
    }
    sealed
}

/// The hash of a text that follows another hash.
#[must_use]
pub fn link(before: &str, body: &str) -> String {
    sha256(&[before.as_bytes(), b"\n", body.as_bytes()])
}

/// Reads an event as it is kept, and checks that it says what the row around it says.
pub fn open(run: &str, seq: u64, body: &str) -> Result<Event, CorruptLog> {
    let unreadable = |message: String| CorruptLog::Unreadable { seq, message };
    let envelope: Envelope<Event> =
        serde_json::from_str(body).map_err(|error| unreadable(error.to_string()))?;
    if envelope.v > FORMAT {
        return Err(unreadable(format!(
            "its format is {}, and this program knows formats up to {FORMAT}",
            envelope.v
        )));
    }
    if envelope.run != run {
        return Err(unreadable(format!("it belongs to run `{}`", envelope.run)));
    }
    if envelope.seq != seq {
        return Err(CorruptLog::Order { expected: seq, found: envelope.seq });
    }
    Ok(envelope.what)
}

/// Folds one kept event into a state.
pub fn fold(state: &mut State, body: &str) -> Result<Event, CorruptLog> {
    let event = open(&state.run, state.seq + 1, body)?;
    apply(state, &event)?;
    Ok(event)
}
