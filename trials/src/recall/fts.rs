//! The full-text search of `SQLite` in its common configuration: `porter unicode61`, `bm25()`.

use rusqlite::{Connection, params};

use super::recall_data::RecallConversation;

/// A conversation in an FTS5 table.
pub(crate) struct FtsIndex {
    db: Connection,
}

impl FtsIndex {
    pub(crate) fn build(conversation: &RecallConversation) -> rusqlite::Result<Self> {
        let db = Connection::open_in_memory()?;
        db.execute_batch(
            "CREATE VIRTUAL TABLE turns USING fts5(line, tokenize='porter unicode61')",
        )?;
        let mut insert = db.prepare("INSERT INTO turns (rowid, line) VALUES (?1, ?2)")?;
        for (at, turn) in conversation.turns.iter().enumerate() {
            insert.execute(params![at as i64, turn.to_prompt_line()])?;
        }
        drop(insert);
        Ok(Self { db })
    }

    /// Returns the matching turns, best first.
    pub(crate) fn rank_turns(&self, question: &str) -> rusqlite::Result<Vec<usize>> {
        let words = question.split(|character: char| !character.is_alphanumeric());
        let words: Vec<String> =
            words.filter(|word| !word.is_empty()).map(|word| format!("\"{word}\"")).collect();
        let mut select = self.db.prepare_cached(
            "SELECT rowid FROM turns WHERE turns MATCH ?1 ORDER BY bm25(turns), rowid",
        )?;
        let rows = select.query_map([words.join(" OR ")], |row| row.get::<_, i64>(0))?;
        rows.map(|row| row.map(|at| at as usize)).collect()
    }
}
