//! Walks every row and asks whether it lies where its scope says.

use rusqlite::Connection;

use super::super::body::from_body;
use super::super::misplaced::{CROSSING, ELSEWHERE, NO_SUBJECT, NOBODY, OTHER_SESSION, holds};
use super::super::revised::REVISED_TABLES;
use super::super::shelves::Answer;
use super::super::{Build, Misplaced};
use super::shelves::Sql;
use super::subjects::read;
use crate::Subject;
use crate::record::{Event, Fact};

/// Tables that only a subject may have rows in; facts may be an agent's or a tenant's.
const OWN: [&str; 6] = ["sessions", "events", "terms", "postings", "context_builds", "build_rows"];

const FOREIGN_EVIDENCE: &str = "SELECT piece.fact FROM fact_evidence AS piece
    JOIN subjects AS holder ON holder.number = piece.subject
    JOIN subjects AS source ON source.number = piece.source
    WHERE holder.tenant <> source.tenant OR source.user = ''
        OR (holder.agent <> '' AND holder.agent <> source.agent)
        OR (holder.user <> '' AND holder.user <> source.user)";
const FOREIGN_SESSION: &str = "SELECT events.id FROM events LEFT JOIN sessions
    ON sessions.subject = events.subject AND sessions.number = events.session
    WHERE sessions.id IS NOT json_extract(events.body, '$.scope.session')";

pub(super) fn misplaced(shelves: &Sql<'_>) -> Answer<Vec<Misplaced>> {
    let db = shelves.db;
    let mut found = Vec::new();
    let revised = REVISED_TABLES.iter().map(|(table, _)| *table);
    for table in OWN.into_iter().chain(revised) {
        let sql = format!(
            "SELECT {table}.subject FROM {table} LEFT JOIN subjects ON subjects.number = {table}.subject
            WHERE subjects.number IS NULL OR user = '' OR agent = ''"
        );
        tell(db, &sql, table, NO_SUBJECT, &mut found)?;
    }
    for table in ["facts", "fact_evidence"] {
        let sql = format!(
            "SELECT {table}.subject FROM {table} LEFT JOIN subjects ON subjects.number = {table}.subject
            WHERE subjects.number IS NULL"
        );
        tell(db, &sql, table, NOBODY, &mut found)?;
    }
    tell(db, FOREIGN_EVIDENCE, "fact_evidence", CROSSING, &mut found)?;
    tell(db, FOREIGN_SESSION, "events", OTHER_SESSION, &mut found)?;
    bodies(db, "events", &mut found, |body, subject| {
        Ok(from_body::<Event>(body)?.scope.subject() == *subject)
    })?;
    bodies(db, "context_builds", &mut found, |body, subject| {
        Ok(from_body::<Build>(body)?.request.scope.subject() == *subject)
    })?;
    bodies(db, "facts", &mut found, |body, subject| {
        Ok(holds(subject, from_body::<Fact>(body)?.level))
    })?;
    Ok(found)
}

fn tell(
    db: &Connection,
    sql: &str,
    table: &str,
    what: &str,
    found: &mut Vec<Misplaced>,
) -> Answer<()> {
    let mut query = db.prepare(sql)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let name = match row.get_ref(0)? {
            rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            other => format!("{other:?}"),
        };
        found.push(Misplaced { table: table.to_owned(), row: name, what: what.to_owned() });
    }
    Ok(())
}

fn bodies(
    db: &Connection,
    table: &str,
    found: &mut Vec<Misplaced>,
    fits: impl Fn(&str, &Subject) -> Answer<bool>,
) -> Answer<()> {
    let sql = format!(
        "SELECT tenant, user, agent, id, body FROM {table} JOIN subjects ON subjects.number = subject"
    );
    let mut query = db.prepare(&sql)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (subject, row, body) = (read(row)?, row.get(3)?, row.get::<_, String>(4)?);
        if !fits(&body, &subject)? {
            let (table, what) = (table.to_owned(), ELSEWHERE.to_owned());
            found.push(Misplaced { table, row, what });
        }
    }
    Ok(())
}
