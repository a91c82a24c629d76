//! SQL statements for terms and their blocks.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::memory_error::corrupt_error;
use super::super::row_store::MemoryResult;
use super::super::term_index::{BlockRequest, PostingBlock, TermEntry, TermIndex};
use crate::rank::IndexStats;

const TERM: &str = "SELECT df, blocks, tail FROM terms WHERE subject = ?1 AND term = ?2";
const PUT_TERM: &str =
    "INSERT INTO terms (subject, term, df, blocks, tail) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (subject, term) DO UPDATE
    SET df = excluded.df, blocks = excluded.blocks, tail = excluded.tail";
const DROP_TERM: &str = "DELETE FROM terms WHERE subject = ?1 AND term = ?2";
const PUT_BLOCK: &str = "INSERT INTO postings (subject, term, block, body) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (subject, term, block) DO UPDATE SET body = excluded.body";
const DROP_BLOCK: &str = "DELETE FROM postings WHERE subject = ?1 AND term = ?2 AND block = ?3";
/// Selects the newest locations first.
const BLOCKS: &str = "SELECT block, body FROM postings
    WHERE subject = ?1 AND term = ?2 AND block < ?3 ORDER BY block DESC LIMIT ?4";
const BLOCK_OF: &str = "SELECT block, body FROM postings
    WHERE subject = ?1 AND term = ?2 AND block <= ?3 ORDER BY block DESC LIMIT 1";
const FIRST_BLOCK: &str =
    "SELECT block, body FROM postings WHERE subject = ?1 AND term = ?2 ORDER BY block LIMIT 1";
const COUNT: &str =
    "UPDATE subjects SET events = events + ?2, terms = terms + ?3 WHERE number = ?1";
const STATS: &str = "SELECT events, terms FROM subjects WHERE number = ?1";

/// The term index of one subject in a file.
pub(super) struct SubjectTermIndex<'a> {
    pub(super) db: &'a Connection,
    pub(super) subject: i64,
}

impl TermIndex for SubjectTermIndex<'_> {
    fn load_terms(&self, terms: &[&str]) -> MemoryResult<BTreeMap<String, TermEntry>> {
        let mut query = self.db.prepare_cached(TERM)?;
        let mut found = BTreeMap::new();
        for term in terms {
            let mut rows = query.query(params![self.subject, term])?;
            let Some(row) = rows.next()? else { continue };
            let tail =
                row.get_ref(2)?.as_blob().map_err(|error| corrupt_error(error.to_string()))?;
            found.insert((*term).to_owned(), TermEntry::decode(row.get(0)?, row.get(1)?, tail)?);
        }
        Ok(found)
    }

    fn put_terms(&self, terms: &BTreeMap<String, TermEntry>) -> MemoryResult<()> {
        let mut put = self.db.prepare_cached(PUT_TERM)?;
        for (term, kept) in terms {
            if kept.df == 0 {
                self.db.prepare_cached(DROP_TERM)?.execute(params![self.subject, term])?;
            } else {
                put.execute(params![self.subject, term, kept.df, kept.blocks, kept.encode_tail()])?;
            }
        }
        Ok(())
    }

    fn find_block(&self, term: &str, key: i64) -> MemoryResult<Option<PostingBlock>> {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let mut query = self.db.prepare_cached(BLOCK_OF)?;
        let found = query.query_row(params![self.subject, term, key], read).optional()?;
        if found.is_some() {
            return Ok(found);
        }
        let mut query = self.db.prepare_cached(FIRST_BLOCK)?;
        Ok(query.query_row(params![self.subject, term], read).optional()?)
    }

    fn load_newest_blocks(
        &self,
        wanted: &[BlockRequest<'_>],
    ) -> MemoryResult<Vec<Vec<PostingBlock>>> {
        let mut query = self.db.prepare_cached(BLOCKS)?;
        let mut found = Vec::with_capacity(wanted.len());
        for BlockRequest { term, before, limit: most } in wanted {
            let most = i64::try_from(*most).unwrap_or(i64::MAX);
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let rows = query.query_map(params![self.subject, term, before, most], read)?;
            found.push(rows.collect::<Result<_, _>>()?);
        }
        Ok(found)
    }

    fn put_block(&self, term: &str, (key, body): &PostingBlock) -> MemoryResult<()> {
        self.db.prepare_cached(PUT_BLOCK)?.execute(params![self.subject, term, key, body])?;
        Ok(())
    }

    fn drop_block(&self, term: &str, key: i64) -> MemoryResult<()> {
        self.db.prepare_cached(DROP_BLOCK)?.execute(params![self.subject, term, key])?;
        Ok(())
    }

    fn add_counts(&self, events: i64, length: i64) -> MemoryResult<()> {
        self.db.prepare_cached(COUNT)?.execute(params![self.subject, events, length])?;
        Ok(())
    }

    fn load_stats(&self) -> MemoryResult<IndexStats> {
        let read = |row: &rusqlite::Row<'_>| {
            Ok(IndexStats {
                events: row.get::<_, i64>(0)? as u64,
                terms: row.get::<_, i64>(1)? as u64,
            })
        };
        Ok(self.db.prepare_cached(STATS)?.query_row([self.subject], read)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::term_index::{add_postings, load_newest_postings, remove_postings};
    use super::*;
    use crate::rank::{BLOCK_CAPACITY, Posting, PostingRead, sort_postings};
    use crate::record::EventLocation;

    const TERM: &str = "heron";

    fn empty() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("migrations/0001_memory.sql")).unwrap();
        db.execute_batch("INSERT INTO subjects (tenant, user, agent) VALUES ('t', 'u', 'a')")
            .unwrap();
        db
    }

    fn posting(session: u32, position: u32) -> Posting {
        Posting {
            location: EventLocation { session, position },
            tf: 1,
            length: 9,
            prose: false,
            assistant: false,
        }
    }

    /// Returns three sessions of four hundred postings; the second session continues after the
    /// third has begun.
    fn all() -> Vec<Posting> {
        (1..=3).flat_map(|session| (1..=400).map(move |at| posting(session, at))).collect()
    }

    fn index(db: &Connection) -> SubjectTermIndex<'_> {
        SubjectTermIndex { db, subject: 1 }
    }

    fn add(db: &Connection, postings: &[Posting]) {
        let new = BTreeMap::from([(TERM.to_owned(), postings.to_vec())]);
        add_postings(&index(db), new).unwrap();
    }

    fn remove(db: &Connection, posting: Posting) {
        let gone = BTreeMap::from([(TERM.to_owned(), vec![posting.location])]);
        remove_postings(&index(db), &gone).unwrap();
    }

    fn read(db: &Connection, most: usize) -> Vec<Posting> {
        let kept = index(db).load_terms(&[TERM]).unwrap().remove(TERM).unwrap_or_default();
        let read = PostingRead { term: TERM.to_owned(), df: kept.df, newest: most };
        load_newest_postings(&index(db), vec![(&read, kept)]).unwrap().remove(0).postings
    }

    /// Shuffles postings deterministically.
    fn mixed(mut postings: Vec<Posting>) -> Vec<Posting> {
        postings.sort_by_key(|posting| {
            let EventLocation { session, position } = posting.location;
            (session * 7_919 + position * 104_729) % 1_009
        });
        postings
    }

    #[test]
    fn the_newest_are_read_however_they_came() {
        let orders: [(&str, usize, Vec<Posting>); 4] = [
            ("as they stand", 1, all()),
            ("many at once", 300, all()),
            ("mixed", 1, mixed(all())),
            ("mixed, some at once", 37, mixed(all())),
        ];
        for (order, at_once, postings) in orders {
            let db = empty();
            for some in postings.chunks(at_once) {
                add(&db, some);
            }
            for newest in [1, 100, 128, 500, 1_199, 1_200] {
                assert_eq!(read(&db, newest), all()[1_200 - newest..], "{order}: {newest}");
            }
            let largest = "SELECT max(length(body)) FROM postings";
            let largest: u32 = db.query_row(largest, [], |row| row.get(0)).unwrap();
            assert!(largest as usize <= BLOCK_CAPACITY * 5, "{order}: a block of {largest} bytes");
        }
    }

    #[test]
    fn what_is_taken_out_is_out() {
        let db = empty();
        add(&db, &all());
        let (mut left, gone) = (mixed(all()), mixed(all()).split_off(300));
        left.truncate(300);
        sort_postings(&mut left);
        for posting in gone {
            remove(&db, posting);
            remove(&db, posting);
        }
        assert_eq!(read(&db, 1_200), left);
        assert_eq!(read(&db, 7), left[293..]);
        for posting in left {
            remove(&db, posting);
        }
        let rows = "SELECT (SELECT count(*) FROM terms) + (SELECT count(*) FROM postings)";
        assert_eq!(db.query_row(rows, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }
}
