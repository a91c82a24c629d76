//! An index that was made by other rules is made anew, subject by subject, before anybody reads it.

use countersign_store::Call;
use countersign_store::Scope as Sight;

use super::super::index;
use super::super::shelves::Answer;
use super::events;
use super::shelves::{Sql, read_subject};
use crate::Subject;

const OTHERS: &str = "SELECT tenant, user_id, agent FROM countersign.memory_subjects
    WHERE index_version <> $1 ORDER BY 1, 2, 3";
const MADE_BY: &str = "SELECT 1 FROM countersign.memory_subjects WHERE tenant = $1 AND number = $2 AND index_version = $3";
const CLEAR: [&str; 2] = [
    "DELETE FROM countersign.memory_postings WHERE tenant = $1 AND subject = $2",
    "DELETE FROM countersign.memory_terms WHERE tenant = $1 AND subject = $2",
];
const BEGIN: &str =
    "UPDATE countersign.memory_subjects SET events = 0, terms = 0, index_version = $3
    WHERE tenant = $1 AND number = $2";

/// So many events are read at once.
const AT_ONCE: usize = 1_000;

/// Whose index was made by other rules than these.
pub(super) fn others(shelves: &Sql<'_>) -> Answer<Vec<Subject>> {
    let version = index::version();
    let rows = shelves.dialogue.ask(Sight::Audit, Call::new(OTHERS).text(&version))?;
    rows.iter().map(read_subject).collect()
}

/// Makes the index of a subject anew. Several programs may do so at once: one does it.
pub(super) fn anew(shelves: &Sql<'_>, subject: &Subject) -> Answer<()> {
    let Some(shelf) = shelves.shelf(subject)? else { return Ok(()) };
    let version = index::version();
    if !shelf.ask(shelf.call(MADE_BY).text(&version))?.is_empty() {
        return Ok(());
    }
    let [postings, terms] = CLEAR.map(|sql| shelf.call(sql));
    shelf.ask_all(&[postings, terms, shelf.call(BEGIN).text(&version)])?;
    let mut after = None;
    loop {
        let some = events::behind(&shelf, after, AT_ONCE)?;
        let Some(last) = some.last() else { return Ok(()) };
        after = Some(last.place);
        index::add(&shelf, &some)?;
    }
}
