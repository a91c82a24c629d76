//! The hash chain of a run's log: one entry per version, each with a hash over the entry before it.
//!
//! The hash covers the stored text itself, so verifying it needs no agreement beyond the bytes.

use countersign_contract::json::sha256_hex;
use serde::{Deserialize, Serialize};

use super::event::{LOG_FORMAT, RunEvent};
use super::{CorruptLogError, RunState, Timestamp, apply};

/// The hash that precedes the first entry: 64 zeros.
pub const GENESIS_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// One stored version of a run: all events of one decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLogEntry {
    /// Version of the run, from 1.
    pub version: u64,
    /// Number of the entry's first event in the run, from 1.
    pub first_seq: u64,
    /// Number of the entry's last event in the run.
    pub last_seq: u64,
    /// When the input of this version arrived.
    pub time: Timestamp,
    /// SHA-256 of the previous entry's hash and `body`, in hexadecimal.
    pub hash: String,
    /// The whole entry as JSON text.
    pub body: String,
}

/// The JSON form of an entry.
#[derive(Debug, Serialize, Deserialize)]
struct RunLogEnvelope<R, E> {
    /// Version of the log format.
    v: u32,
    /// Id of the run.
    run: R,
    version: u64,
    first_seq: u64,
    time: Timestamp,
    events: E,
}

/// Seals the events of one version into an entry that follows the entry with `hash`.
///
/// # Panics
/// Never: events always serialize to JSON.
#[must_use]
pub fn seal_entry(
    before: &RunState,
    after: &RunState,
    events: &[RunEvent],
    hash: &str,
) -> RunLogEntry {
    let (version, first, time) = (after.version, before.seq + 1, after.updated_at);
    let envelope =
        RunLogEnvelope { v: LOG_FORMAT, run: &after.run, version, first_seq: first, time, events };
    let body = serde_json::to_string(&envelope).expect("events serialize to JSON");
    let (hash, last) = (hash_entry(hash, &body), before.seq + events.len() as u64);
    RunLogEntry { version, first_seq: first, last_seq: last, time, hash, body }
}

/// Computes the hash of an entry's text that follows the hash `before`.
#[must_use]
pub fn hash_entry(before: &str, body: &str) -> String {
    sha256_hex(&[before.as_bytes(), b"\n", body.as_bytes()])
}

impl RunLogEntry {
    /// Builds an entry from its text and its hash; the remaining fields come from the text.
    pub fn from_body(body: String, hash: String) -> Result<Self, CorruptLogError> {
        let envelope = parse_envelope(1, &body)?;
        let RunLogEnvelope { version, first_seq: first, time, events, .. } = envelope;
        let last = (first + events.len() as u64).saturating_sub(1);
        Ok(Self { version, first_seq: first, last_seq: last, time, hash, body })
    }

    /// Decodes the entry's events, after checking that the text agrees with the entry's other
    /// fields.
    pub fn decode_events(&self, run: &str) -> Result<Vec<RunEvent>, CorruptLogError> {
        let RunLogEnvelope { version, first_seq: first, time, events, .. } =
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

/// Parses a stored entry and checks its format, its run and its position in the log.
fn check_envelope(
    run: &str,
    first: u64,
    body: &str,
) -> Result<RunLogEnvelope<String, Vec<RunEvent>>, CorruptLogError> {
    let envelope = parse_envelope(first, body)?;
    let unreadable = |message: String| CorruptLogError::Unreadable { seq: first, message };
    if envelope.v > LOG_FORMAT {
        return Err(unreadable(format!(
            "its format is {}, but this program supports formats up to {LOG_FORMAT}",
            envelope.v
        )));
    }
    if envelope.run != run {
        return Err(unreadable(format!("it belongs to run `{}`", envelope.run)));
    }
    if envelope.first_seq != first {
        return Err(CorruptLogError::OutOfOrder { expected: first, found: envelope.first_seq });
    }
    Ok(envelope)
}

/// Applies one stored version to a state and returns its events.
pub fn fold_entry(state: &mut RunState, body: &str) -> Result<Vec<RunEvent>, CorruptLogError> {
    let events = check_envelope(&state.run, state.seq + 1, body)?.events;
    for event in &events {
        apply(state, event)?;
    }
    Ok(events)
}
