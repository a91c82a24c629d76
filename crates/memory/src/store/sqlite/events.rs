//! SQL statements for events and sessions.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Params, params};
use serde::de::DeserializeOwned;

use super::super::expired_rows::{ExpiryFilter, split_expiry};
use super::super::row_codec::{decode_row, encode_row};
use super::super::row_store::MemoryResult;
use super::subjects::read_text;
use crate::record::{EventLocation, MemoryEvent};

const LAST_PLACE: &str =
    "SELECT number, last_position FROM sessions WHERE subject = ?1 AND id = ?2";
const LAST_SESSION: &str = "SELECT ifnull(max(number), 0) FROM sessions WHERE subject = ?1";
const PUT_SESSION: &str = "INSERT INTO sessions (subject, id, number, last_position) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (subject, id) DO UPDATE SET last_position = max(last_position, excluded.last_position)";
const PUT: &str =
    "INSERT INTO events (subject, session, position, id, expires_at, expires_with_run, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
/// Without the name of the index, `SQLite` would read all vectors of the subject.
pub(super) const REMOVE_VECTORS: &str = "DELETE FROM vectors INDEXED BY vectors_event
    WHERE subject = ?1 AND session = ?2 AND position = ?3";
pub(super) const REMOVE: &str =
    "DELETE FROM events WHERE subject = ?1 AND session = ?2 AND position = ?3";
const BY_ID: &str = "SELECT body FROM events WHERE subject = ?1 AND id = ?2";
const AT: &str = "SELECT body FROM events WHERE subject = ?1 AND session = ?2 AND position = ?3";
const ALL: &str = "SELECT body FROM events WHERE subject = ?1 ORDER BY session, position";
const AFTER: &str = "SELECT body FROM events WHERE subject = ?1 AND (session, position) > (?2, ?3)
    ORDER BY session, position LIMIT ?4";
pub(super) const EXPIRED: &str = "SELECT body FROM events WHERE subject = ?1 AND expires_at < ?2";
pub(super) const ENDED_WITH_RUN: &str =
    "SELECT body FROM events WHERE subject = ?1 AND expires_with_run = ?2";
const WINDOW: &str = "SELECT body FROM events WHERE subject = ?1
    AND session = (SELECT number FROM sessions WHERE subject = ?1 AND id = ?2)
    ORDER BY position DESC LIMIT ?3";

pub(super) fn load_last_location(
    db: &Connection,
    subject: i64,
    session: &str,
) -> MemoryResult<Option<EventLocation>> {
    let read =
        |row: &rusqlite::Row<'_>| Ok(EventLocation { session: row.get(0)?, position: row.get(1)? });
    Ok(db.prepare_cached(LAST_PLACE)?.query_row(params![subject, session], read).optional()?)
}

pub(super) fn load_last_session_number(db: &Connection, subject: i64) -> MemoryResult<u32> {
    Ok(db.prepare_cached(LAST_SESSION)?.query_row([subject], |row| row.get(0))?)
}

pub(super) fn put_events(
    db: &Connection,
    subject: i64,
    events: &[MemoryEvent],
) -> MemoryResult<()> {
    let mut put = db.prepare_cached(PUT)?;
    let mut session = db.prepare_cached(PUT_SESSION)?;
    for (number, event) in events.iter().enumerate() {
        let EventLocation { session: of, position } = event.location;
        let (at, with_run) = split_expiry(event.expires, event.scope.run());
        let body = encode_row(event)?;
        put.execute(params![subject, of, position, event.id, at, with_run, body])?;
        let next = events.get(number + 1).map(|next| next.location.session);
        if next != Some(of) {
            session.execute(params![subject, event.scope.session(), of, position])?;
        }
    }
    Ok(())
}

pub(super) fn remove_events(
    db: &Connection,
    subject: i64,
    events: &[MemoryEvent],
) -> MemoryResult<()> {
    let mut remove_vectors = db.prepare_cached(REMOVE_VECTORS)?;
    let mut remove = db.prepare_cached(REMOVE)?;
    for MemoryEvent { location: place, .. } in events {
        remove_vectors.execute(params![subject, place.session, place.position])?;
        remove.execute(params![subject, place.session, place.position])?;
    }
    Ok(())
}

/// Loads the events with these ids, in full or only the fields of `T`; other fields are not even
/// parsed.
pub(super) fn load_events_by_id<T: DeserializeOwned>(
    db: &Connection,
    subject: i64,
    ids: &[&str],
) -> MemoryResult<BTreeMap<String, T>> {
    let mut query = db.prepare_cached(BY_ID)?;
    let mut found = BTreeMap::new();
    for id in ids {
        let mut rows = query.query(params![subject, id])?;
        if let Some(row) = rows.next()? {
            found.insert((*id).to_owned(), decode_row(read_text(row, 0)?)?);
        }
    }
    Ok(found)
}

pub(super) fn load_events_at(
    db: &Connection,
    subject: i64,
    places: &[EventLocation],
) -> MemoryResult<Vec<MemoryEvent>> {
    let mut query = db.prepare_cached(AT)?;
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        let mut rows = query.query(params![subject, place.session, place.position])?;
        if let Some(row) = rows.next()? {
            found.push(decode_row(read_text(row, 0)?)?);
        }
    }
    Ok(found)
}

pub(super) fn load_events(db: &Connection, subject: i64) -> MemoryResult<Vec<MemoryEvent>> {
    query_events(db, ALL, [subject])
}

/// Loads the events after a location, ascending by location.
pub(super) fn load_events_after(
    db: &Connection,
    subject: i64,
    after: Option<EventLocation>,
    limit: usize,
) -> MemoryResult<Vec<MemoryEvent>> {
    let (session, position) = after.map_or((0, 0), |place| (place.session, place.position));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    query_events(db, AFTER, params![subject, session, position, limit])
}

pub(super) fn load_expired_events(
    db: &Connection,
    subject: i64,
    filter: ExpiryFilter<'_>,
) -> MemoryResult<Vec<MemoryEvent>> {
    let mut events = query_events(db, EXPIRED, params![subject, filter.now.0])?;
    if let Some(run) = filter.ended_run {
        events.extend(query_events(db, ENDED_WITH_RUN, params![subject, run])?);
    }
    Ok(events)
}

pub(super) fn load_window(
    db: &Connection,
    subject: i64,
    session: &str,
    limit: usize,
) -> MemoryResult<Vec<MemoryEvent>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut events = query_events(db, WINDOW, params![subject, session, limit])?;
    events.reverse();
    Ok(events)
}

fn query_events(db: &Connection, sql: &str, params: impl Params) -> MemoryResult<Vec<MemoryEvent>> {
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query(params)?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(decode_row(read_text(row, 0)?)?);
    }
    Ok(events)
}
