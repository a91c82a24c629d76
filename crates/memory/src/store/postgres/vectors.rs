//! SQL statements for vectors. Vectors are removed together with their events.

use tokio_postgres::types::Type;

use super::super::UnembeddedEvents;
use super::super::row_codec::decode_row;
use super::super::row_store::MemoryResult;
use super::subject_rows::{SubjectRows, is_storable_text, read_column, read_count, to_sql_limit};
use crate::EmbeddingVector;
use crate::rank::SimilarEvents;
use crate::record::EventLocation;
use crate::vector::{decode_components, encode_components};

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
/// Selects the newest first; each row contains the total count.
const MISSING: &str = "SELECT count(*) OVER (), newest.body FROM (
        SELECT session, position, body FROM countersign.memory_events
        WHERE tenant = $1 AND subject = $2
        ORDER BY session DESC, position DESC LIMIT $4) AS newest
    WHERE NOT EXISTS (SELECT FROM countersign.memory_vectors AS vector
        WHERE vector.tenant = $1 AND vector.subject = $2 AND vector.embedder = $3
            AND vector.session = newest.session AND vector.position = newest.position)
    ORDER BY newest.session DESC, newest.position DESC LIMIT $5";

pub(super) fn put_vectors(
    shelf: &SubjectRows<'_>,
    vectors: &[(EventLocation, &EmbeddingVector)],
) -> MemoryResult<()> {
    let embedders: Vec<&str> = vectors.iter().map(|(_, vector)| vector.embedder()).collect();
    let sessions: Vec<i64> = vectors.iter().map(|(place, _)| place.session.into()).collect();
    let positions: Vec<i64> = vectors.iter().map(|(place, _)| place.position.into()).collect();
    let bodies: Vec<Vec<u8>> =
        vectors.iter().map(|(_, vector)| encode_components(vector.components())).collect();
    let call = shelf.build_statement(PUT).bind(&embedders, Type::TEXT_ARRAY);
    let call = call.bind(&sessions, Type::INT8_ARRAY).bind(&positions, Type::INT8_ARRAY);
    shelf.query(call.bind(&bodies, Type::BYTEA_ARRAY)).map(drop)
}

pub(super) fn find_similar_events(
    shelf: &SubjectRows<'_>,
    vector: &EmbeddingVector,
    newest: usize,
) -> MemoryResult<SimilarEvents> {
    let (embedder, limit) = (vector.embedder(), to_sql_limit(newest));
    if !is_storable_text(embedder) {
        return Ok(SimilarEvents::default());
    }
    let rows = shelf.query(shelf.build_statement(NEWEST).bind_text(&embedder).bind_int8(&limit))?;
    let mut near = SimilarEvents::default();
    for row in &rows {
        let place = EventLocation { session: read_count(row, 0)?, position: read_count(row, 1)? };
        near.similarities
            .push((place, vector.similarity_to(&decode_components(read_column(row, 2)?))));
    }
    near.total = near.similarities.len() as u64;
    if near.similarities.len() == newest {
        let rows = shelf.query(shelf.build_statement(COUNT).bind_text(&embedder))?;
        near.total = rows.first().map_or(Ok(0), |row| read_column::<i64>(row, 0))?.cast_unsigned();
    }
    Ok(near)
}

pub(super) fn load_dimensions(
    shelf: &SubjectRows<'_>,
    embedder: &str,
) -> MemoryResult<Option<usize>> {
    if !is_storable_text(embedder) {
        return Ok(None);
    }
    let rows = shelf.query(shelf.build_statement(DIMENSIONS).bind_text(&embedder))?;
    rows.first().map(|row| Ok(read_column::<i64>(row, 0)? as usize)).transpose()
}

pub(super) fn find_unembedded_events(
    shelf: &SubjectRows<'_>,
    embedder: &str,
    among: usize,
    limit: usize,
) -> MemoryResult<UnembeddedEvents> {
    // Request at least one row, because it contains the total count.
    let (among, asked) = (to_sql_limit(among), to_sql_limit(limit.max(1)));
    let rows = shelf.query(
        shelf.build_statement(MISSING).bind_text(&embedder).bind_int8(&among).bind_int8(&asked),
    )?;
    let Some(first) = rows.first() else { return Ok(UnembeddedEvents::default()) };
    let all = read_column::<i64>(first, 0)?.cast_unsigned();
    let events = rows.iter().take(limit).map(|row| decode_row(read_column(row, 1)?));
    Ok(UnembeddedEvents { events: events.collect::<MemoryResult<_>>()?, all })
}
