//! Walks every row and asks whether it lies where its scope says.

use countersign_store::{Call, Scope as Sight};
use tokio_postgres::Row;

use super::super::body::from_body;
use super::super::misplaced::{CROSSING, ELSEWHERE, NO_SUBJECT, NOBODY, OTHER_SESSION, holds};
use super::super::revised::REVISED_TABLES;
use super::super::shelves::Answer;
use super::super::{Build, Misplaced};
use super::shelf::get;
use super::shelves::{Sql, read_subject};
use crate::Subject;
use crate::record::{Event, Fact};

/// Tables that only a subject may have rows in; facts may be an agent's or a tenant's.
const OWN: [&str; 7] =
    ["sessions", "events", "vectors", "terms", "postings", "context_builds", "build_rows"];

const FOREIGN_EVIDENCE: &str = "SELECT piece.fact FROM countersign.memory_fact_evidence AS piece
    JOIN countersign.memory_subjects AS holder
        ON holder.tenant = piece.tenant AND holder.number = piece.subject
    LEFT JOIN countersign.memory_subjects AS source
        ON source.tenant = piece.tenant AND source.number = piece.source
    WHERE source.number IS NULL OR source.user_id = ''
        OR (holder.agent <> '' AND holder.agent <> source.agent)
        OR (holder.user_id <> '' AND holder.user_id <> source.user_id)";

/// So many rows come at once.
const FETCH: &str = "FETCH 1000 FROM walk";

pub(super) fn misplaced(shelves: &Sql<'_>) -> Answer<Vec<Misplaced>> {
    let mut found = Vec::new();
    let revised = REVISED_TABLES.iter().map(|(table, _)| *table);
    for table in OWN.into_iter().chain(revised) {
        let wrong = "owner.number IS NULL OR user_id = '' OR agent = ''";
        tell(shelves, &unowned(table, wrong), table, NO_SUBJECT, &mut found)?;
    }
    for table in ["facts", "fact_evidence"] {
        let wrong = "owner.number IS NULL";
        tell(shelves, &unowned(table, wrong), table, NOBODY, &mut found)?;
    }
    tell(shelves, FOREIGN_EVIDENCE, "fact_evidence", CROSSING, &mut found)?;
    walk(shelves, "events", &mut found, |row, subject| {
        let event: Event = from_body(get(row, 4)?)?;
        if event.scope.subject() != *subject {
            return Ok(Some(ELSEWHERE));
        }
        let session: Option<&str> = get(row, 5)?;
        Ok((session != Some(event.scope.session())).then_some(OTHER_SESSION))
    })?;
    walk(shelves, "context_builds", &mut found, |row, subject| {
        let build: Build = from_body(get(row, 4)?)?;
        Ok((build.request.scope.subject() != *subject).then_some(ELSEWHERE))
    })?;
    walk(shelves, "facts", &mut found, |row, subject| {
        let fact: Fact = from_body(get(row, 4)?)?;
        Ok((!holds(subject, fact.level)).then_some(ELSEWHERE))
    })?;
    Ok(found)
}

fn unowned(table: &str, wrong: &str) -> String {
    format!(
        "SELECT row.subject::text FROM countersign.memory_{table} AS row
            LEFT JOIN countersign.memory_subjects AS owner
                ON owner.tenant = row.tenant AND owner.number = row.subject
        WHERE {wrong}"
    )
}

fn tell(
    shelves: &Sql<'_>,
    sql: &str,
    table: &str,
    what: &str,
    found: &mut Vec<Misplaced>,
) -> Answer<()> {
    for row in &shelves.dialogue.ask(Sight::Audit, Call::new(sql))? {
        let (table, what) = (table.to_owned(), what.to_owned());
        found.push(Misplaced { table, row: get(row, 0)?, what });
    }
    Ok(())
}

/// Walks a table whose rows have a body: owner, id, body, and of events the session of their place.
fn walk(
    shelves: &Sql<'_>,
    table: &str,
    found: &mut Vec<Misplaced>,
    wrong: impl Fn(&Row, &Subject) -> Answer<Option<&'static str>>,
) -> Answer<()> {
    let (session, join) = if table == "events" {
        let join = "LEFT JOIN countersign.memory_sessions AS session ON session.tenant = row.tenant
            AND session.subject = row.subject AND session.number = row.session";
        ("session.id", join)
    } else {
        ("NULL::text", "")
    };
    let sql = format!(
        "DECLARE walk NO SCROLL CURSOR FOR
        SELECT owner.tenant, owner.user_id, owner.agent, row.id, row.body, {session}
        FROM countersign.memory_{table} AS row JOIN countersign.memory_subjects AS owner
            ON owner.tenant = row.tenant AND owner.number = row.subject {join}"
    );
    shelves.dialogue.ask(Sight::Audit, Call::new(&sql))?;
    loop {
        let rows = shelves.dialogue.ask(Sight::Audit, Call::new(FETCH))?;
        if rows.is_empty() {
            break;
        }
        for row in &rows {
            if let Some(what) = wrong(row, &read_subject(row)?)? {
                let (table, what) = (table.to_owned(), what.to_owned());
                found.push(Misplaced { table, row: get(row, 3)?, what });
            }
        }
    }
    shelves.dialogue.ask(Sight::Audit, Call::new("CLOSE walk"))?;
    Ok(())
}
