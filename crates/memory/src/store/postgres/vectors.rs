//! The statements on vectors. They go with their events.

use tokio_postgres::types::Type;

use super::super::Unembedded;
use super::super::body::from_body;
use super::super::shelves::Answer;
use super::shelf::{Shelf, count, get, is_text, most};
use crate::Vector;
use crate::rank::Near;
use crate::record::Place;
use crate::vector::{bytes, numbers};

const PUT: &str = "INSERT INTO countersign.memory_vectors
        (tenant, subject, embedder, session, position, body)
    SELECT DISTINCT ON (new.embedder, new.session, new.position)
        $1, $2::bigint, new.embedder, new.session, new.position, new.body
    FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::bytea[])
        WITH ORDINALITY AS new (embedder, session, position, body, place)
    ORDER BY new.embedder, new.session, new.position, new.place DESC
    ON CONFLICT (tenant, subject, embedder, session, position) DO UPDATE SET body = excluded.body";
const NEWEST: &str = "SELECT session, position, body FROM countersign.memory_vectors
    WHERE tenant = $1 AND subject = $2 AND embedder = $3
    ORDER BY session DESC, position DESC LIMIT $4";
const COUNT: &str = "SELECT count(*) FROM countersign.memory_vectors
    WHERE tenant = $1 AND subject = $2 AND embedder = $3";
const DIMENSIONS: &str = "SELECT octet_length(body)::bigint FROM countersign.memory_vectors
    WHERE tenant = $1 AND subject = $2 AND embedder = $3 LIMIT 1";
/// The newest first; how many there are stands in each row.
const MISSING: &str = "SELECT count(*) OVER (), newest.body FROM (
        SELECT session, position, body FROM countersign.memory_events
        WHERE tenant = $1 AND subject = $2
        ORDER BY session DESC, position DESC LIMIT $4) AS newest
    WHERE NOT EXISTS (SELECT FROM countersign.memory_vectors AS vector
        WHERE vector.tenant = $1 AND vector.subject = $2 AND vector.embedder = $3
            AND vector.session = newest.session AND vector.position = newest.position)
    ORDER BY newest.session DESC, newest.position DESC LIMIT $5";

pub(super) fn put(shelf: &Shelf<'_>, vectors: &[(Place, &Vector)]) -> Answer<()> {
    let embedders: Vec<&str> = vectors.iter().map(|(_, vector)| vector.embedder()).collect();
    let sessions: Vec<i64> = vectors.iter().map(|(place, _)| place.session.into()).collect();
    let positions: Vec<i64> = vectors.iter().map(|(place, _)| place.position.into()).collect();
    let bodies: Vec<Vec<u8>> = vectors.iter().map(|(_, vector)| bytes(vector.body())).collect();
    let call = shelf.call(PUT).with(&embedders, Type::TEXT_ARRAY);
    let call = call.with(&sessions, Type::INT8_ARRAY).with(&positions, Type::INT8_ARRAY);
    shelf.ask(call.with(&bodies, Type::BYTEA_ARRAY)).map(drop)
}

pub(super) fn nearest(shelf: &Shelf<'_>, vector: &Vector, newest: usize) -> Answer<Near> {
    let (embedder, limit) = (vector.embedder(), most(newest));
    if !is_text(embedder) {
        return Ok(Near::default());
    }
    let rows = shelf.ask(shelf.call(NEWEST).text(&embedder).number(&limit))?;
    let mut near = Near::default();
    for row in &rows {
        let place = Place { session: count(row, 0)?, position: count(row, 1)? };
        near.similar.push((place, vector.similarity(&numbers(get(row, 2)?))));
    }
    near.of = near.similar.len() as u64;
    if near.similar.len() == newest {
        let rows = shelf.ask(shelf.call(COUNT).text(&embedder))?;
        near.of = rows.first().map_or(Ok(0), |row| get::<i64>(row, 0))?.cast_unsigned();
    }
    Ok(near)
}

pub(super) fn dimensions(shelf: &Shelf<'_>, embedder: &str) -> Answer<Option<usize>> {
    if !is_text(embedder) {
        return Ok(None);
    }
    let rows = shelf.ask(shelf.call(DIMENSIONS).text(&embedder))?;
    rows.first().map(|row| Ok(get::<i64>(row, 0)? as usize)).transpose()
}

pub(super) fn missing(
    shelf: &Shelf<'_>,
    embedder: &str,
    among: usize,
    limit: usize,
) -> Answer<Unembedded> {
    // At least one, for the number that stands in it.
    let (among, asked) = (most(among), most(limit.max(1)));
    let rows = shelf.ask(shelf.call(MISSING).text(&embedder).number(&among).number(&asked))?;
    let Some(first) = rows.first() else { return Ok(Unembedded::default()) };
    let all = get::<i64>(first, 0)?.cast_unsigned();
    let events = rows.iter().take(limit).map(|row| from_body(get(row, 1)?));
    Ok(Unembedded { events: events.collect::<Answer<_>>()?, all })
}
