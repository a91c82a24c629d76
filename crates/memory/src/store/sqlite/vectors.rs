//! The statements on vectors. They go with their events.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::Unembedded;
use super::super::body::from_body;
use super::super::error::corrupt;
use super::super::shelves::Answer;
use super::subjects::text;
use crate::Vector;
use crate::rank::Near;
use crate::record::Place;
use crate::vector::{bytes, numbers};

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

pub(super) fn put(db: &Connection, subject: i64, vectors: &[(Place, &Vector)]) -> Answer<()> {
    let mut put = db.prepare_cached(PUT)?;
    for (Place { session, position }, vector) in vectors {
        let body = bytes(vector.body());
        put.execute(params![subject, vector.embedder(), session, position, body])?;
    }
    Ok(())
}

pub(super) fn nearest(
    db: &Connection,
    subject: i64,
    vector: &Vector,
    newest: usize,
) -> Answer<Near> {
    let mut query = db.prepare_cached(NEWEST)?;
    let mut rows = query.query(params![subject, vector.embedder(), limit(newest)])?;
    let mut near = Near::default();
    while let Some(row) = rows.next()? {
        let body = row.get_ref(2)?.as_blob().map_err(|error| corrupt(error.to_string()))?;
        let place = Place { session: row.get(0)?, position: row.get(1)? };
        near.similar.push((place, vector.similarity(&numbers(body))));
    }
    near.of = near.similar.len() as u64;
    if near.similar.len() == newest {
        let mut count = db.prepare_cached(COUNT)?;
        let count: i64 = count.query_row(params![subject, vector.embedder()], |row| row.get(0))?;
        near.of = count.cast_unsigned();
    }
    Ok(near)
}

pub(super) fn dimensions(db: &Connection, subject: i64, embedder: &str) -> Answer<Option<usize>> {
    let mut query = db.prepare_cached(DIMENSIONS)?;
    let found =
        query.query_row(params![subject, embedder], |row| row.get::<_, i64>(0)).optional()?;
    Ok(found.map(|length| length as usize))
}

pub(super) fn missing(
    db: &Connection,
    subject: i64,
    embedder: &str,
    among: usize,
    most: usize,
) -> Answer<Unembedded> {
    let mut query = db.prepare_cached(MISSING)?;
    let mut rows = query.query(params![subject, embedder, limit(among)])?;
    let mut found = Unembedded::default();
    while let Some(row) = rows.next()? {
        found.all += 1;
        if found.events.len() < most {
            found.events.push(from_body(text(row, 0)?)?);
        }
    }
    Ok(found)
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
