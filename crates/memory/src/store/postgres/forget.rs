//! Forgetting: every row of a subject goes, and hashes of its ids stay.
//!
//! What other people's facts rest on besides stays with those facts; what rested on the forgotten one
//! alone goes.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::run::Time;
use countersign_store::{Call, Scope as Sight};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::super::gone::mend;
use super::super::mark::mark;
use super::super::revised::REVISED_TABLES;
use super::super::shelves::{Answer, Shelves as _};
use super::super::{Erased, Whom};
use super::facts;
use super::shelf::{Shelf, get};
use super::shelves::{Sql, read_subject};
use crate::Subject;
use crate::record::Fact;

/// Tables whose rows go without a mark.
const UNMARKED: [&str; 6] =
    ["build_rows", "fact_evidence", "vectors", "postings", "terms", "sessions"];

/// Tables whose rows leave a mark of their id.
const MARKED: [(&str, &str); 3] =
    [("events", "event"), ("facts", "fact"), ("context_builds", "build")];

const OF_USER: &str = "SELECT tenant, user_id, agent FROM countersign.memory_subjects
    WHERE tenant = $1 AND user_id = $2 ORDER BY agent";
const SHARED_FACTS: &str = "SELECT holder.tenant, holder.user_id, holder.agent, shared.fact
    FROM (SELECT subject, fact FROM countersign.memory_fact_evidence
            WHERE tenant = $1 AND source = $2 AND subject <> $2
        UNION SELECT subject, id FROM countersign.memory_facts
            WHERE tenant = $1 AND claimed_by = $2 AND subject <> $2) AS shared
        JOIN countersign.memory_subjects AS holder
            ON holder.tenant = $1 AND holder.number = shared.subject
    ORDER BY 3 DESC, 4";
const DROP_PIECES: &str = "DELETE FROM countersign.memory_fact_evidence
    WHERE tenant = $1 AND subject = $2 AND fact = $3 AND source = $4 RETURNING 1";
const DROP_EVIDENCE: &str = "DELETE FROM countersign.memory_fact_evidence
    WHERE tenant = $1 AND subject = $2 AND fact = $3 RETURNING 1";
const DROP_FACT: &str = "DELETE FROM countersign.memory_facts
    WHERE tenant = $1 AND subject = $2 AND id = $3 RETURNING 1";
const DROP_ALONE: &str = "DELETE FROM countersign.memory_facts
    WHERE tenant = $1 AND subject = $2 AND id = $3 AND claimed_by = $4 RETURNING 1";
const LAST_EVIDENCE: &str = "SELECT 1 FROM countersign.memory_fact_evidence
    WHERE tenant = $1 AND subject = $2 AND fact = $3 AND revision = (SELECT max(revision)
        FROM countersign.memory_facts WHERE tenant = $1 AND subject = $2 AND id = $3) LIMIT 1";
const REASSIGN: &str = "UPDATE countersign.memory_facts AS fact SET claimed_by = coalesce(
        (SELECT source FROM countersign.memory_fact_evidence AS piece
            WHERE piece.tenant = $1 AND piece.subject = $2 AND piece.fact = $3
                AND piece.revision = fact.revision ORDER BY piece LIMIT 1), claimed_by)
    WHERE tenant = $1 AND subject = $2 AND id = $3 AND claimed_by = $4";
const DROP_SUBJECT: &str =
    "DELETE FROM countersign.memory_subjects WHERE tenant = $1 AND number = $2";
const BURY: &str = "INSERT INTO countersign.memory_tombstones (tenant, mark, at)
    SELECT $1, mark, $3 FROM unnest($2::text[]) AS mark ON CONFLICT DO NOTHING";

/// Every table whose rows go, to be swept by the server afterwards.
pub(super) fn tables() -> impl Iterator<Item = &'static str> {
    let marked = MARKED.into_iter().chain(REVISED_TABLES).map(|(table, _)| table);
    UNMARKED.into_iter().chain(marked).chain(["subjects"])
}

pub(super) fn forget(shelves: &mut Sql<'_>, whom: &Whom, now: Time) -> Answer<Erased> {
    whom.check()?;
    let mut erased = Erased::default();
    let mut marks = BTreeSet::new();
    let mut gone = BTreeMap::new();
    let (tenant, user) = match whom {
        Whom::Subject(Subject { tenant, user, .. }) | Whom::User { tenant, user } => (tenant, user),
    };
    let sight = Sight::Tenant(tenant);
    let rows = shelves.dialogue.ask(sight, Call::new(OF_USER).text(tenant).text(user))?;
    let all = rows.iter().map(read_subject).collect::<Answer<Vec<Subject>>>()?;
    let mut own = Vec::new();
    for subject in all.iter().filter(|subject| whom.means(subject)) {
        own.extend(shelves.shelf(subject)?.map(|shelf| (subject, shelf)));
    }
    for (subject, shelf) in &own {
        forget_own(shelf, subject, &mut erased, &mut marks)?;
    }
    // What is shared comes last, because others wait for it.
    let mut shared = Vec::new();
    for (_, shelf) in &own {
        for (holder, fact) in shared_facts(shelf)? {
            shared.push((holder, fact, shelf.number()));
        }
    }
    let holders: BTreeSet<&Subject> = shared.iter().map(|(holder, ..)| holder).collect();
    for holder in holders.into_iter().rev() {
        shelves.hold(holder)?;
    }
    for (holder, fact, number) in &shared {
        forget_shared(shelves, holder, fact, *number, &mut erased, &mut marks, &mut gone)?;
    }
    for (_, shelf) in &own {
        shelf.ask(shelf.call(DROP_SUBJECT))?;
    }
    for (holder, facts) in gone {
        mend(shelves, &holder, &facts, now)?;
    }
    erased.tombstones = marks.len() as u64;
    let marks: Vec<String> = marks.into_iter().collect();
    let bury = Call::new(BURY).text(tenant).with(&marks, Type::TEXT_ARRAY).number(&now.0);
    shelves.dialogue.ask(sight, bury)?;
    erased.shared.sort();
    erased.shared.dedup();
    Ok(erased)
}

fn forget_own(
    shelf: &Shelf<'_>,
    subject: &Subject,
    erased: &mut Erased,
    marks: &mut BTreeSet<String>,
) -> Answer<()> {
    for table in UNMARKED {
        let sql = format!(
            "WITH gone AS (DELETE FROM countersign.memory_{table}
                WHERE tenant = $1 AND subject = $2 RETURNING 1) SELECT count(*) FROM gone"
        );
        let rows = shelf.ask(shelf.call(&sql))?;
        let gone: i64 = rows.first().map_or(Ok(0), |row| get(row, 0))?;
        erased.count(table, gone as usize);
    }
    for (table, kind) in MARKED.into_iter().chain(REVISED_TABLES) {
        let sql = format!(
            "DELETE FROM countersign.memory_{table} WHERE tenant = $1 AND subject = $2 RETURNING id"
        );
        let rows = shelf.ask(shelf.call(&sql))?;
        for row in &rows {
            marks.insert(mark(subject, kind, get(row, 0)?));
        }
        erased.count(table, rows.len());
    }
    Ok(())
}

/// Facts of an agent or a tenant that rest on this subject's words, or were claimed by it; with their holders.
fn shared_facts(own: &Shelf<'_>) -> Answer<Vec<(Subject, String)>> {
    let read = |row: &Row| Ok((read_subject(row)?, get(row, 3)?));
    own.ask(own.call(SHARED_FACTS))?.iter().map(read).collect()
}

/// Forgets what such a fact has of a subject, by its number.
fn forget_shared(
    shelves: &Sql<'_>,
    holder: &Subject,
    fact: &String,
    number: i64,
    erased: &mut Erased,
    marks: &mut BTreeSet<String>,
    gone: &mut BTreeMap<Subject, Vec<Fact>>,
) -> Answer<()> {
    let Some(shelf) = shelves.shelf(holder)? else { return Ok(()) };
    let pieces = shelf.ask(shelf.call(DROP_PIECES).text(fact).number(&number))?;
    erased.count("fact_evidence", pieces.len());
    if shelf.ask(shelf.call(LAST_EVIDENCE).text(fact))?.is_empty() {
        if let Some(last) = facts::one(&shelf, &holder.tenant, fact, None)? {
            gone.entry(holder.clone()).or_default().push(last.fact);
        }
        let pieces = shelf.ask(shelf.call(DROP_EVIDENCE).text(fact))?;
        erased.count("fact_evidence", pieces.len());
        erased.count("facts", shelf.ask(shelf.call(DROP_FACT).text(fact))?.len());
        marks.insert(mark(holder, "fact", fact));
        return Ok(());
    }
    shelf.ask(shelf.call(REASSIGN).text(fact).number(&number))?;
    // What has no other voice behind it goes, revision by revision.
    let alone = shelf.ask(shelf.call(DROP_ALONE).text(fact).number(&number))?;
    erased.count("facts", alone.len());
    erased.shared.push(fact.clone());
    Ok(())
}
