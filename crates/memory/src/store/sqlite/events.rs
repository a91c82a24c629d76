//! The statements on events and sessions.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Params, params};
use serde::de::DeserializeOwned;

use super::super::body::{from_body, to_body};
use super::super::shelves::Answer;
use super::subjects::text;
use crate::record::{Event, Expiry, Place};

const LAST_PLACE: &str = "SELECT number, last FROM sessions WHERE subject = ?1 AND id = ?2";
const LAST_SESSION: &str = "SELECT ifnull(max(number), 0) FROM sessions WHERE subject = ?1";
const PUT_SESSION: &str = "INSERT INTO sessions (subject, id, number, last) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (subject, id) DO UPDATE SET last = max(last, excluded.last)";
const PUT: &str = "INSERT INTO events (subject, session, position, id, expires, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const REMOVE: &str = "DELETE FROM events WHERE subject = ?1 AND session = ?2 AND position = ?3";
const BY_ID: &str = "SELECT body FROM events WHERE subject = ?1 AND id = ?2";
const AT: &str = "SELECT body FROM events WHERE subject = ?1 AND session = ?2 AND position = ?3";
const ALL: &str = "SELECT body FROM events WHERE subject = ?1 ORDER BY session, position";
const BEHIND: &str = "SELECT body FROM events WHERE subject = ?1 AND (session, position) > (?2, ?3)
    ORDER BY session, position LIMIT ?4";
const EXPIRING: &str = "SELECT body FROM events WHERE subject = ?1 AND expires IS NOT NULL";
const WINDOW: &str = "SELECT body FROM events WHERE subject = ?1
    AND session = (SELECT number FROM sessions WHERE subject = ?1 AND id = ?2)
    ORDER BY position DESC LIMIT ?3";

/// Makes the statements that a packet asks.
pub(super) fn make_ready(db: &Connection) -> Answer<()> {
    for sql in [AT, BY_ID, WINDOW] {
        db.prepare_cached(sql)?;
    }
    Ok(())
}

pub(super) fn last_place(db: &Connection, subject: i64, session: &str) -> Answer<Option<Place>> {
    let read = |row: &rusqlite::Row<'_>| Ok(Place { session: row.get(0)?, position: row.get(1)? });
    Ok(db.prepare_cached(LAST_PLACE)?.query_row(params![subject, session], read).optional()?)
}

pub(super) fn last_session(db: &Connection, subject: i64) -> Answer<u32> {
    Ok(db.prepare_cached(LAST_SESSION)?.query_row([subject], |row| row.get(0))?)
}

pub(super) fn put(db: &Connection, subject: i64, events: &[Event]) -> Answer<()> {
    let mut put = db.prepare_cached(PUT)?;
    let mut session = db.prepare_cached(PUT_SESSION)?;
    for (number, event) in events.iter().enumerate() {
        let Place { session: of, position } = event.place;
        let expires = event.expires.map(|expires| match expires {
            Expiry::RunEnd => -1,
            Expiry::At(end) => end.0,
        });
        put.execute(params![subject, of, position, event.id, expires, to_body(event)?])?;
        let next = events.get(number + 1).map(|next| next.place.session);
        if next != Some(of) {
            session.execute(params![subject, event.scope.session(), of, position])?;
        }
    }
    Ok(())
}

pub(super) fn remove(db: &Connection, subject: i64, events: &[Event]) -> Answer<()> {
    let mut remove = db.prepare_cached(REMOVE)?;
    for Event { place, .. } in events {
        remove.execute(params![subject, place.session, place.position])?;
    }
    Ok(())
}

/// The events with these ids, or as much of each as is asked for: the rest of it is not even read.
pub(super) fn named<T: DeserializeOwned>(
    db: &Connection,
    subject: i64,
    ids: &[&str],
) -> Answer<BTreeMap<String, T>> {
    let mut query = db.prepare_cached(BY_ID)?;
    let mut found = BTreeMap::new();
    for id in ids {
        let mut rows = query.query(params![subject, id])?;
        if let Some(row) = rows.next()? {
            found.insert((*id).to_owned(), from_body(text(row, 0)?)?);
        }
    }
    Ok(found)
}

pub(super) fn at(db: &Connection, subject: i64, places: &[Place]) -> Answer<Vec<Event>> {
    let mut query = db.prepare_cached(AT)?;
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        let mut rows = query.query(params![subject, place.session, place.position])?;
        if let Some(row) = rows.next()? {
            found.push(from_body(text(row, 0)?)?);
        }
    }
    Ok(found)
}

pub(super) fn all(db: &Connection, subject: i64) -> Answer<Vec<Event>> {
    many(db, ALL, [subject])
}

/// Events behind a place, in the order of places.
pub(super) fn behind(
    db: &Connection,
    subject: i64,
    after: Option<Place>,
    limit: usize,
) -> Answer<Vec<Event>> {
    let (session, position) = after.map_or((0, 0), |place| (place.session, place.position));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    many(db, BEHIND, params![subject, session, position, limit])
}

pub(super) fn expiring(db: &Connection, subject: i64) -> Answer<Vec<Event>> {
    many(db, EXPIRING, [subject])
}

pub(super) fn window(
    db: &Connection,
    subject: i64,
    session: &str,
    limit: usize,
) -> Answer<Vec<Event>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut events = many(db, WINDOW, params![subject, session, limit])?;
    events.reverse();
    Ok(events)
}

fn many(db: &Connection, sql: &str, params: impl Params) -> Answer<Vec<Event>> {
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query(params)?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(from_body(text(row, 0)?)?);
    }
    Ok(events)
}
