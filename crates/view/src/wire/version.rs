//! Versions of a run and their events, as the API sends them.

use countersign_run::{InputKind, RunEvent, RunLogEntry, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::show::input_text;

/// One version of a run: an input, its author, and the resulting events.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VersionRow {
    /// The number of the version, starting at 1.
    pub version: u64,
    /// When the version was created, in Unix milliseconds.
    #[schema(value_type = i64)]
    pub time: Timestamp,
    /// The hash of the version in the chain of the log.
    pub hash: String,
    /// The input, described in one sentence.
    pub summary: Option<String>,
    /// The complete input; its member `input` names the kind.
    #[schema(value_type = Option<Object>)]
    pub input: Option<InputKind>,
    /// The resulting events; the member `event` names the kind of each.
    #[schema(value_type = Vec<Object>)]
    pub events: Vec<RunEvent>,
}

impl VersionRow {
    /// Builds the row from a log entry and its decoded events.
    #[must_use]
    pub fn from_entry(entry: &RunLogEntry, events: Vec<RunEvent>) -> Self {
        let (mut input, mut rest) = (None, Vec::with_capacity(events.len()));
        for event in events {
            match event {
                RunEvent::InputReceived { input: received } if input.is_none() => {
                    input = Some(received.payload);
                }
                RunEvent::InputReceived { .. } => {}
                other => rest.push(other),
            }
        }
        Self {
            version: entry.version,
            time: entry.time,
            hash: entry.hash.clone(),
            summary: input.as_ref().map(input_text::describe_input),
            input,
            events: rest,
        }
    }
}

/// One event, with its position in the log.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct EventRow {
    /// The sequence number in the log, starting at 1.
    pub seq: u64,
    /// The version that the event belongs to.
    pub version: u64,
    /// When the version was created, in Unix milliseconds.
    #[schema(value_type = i64)]
    pub time: Timestamp,
    /// The kind of event.
    pub kind: String,
    /// The hash of the version in the chain of the log.
    pub hash: String,
    /// The complete event.
    #[schema(value_type = Object)]
    pub event: RunEvent,
}

impl EventRow {
    /// Builds the rows for the events of a version.
    #[must_use]
    pub fn list_from_entry(entry: &RunLogEntry, events: Vec<RunEvent>) -> Vec<Self> {
        let rows = (entry.first_seq..).zip(events).map(|(seq, event)| Self {
            seq,
            version: entry.version,
            time: entry.time,
            kind: event.kind().to_owned(),
            hash: entry.hash.clone(),
            event,
        });
        rows.collect()
    }
}
