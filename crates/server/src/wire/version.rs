//! Versions of a run and their events, as they are sent.

use countersign_core::run::{InputKind, RunEvent, RunLogEntry, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::show::input_text;

/// One version of a run: what came in, from whom, and what became true of it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VersionRow {
    /// Which.
    pub version: u64,
    /// When.
    #[schema(value_type = i64)]
    pub time: Timestamp,
    /// Its link in the chain.
    pub hash: String,
    /// What came in, in a sentence.
    pub said: Option<String>,
    /// What came in, whole; `input` names its kind.
    #[schema(value_type = Option<Object>)]
    pub input: Option<InputKind>,
    /// What became true; `event` names the kind of each.
    #[schema(value_type = Vec<Object>)]
    pub events: Vec<RunEvent>,
}

impl VersionRow {
    /// A version out of its entry and its opened events.
    #[must_use]
    pub fn from_entry(entry: &RunLogEntry, events: Vec<RunEvent>) -> Self {
        let (mut input, mut rest) = (None, Vec::with_capacity(events.len()));
        for event in events {
            match event {
                RunEvent::Received { input: came } if input.is_none() => input = Some(came.what),
                RunEvent::Received { .. } => {}
                other => rest.push(other),
            }
        }
        Self {
            version: entry.version,
            time: entry.time,
            hash: entry.hash.clone(),
            said: input.as_ref().map(input_text::describe_input),
            input,
            events: rest,
        }
    }
}

/// One event with everything that is kept of it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct EventRow {
    /// Its place in the log, from 1.
    pub seq: u64,
    /// The version it belongs to.
    pub version: u64,
    /// When.
    #[schema(value_type = i64)]
    pub time: Timestamp,
    /// What kind it is.
    pub kind: String,
    /// The link of its version in the chain.
    pub hash: String,
    /// The event itself.
    #[schema(value_type = Object)]
    pub event: RunEvent,
}

impl EventRow {
    /// The events of a version.
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
