//! Versions of a run and their events, as they are sent.

use countersign_core::run::{Entry, Event, Incoming, Time};
use serde::Serialize;
use utoipa::ToSchema;

use crate::show::incoming;

/// One version of a run: what came in, from whom, and what became true of it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct VersionRow {
    /// Which.
    pub version: u64,
    /// When.
    #[schema(value_type = i64)]
    pub time: Time,
    /// Its link in the chain.
    pub hash: String,
    /// What came in, in a sentence.
    pub said: Option<String>,
    /// What came in, whole; `input` names its kind.
    #[schema(value_type = Option<Object>)]
    pub input: Option<Incoming>,
    /// What became true; `event` names the kind of each.
    #[schema(value_type = Vec<Object>)]
    pub events: Vec<Event>,
}

impl VersionRow {
    /// A version out of its entry and its opened events.
    #[must_use]
    pub fn of(entry: &Entry, events: Vec<Event>) -> Self {
        let (mut input, mut rest) = (None, Vec::with_capacity(events.len()));
        for event in events {
            match event {
                Event::Received { input: came } if input.is_none() => input = Some(came.what),
                Event::Received { .. } => {}
                other => rest.push(other),
            }
        }
        Self {
            version: entry.version,
            time: entry.time,
            hash: entry.hash.clone(),
            said: input.as_ref().map(incoming::sentence),
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
    pub time: Time,
    /// What kind it is.
    pub kind: String,
    /// The link of its version in the chain.
    pub hash: String,
    /// The event itself.
    #[schema(value_type = Object)]
    pub event: Event,
}

impl EventRow {
    /// The events of a version.
    #[must_use]
    pub fn all(entry: &Entry, events: Vec<Event>) -> Vec<Self> {
        let rows = (entry.first..).zip(events).map(|(seq, event)| Self {
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
