//! The statements on events and sessions.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use tokio_postgres::types::Type;

use super::super::body::{from_body, to_body};
use super::super::shelves::Answer;
use super::shelf::{Shelf, count, get, is_text, most};
use crate::record::{Event, Expiry, Place};

const LAST_PLACE: &str = "SELECT number, last FROM countersign.memory_sessions
    WHERE tenant = $1 AND subject = $2 AND id = $3";
const LAST_SESSION: &str = "SELECT coalesce(max(number), 0) FROM countersign.memory_sessions
    WHERE tenant = $1 AND subject = $2";
const PUT_SESSIONS: &str = "INSERT INTO countersign.memory_sessions AS old
        (tenant, subject, id, number, last)
    SELECT $1, $2, new.* FROM unnest($3::text[], $4::bigint[], $5::bigint[]) AS new
    ON CONFLICT (tenant, subject, id) DO UPDATE SET last = greatest(old.last, excluded.last)";
const PUT: &str = "INSERT INTO countersign.memory_events
        (tenant, subject, session, position, id, expires, body)
    SELECT $1, $2, new.*
    FROM unnest($3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[]) AS new";
const REMOVE: &str = "DELETE FROM countersign.memory_events AS event
    USING unnest($3::bigint[], $4::bigint[]) AS gone (session, position)
    WHERE tenant = $1 AND subject = $2
        AND event.session = gone.session AND event.position = gone.position";
const REMOVE_VECTORS: &str = "DELETE FROM countersign.memory_vectors AS vector
    USING unnest($3::bigint[], $4::bigint[]) AS gone (session, position)
    WHERE tenant = $1 AND subject = $2
        AND vector.session = gone.session AND vector.position = gone.position";
const NAMED: &str = "SELECT id, body FROM countersign.memory_events
    WHERE tenant = $1 AND subject = $2 AND id = ANY ($3)";
const AT: &str = "SELECT event.body
    FROM unnest($3::bigint[], $4::bigint[]) WITH ORDINALITY AS asked (session, position, place)
        JOIN countersign.memory_events AS event ON event.tenant = $1 AND event.subject = $2
            AND event.session = asked.session AND event.position = asked.position
    ORDER BY asked.place";
const BEHIND: &str = "SELECT body FROM countersign.memory_events
    WHERE tenant = $1 AND subject = $2 AND (session, position) > ($3, $4)
    ORDER BY session, position LIMIT $5";
const EXPIRING: &str = "SELECT body FROM countersign.memory_events
    WHERE tenant = $1 AND subject = $2 AND expires IS NOT NULL ORDER BY session, position";
const WINDOW: &str = "SELECT body FROM countersign.memory_events
    WHERE tenant = $1 AND subject = $2 AND session = (SELECT number
        FROM countersign.memory_sessions WHERE tenant = $1 AND subject = $2 AND id = $3)
    ORDER BY position DESC LIMIT $4";

pub(super) fn last_place(shelf: &Shelf<'_>, session: &str) -> Answer<Option<Place>> {
    let rows = shelf.ask(shelf.call(LAST_PLACE).text(&session))?;
    let place = |row| Ok(Place { session: count(row, 0)?, position: count(row, 1)? });
    rows.first().map(place).transpose()
}

pub(super) fn last_session(shelf: &Shelf<'_>) -> Answer<u32> {
    let rows = shelf.ask(shelf.call(LAST_SESSION))?;
    rows.first().map_or(Ok(0), |row| count(row, 0))
}

pub(super) fn put(shelf: &Shelf<'_>, events: &[Event]) -> Answer<()> {
    let (sessions, positions) = columns(events.iter().map(|event| event.place));
    let ids: Vec<&str> = events.iter().map(|event| &*event.id).collect();
    let expires = events.iter().map(|event| {
        event.expires.map(|expires| match expires {
            Expiry::RunEnd => -1,
            Expiry::At(end) => end.0,
        })
    });
    let expires: Vec<Option<i64>> = expires.collect();
    let bodies = events.iter().map(to_body).collect::<Answer<Vec<String>>>()?;
    let mut ends: BTreeMap<&str, Place> = BTreeMap::new();
    for event in events {
        let end = ends.entry(event.scope.session()).or_insert(event.place);
        *end = event.place.max(*end);
    }
    let (numbers, lasts) = columns(ends.values().copied());
    let names: Vec<&str> = ends.into_keys().collect();
    let put = shelf.call(PUT).with(&sessions, Type::INT8_ARRAY);
    let put = put.with(&positions, Type::INT8_ARRAY).with(&ids, Type::TEXT_ARRAY);
    let put = put.with(&expires, Type::INT8_ARRAY).with(&bodies, Type::TEXT_ARRAY);
    let ended = shelf.call(PUT_SESSIONS).with(&names, Type::TEXT_ARRAY);
    let ended = ended.with(&numbers, Type::INT8_ARRAY).with(&lasts, Type::INT8_ARRAY);
    shelf.ask_all(&[put, ended]).map(drop)
}

pub(super) fn remove(shelf: &Shelf<'_>, events: &[Event]) -> Answer<()> {
    let (sessions, positions) = columns(events.iter().map(|event| event.place));
    let calls = [REMOVE, REMOVE_VECTORS].map(|sql| {
        let call = shelf.call(sql).with(&sessions, Type::INT8_ARRAY);
        call.with(&positions, Type::INT8_ARRAY)
    });
    shelf.ask_all(&calls).map(drop)
}

/// The events with these ids, or as much of each as is asked for.
pub(super) fn named<T: DeserializeOwned>(
    shelf: &Shelf<'_>,
    ids: &[&str],
) -> Answer<BTreeMap<String, T>> {
    let ids: Vec<&str> = ids.iter().copied().filter(|id| is_text(id)).collect();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows = shelf.ask(shelf.call(NAMED).with(&ids, Type::TEXT_ARRAY))?;
    rows.iter().map(|row| Ok((get(row, 0)?, from_body(get(row, 1)?)?))).collect()
}

pub(super) fn at(shelf: &Shelf<'_>, places: &[Place]) -> Answer<Vec<Event>> {
    let (sessions, positions) = columns(places.iter().copied());
    let call = shelf.call(AT).with(&sessions, Type::INT8_ARRAY);
    bodies(&shelf.ask(call.with(&positions, Type::INT8_ARRAY))?)
}

/// Events behind a place, in the order of places.
pub(super) fn behind(shelf: &Shelf<'_>, after: Option<Place>, limit: usize) -> Answer<Vec<Event>> {
    let (session, position) =
        after.map_or((0, 0), |place| (i64::from(place.session), i64::from(place.position)));
    let limit = most(limit);
    bodies(&shelf.ask(shelf.call(BEHIND).number(&session).number(&position).number(&limit))?)
}

pub(super) fn expiring(shelf: &Shelf<'_>) -> Answer<Vec<Event>> {
    bodies(&shelf.ask(shelf.call(EXPIRING))?)
}

pub(super) fn window(shelf: &Shelf<'_>, session: &str, limit: usize) -> Answer<Vec<Event>> {
    let limit = most(limit);
    let mut events = bodies(&shelf.ask(shelf.call(WINDOW).text(&session).number(&limit))?)?;
    events.reverse();
    Ok(events)
}

fn columns(places: impl Iterator<Item = Place>) -> (Vec<i64>, Vec<i64>) {
    places.map(|place| (i64::from(place.session), i64::from(place.position))).unzip()
}

fn bodies(rows: &[tokio_postgres::Row]) -> Answer<Vec<Event>> {
    rows.iter().map(|row| from_body(get(row, 0)?)).collect()
}
