//! SQL statements for events and sessions.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use tokio_postgres::types::Type;

use super::super::expired_rows::{ExpiryFilter, split_expiry};
use super::super::row_codec::{decode_row, encode_row};
use super::super::row_store::MemoryResult;
use super::subject_rows::{SubjectRows, is_storable_text, read_column, read_count, to_sql_limit};
use crate::record::{EventLocation, MemoryEvent};

const LAST_PLACE: &str = "SELECT number, last_position FROM countersign.memory_sessions
    WHERE tenant = $1 AND subject = $2 AND id = $3";
const LAST_SESSION: &str = "SELECT coalesce(max(number), 0) FROM countersign.memory_sessions
    WHERE tenant = $1 AND subject = $2";
const PUT_SESSIONS: &str = "INSERT INTO countersign.memory_sessions AS old
        (tenant, subject, id, number, last_position)
    SELECT $1, $2, new.* FROM unnest($3::text[], $4::bigint[], $5::bigint[]) AS new
    ON CONFLICT (tenant, subject, id) DO UPDATE SET last_position = greatest(old.last_position, excluded.last_position)";
const PUT: &str = "INSERT INTO countersign.memory_events
        (tenant, subject, session, position, id, expires_at, expires_with_run, body)
    SELECT $1, $2, new.*
    FROM unnest($3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::text[])
        AS new";
pub(super) const REMOVE: &str = "DELETE FROM countersign.memory_events AS event
    USING unnest($3::bigint[], $4::bigint[]) AS gone (session, position)
    WHERE tenant = $1 AND subject = $2
        AND event.session = gone.session AND event.position = gone.position";
pub(super) const REMOVE_VECTORS: &str = "DELETE FROM countersign.memory_vectors AS vector
    USING unnest($3::bigint[], $4::bigint[]) AS gone (session, position)
    WHERE tenant = $1 AND subject = $2
        AND vector.session = gone.session AND vector.position = gone.position";
pub(super) const BY_ID: &str = "SELECT found.id, found.body FROM unnest($3::text[]) AS asked (id)
    CROSS JOIN LATERAL (SELECT id, body FROM countersign.memory_events
        WHERE tenant = $1 AND subject = $2 AND id = asked.id LIMIT 1) AS found";
const AT: &str = "SELECT event.body
    FROM unnest($3::bigint[], $4::bigint[]) WITH ORDINALITY AS asked (session, position, place)
        JOIN countersign.memory_events AS event ON event.tenant = $1 AND event.subject = $2
            AND event.session = asked.session AND event.position = asked.position
    ORDER BY asked.place";
const AFTER: &str = "SELECT body FROM countersign.memory_events
    WHERE tenant = $1 AND subject = $2 AND (session, position) > ($3, $4)
    ORDER BY session, position LIMIT $5";
pub(super) const EXPIRED: &str = "SELECT body FROM countersign.memory_events
    WHERE tenant = $1 AND subject = $2 AND expires_at < $3";
pub(super) const ENDED_WITH_RUN: &str = "SELECT body FROM countersign.memory_events
    WHERE tenant = $1 AND subject = $2 AND expires_with_run = $3";
const WINDOW: &str = "SELECT body FROM countersign.memory_events
    WHERE tenant = $1 AND subject = $2 AND session = (SELECT number
        FROM countersign.memory_sessions WHERE tenant = $1 AND subject = $2 AND id = $3)
    ORDER BY position DESC LIMIT $4";

pub(super) fn load_last_location(
    shelf: &SubjectRows<'_>,
    session: &str,
) -> MemoryResult<Option<EventLocation>> {
    let rows = shelf.query(shelf.build_statement(LAST_PLACE).bind_text(&session))?;
    let place =
        |row| Ok(EventLocation { session: read_count(row, 0)?, position: read_count(row, 1)? });
    rows.first().map(place).transpose()
}

pub(super) fn load_last_session_number(shelf: &SubjectRows<'_>) -> MemoryResult<u32> {
    let rows = shelf.query(shelf.build_statement(LAST_SESSION))?;
    rows.first().map_or(Ok(0), |row| read_count(row, 0))
}

pub(super) fn put_events(shelf: &SubjectRows<'_>, events: &[MemoryEvent]) -> MemoryResult<()> {
    let (sessions, positions) = split_columns(events.iter().map(|event| event.location));
    let ids: Vec<&str> = events.iter().map(|event| &*event.id).collect();
    let expiries = events.iter().map(|event| split_expiry(event.expires, event.scope.run()));
    let (ends_at, ends_with_run): (Vec<Option<i64>>, Vec<Option<&str>>) = expiries.unzip();
    let bodies = events.iter().map(encode_row).collect::<MemoryResult<Vec<String>>>()?;
    let mut ends: BTreeMap<&str, EventLocation> = BTreeMap::new();
    for event in events {
        let end = ends.entry(event.scope.session()).or_insert(event.location);
        *end = event.location.max(*end);
    }
    let (numbers, lasts) = split_columns(ends.values().copied());
    let names: Vec<&str> = ends.into_keys().collect();
    let put = shelf.build_statement(PUT).bind(&sessions, Type::INT8_ARRAY);
    let put = put.bind(&positions, Type::INT8_ARRAY).bind(&ids, Type::TEXT_ARRAY);
    let put = put.bind(&ends_at, Type::INT8_ARRAY).bind(&ends_with_run, Type::TEXT_ARRAY);
    let put = put.bind(&bodies, Type::TEXT_ARRAY);
    let ended = shelf.build_statement(PUT_SESSIONS).bind(&names, Type::TEXT_ARRAY);
    let ended = ended.bind(&numbers, Type::INT8_ARRAY).bind(&lasts, Type::INT8_ARRAY);
    shelf.query_all(&[put, ended]).map(drop)
}

pub(super) fn remove_events(shelf: &SubjectRows<'_>, events: &[MemoryEvent]) -> MemoryResult<()> {
    let (sessions, positions) = split_columns(events.iter().map(|event| event.location));
    let calls = [REMOVE, REMOVE_VECTORS].map(|sql| {
        let call = shelf.build_statement(sql).bind(&sessions, Type::INT8_ARRAY);
        call.bind(&positions, Type::INT8_ARRAY)
    });
    shelf.query_all(&calls).map(drop)
}

/// Loads the events with these ids, in full or only the fields of `T`.
pub(super) fn load_events_by_id<T: DeserializeOwned>(
    shelf: &SubjectRows<'_>,
    ids: &[&str],
) -> MemoryResult<BTreeMap<String, T>> {
    let ids: Vec<&str> = ids.iter().copied().filter(|id| is_storable_text(id)).collect();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows = shelf.query(shelf.build_statement(BY_ID).bind(&ids, Type::TEXT_ARRAY))?;
    rows.iter().map(|row| Ok((read_column(row, 0)?, decode_row(read_column(row, 1)?)?))).collect()
}

pub(super) fn load_events_at(
    shelf: &SubjectRows<'_>,
    places: &[EventLocation],
) -> MemoryResult<Vec<MemoryEvent>> {
    let (sessions, positions) = split_columns(places.iter().copied());
    let call = shelf.build_statement(AT).bind(&sessions, Type::INT8_ARRAY);
    decode_events(&shelf.query(call.bind(&positions, Type::INT8_ARRAY))?)
}

/// Loads the events after a location, ascending by location.
pub(super) fn load_events_after(
    shelf: &SubjectRows<'_>,
    after: Option<EventLocation>,
    limit: usize,
) -> MemoryResult<Vec<MemoryEvent>> {
    let (session, position) =
        after.map_or((0, 0), |place| (i64::from(place.session), i64::from(place.position)));
    let limit = to_sql_limit(limit);
    decode_events(&shelf.query(
        shelf.build_statement(AFTER).bind_int8(&session).bind_int8(&position).bind_int8(&limit),
    )?)
}

pub(super) fn load_expired_events(
    shelf: &SubjectRows<'_>,
    filter: ExpiryFilter<'_>,
) -> MemoryResult<Vec<MemoryEvent>> {
    decode_events(&shelf.query_expired(EXPIRED, ENDED_WITH_RUN, filter)?)
}

pub(super) fn load_window(
    shelf: &SubjectRows<'_>,
    session: &str,
    limit: usize,
) -> MemoryResult<Vec<MemoryEvent>> {
    let limit = to_sql_limit(limit);
    let mut events = decode_events(
        &shelf.query(shelf.build_statement(WINDOW).bind_text(&session).bind_int8(&limit))?,
    )?;
    events.reverse();
    Ok(events)
}

fn split_columns(places: impl Iterator<Item = EventLocation>) -> (Vec<i64>, Vec<i64>) {
    places.map(|place| (i64::from(place.session), i64::from(place.position))).unzip()
}

fn decode_events(rows: &[tokio_postgres::Row]) -> MemoryResult<Vec<MemoryEvent>> {
    rows.iter().map(|row| decode_row(read_column(row, 0)?)).collect()
}
