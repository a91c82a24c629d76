//! The chain: a run's log as it is kept, an entry a version, each with the hash of the one before it.
//!
//! What is hashed is the text that is kept, so nobody has to agree on anything but bytes.

use serde::{Deserialize, Serialize};

use super::event::{LOG_FORMAT, RunEvent};
use super::{CorruptLogError, RunState, Timestamp, apply};
use crate::json::sha256_hex;

/// The hash before the first entry.
pub const GENESIS_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// One version of a run as it is kept: the events of one decision, together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLogEntry {
    /// The version.
    pub version: u64,
    /// The number of its first event in the run, from 1.
    pub first_seq: u64,
    /// The number of its last event.
    pub last_seq: u64,
    /// When it came to be.
    pub time: Timestamp,
    /// Of the hash before and the text.
    pub hash: String,
    /// The whole of it, as JSON.
    pub body: String,
}

/// What an entry says about itself.
#[derive(Debug, Serialize, Deserialize)]
struct RunLogEnvelope<R, E> {
    /// The version of the format.
    v: u32,
    /// The run.
    run: R,
    version: u64,
    first: u64,
    time: Timestamp,
    events: E,
}

/// Seals the events of one version of a run, which follow `hash`.
///
/// # Panics
/// Never: events are JSON.
#[must_use]
pub fn seal_entry(
    before: &RunState,
    after: &RunState,
    events: &[RunEvent],
    hash: &str,
) -> RunLogEntry {
    let (version, first, time) = (after.version, before.seq + 1, after.updated_at);
    let envelope = RunLogEnvelope { v: LOG_FORMAT, run: &after.run, version, first, time, events };
    let body = serde_json::to_string(&envelope).expect("events are JSON");
    let (hash, last) = (hash_entry(hash, &body), before.seq + events.len() as u64);
    RunLogEntry { version, first_seq: first, last_seq: last, time, hash, body }
}

/// The hash of a text that follows another hash.
#[must_use]
pub fn hash_entry(before: &str, body: &str) -> String {
    sha256_hex(&[before.as_bytes(), b"\n", body.as_bytes()])
}

impl RunLogEntry {
    /// An entry out of its text and its hash: it says the rest itself.
    pub fn from_body(body: String, hash: String) -> Result<Self, CorruptLogError> {
        let envelope = parse_envelope(1, &body)?;
        let RunLogEnvelope { version, first, time, events, .. } = envelope;
        let last = (first + events.len() as u64).saturating_sub(1);
        Ok(Self { version, first_seq: first, last_seq: last, time, hash, body })
    }

    /// Its events, once it says what stands beside it.
    pub fn decode_events(&self, run: &str) -> Result<Vec<RunEvent>, CorruptLogError> {
        let RunLogEnvelope { version, first, time, events, .. } =
            check_envelope(run, self.first_seq, &self.body)?;
        let last = (first + events.len() as u64).saturating_sub(1);
        for (what, beside, said) in [
            ("version", self.version, version),
            ("last event", self.last_seq, last),
            ("time", self.time.0 as u64, time.0 as u64),
        ] {
            if beside != said {
                return Err(CorruptLogError::RowMismatch {
                    version,
                    what,
                    row_value: beside,
                    body_value: said,
                });
            }
        }
        Ok(events)
    }
}

fn parse_envelope(
    first: u64,
    body: &str,
) -> Result<RunLogEnvelope<String, Vec<RunEvent>>, CorruptLogError> {
    serde_json::from_str(body)
        .map_err(|error| CorruptLogError::Unreadable { seq: first, message: error.to_string() })
}

/// Reads an entry as it is kept, and checks that it belongs here.
fn check_envelope(
    run: &str,
    first: u64,
    body: &str,
) -> Result<RunLogEnvelope<String, Vec<RunEvent>>, CorruptLogError> {
    let envelope = parse_envelope(first, body)?;
    let unreadable = |message: String| CorruptLogError::Unreadable { seq: first, message };
    if envelope.v > LOG_FORMAT {
        return Err(unreadable(format!(
            "its format is {}, and this program knows formats up to {LOG_FORMAT}",
            envelope.v
        )));
    }
    if envelope.run != run {
        return Err(unreadable(format!("it belongs to run `{}`", envelope.run)));
    }
    if envelope.first != first {
        return Err(CorruptLogError::OutOfOrder { expected: first, found: envelope.first });
    }
    Ok(envelope)
}

/// Folds one kept version into a state.
pub fn fold_entry(state: &mut RunState, body: &str) -> Result<Vec<RunEvent>, CorruptLogError> {
    let events = check_envelope(&state.run, state.seq + 1, body)?.events;
    for event in &events {
        apply(state, event)?;
    }
    Ok(events)
}
