//! The statements on events and sessions.

use rusqlite::{Connection, OptionalExtension as _, Params, params};

use super::super::shelves::{Answer, Seen};
use super::subjects::{from_body, text, to_body};
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

pub(super) fn by_id(db: &Connection, subject: i64, id: &str) -> Answer<Option<Event>> {
    one(db, BY_ID, params![subject, id])
}

pub(super) fn at(db: &Connection, subject: i64, place: Place) -> Answer<Option<Event>> {
    one(db, AT, params![subject, place.session, place.position])
}

/// What a citation shows of an event. The rest of it is not even read.
pub(super) fn cited(db: &Connection, subject: i64, id: &str) -> Answer<Option<Seen>> {
    let mut query = db.prepare_cached(BY_ID)?;
    let mut rows = query.query(params![subject, id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(from_body(text(row, 0)?)?))
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

fn one(db: &Connection, sql: &str, params: impl Params) -> Answer<Option<Event>> {
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query(params)?;
    match rows.next()? {
        Some(row) => Ok(Some(from_body(text(row, 0)?)?)),
        None => Ok(None),
    }
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
