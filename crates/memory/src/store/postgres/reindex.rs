//! Rebuilds an index of another version, subject by subject, before it is read.

use countersign_store::SqlStatement;
use countersign_store::TenantScope;

use super::super::row_store::MemoryResult;
use super::super::term_index;
use super::events;
use super::transaction::{PgMemoryTransaction, read_subject};
use crate::MemorySubject;

const OUTDATED_SUBJECTS: &str = "SELECT tenant, user_id, agent FROM countersign.memory_subjects
    WHERE index_version <> $1 ORDER BY 1, 2, 3";
const IS_UP_TO_DATE: &str = "SELECT 1 FROM countersign.memory_subjects WHERE tenant = $1 AND number = $2 AND index_version = $3";
const CLEAR: [&str; 2] = [
    "DELETE FROM countersign.memory_postings WHERE tenant = $1 AND subject = $2",
    "DELETE FROM countersign.memory_terms WHERE tenant = $1 AND subject = $2",
];
const BEGIN: &str =
    "UPDATE countersign.memory_subjects SET events = 0, terms = 0, index_version = $3
    WHERE tenant = $1 AND number = $2";

/// The number of events that are read at once.
const EVENT_BATCH: usize = 1_000;

/// Lists the subjects whose index has another version.
pub(super) fn list_outdated_subjects(
    row_store: &PgMemoryTransaction<'_>,
) -> MemoryResult<Vec<MemorySubject>> {
    let version = term_index::index_version();
    let rows = row_store
        .dialogue
        .query(TenantScope::Audit, SqlStatement::new(OUTDATED_SUBJECTS).bind_text(&version))?;
    rows.iter().map(read_subject).collect()
}

/// Rebuilds the index of a subject. If several processes try at the same time, one of them does it.
pub(super) fn rebuild_index(
    row_store: &PgMemoryTransaction<'_>,
    subject: &MemorySubject,
) -> MemoryResult<()> {
    let Some(shelf) = row_store.open_subject_rows(subject)? else { return Ok(()) };
    let version = term_index::index_version();
    if !shelf.query(shelf.build_statement(IS_UP_TO_DATE).bind_text(&version))?.is_empty() {
        return Ok(());
    }
    let [postings, terms] = CLEAR.map(|sql| shelf.build_statement(sql));
    shelf.query_all(&[postings, terms, shelf.build_statement(BEGIN).bind_text(&version)])?;
    let mut after = None;
    loop {
        let some = events::load_events_after(&shelf, after, EVENT_BATCH)?;
        let Some(last) = some.last() else { return Ok(()) };
        after = Some(last.location);
        term_index::index_events(&shelf, &some)?;
    }
}
