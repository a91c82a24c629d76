//! SQL statements for vectors. Vectors are removed together with their events.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::UnembeddedEvents;
use super::super::memory_error::corrupt_error;
use super::super::row_codec::decode_row;
use super::super::row_store::MemoryResult;
use super::subjects::read_text;
use crate::EmbeddingVector;
use crate::rank::SimilarEvents;
use crate::record::EventLocation;
use crate::vector::{decode_components, encode_components};

const PUT: &str = "INSERT INTO vectors (subject, embedder, session, position, body)
    VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (subject, embedder, session, position) DO UPDATE SET body = excluded.body";
const NEWEST: &str = "SELECT session, position, body FROM vectors
    WHERE subject = ?1 AND embedder = ?2 ORDER BY session DESC, position DESC LIMIT ?3";
const COUNT: &str = "SELECT count(*) FROM vectors WHERE subject = ?1 AND embedder = ?2";
const DIMENSIONS: &str =
    "SELECT length(body) FROM vectors WHERE subject = ?1 AND embedder = ?2 LIMIT 1";
const MISSING: &str = "SELECT body FROM (
        SELECT session, position, body FROM events WHERE subject = ?1
        ORDER BY session DESC, position DESC LIMIT ?3) AS newest
    WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.subject = ?1 AND embedder = ?2
        AND vectors.session = newest.session AND vectors.position = newest.position)";

pub(super) fn put_vectors(
    db: &Connection,
    subject: i64,
    vectors: &[(EventLocation, &EmbeddingVector)],
) -> MemoryResult<()> {
    let mut put = db.prepare_cached(PUT)?;
    for (EventLocation { session, position }, vector) in vectors {
        let body = encode_components(vector.components());
        put.execute(params![subject, vector.embedder(), session, position, body])?;
    }
    Ok(())
}

pub(super) fn find_similar_events(
    db: &Connection,
    subject: i64,
    vector: &EmbeddingVector,
    newest: usize,
) -> MemoryResult<SimilarEvents> {
    let mut query = db.prepare_cached(NEWEST)?;
    let mut rows = query.query(params![subject, vector.embedder(), to_sql_limit(newest)])?;
    let mut near = SimilarEvents::default();
    while let Some(row) = rows.next()? {
        let body = row.get_ref(2)?.as_blob().map_err(|error| corrupt_error(error.to_string()))?;
        let place = EventLocation { session: row.get(0)?, position: row.get(1)? };
        near.similarities.push((place, vector.similarity_to(&decode_components(body))));
    }
    near.total = near.similarities.len() as u64;
    if near.similarities.len() == newest {
        let mut count = db.prepare_cached(COUNT)?;
        let count: i64 = count.query_row(params![subject, vector.embedder()], |row| row.get(0))?;
        near.total = count.cast_unsigned();
    }
    Ok(near)
}

pub(super) fn load_dimensions(
    db: &Connection,
    subject: i64,
    embedder: &str,
) -> MemoryResult<Option<usize>> {
    let mut query = db.prepare_cached(DIMENSIONS)?;
    let found =
        query.query_row(params![subject, embedder], |row| row.get::<_, i64>(0)).optional()?;
    Ok(found.map(|length| length as usize))
}

pub(super) fn find_unembedded_events(
    db: &Connection,
    subject: i64,
    embedder: &str,
    among: usize,
    most: usize,
) -> MemoryResult<UnembeddedEvents> {
    let mut query = db.prepare_cached(MISSING)?;
    let mut rows = query.query(params![subject, embedder, to_sql_limit(among)])?;
    let mut found = UnembeddedEvents::default();
    while let Some(row) = rows.next()? {
        found.all += 1;
        if found.events.len() < most {
            found.events.push(decode_row(read_text(row, 0)?)?);
        }
    }
    Ok(found)
}

fn to_sql_limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
