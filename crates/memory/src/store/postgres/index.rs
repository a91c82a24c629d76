//! SQL statements for terms and their blocks. Any number of terms is read or written in one
//! statement.

use std::borrow::Cow;
use std::collections::BTreeMap;

use countersign_contract::json::sha256_hex;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::super::row_store::MemoryResult;
use super::super::term_index::{BlockRequest, PostingBlock, TermEntry, TermIndex};
use super::subject_rows::{SubjectRows, read_column, read_count, to_sql_limit};
use crate::rank::IndexStats;

pub(super) const TERMS: &str = "SELECT found.term, found.df, found.blocks, found.tail
    FROM unnest($3::text[]) AS asked (term)
        CROSS JOIN LATERAL (SELECT term, df, blocks, tail FROM countersign.memory_terms
            WHERE tenant = $1 AND subject = $2 AND term = asked.term LIMIT 1) AS found";
const PUT_TERMS: &str = "INSERT INTO countersign.memory_terms
        (tenant, subject, term, df, blocks, tail)
    SELECT $1, $2, new.* FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::bytea[]) AS new
    ON CONFLICT (tenant, subject, term) DO UPDATE
    SET df = excluded.df, blocks = excluded.blocks, tail = excluded.tail";
pub(super) const DROP_TERM: &str = "DELETE FROM countersign.memory_terms
    WHERE tenant = $1 AND subject = $2 AND term = $3";
const PUT_BLOCK: &str = "INSERT INTO countersign.memory_postings
        (tenant, subject, term, block, body) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (tenant, subject, term, block) DO UPDATE SET body = excluded.body";
const DROP_BLOCK: &str = "DELETE FROM countersign.memory_postings
    WHERE tenant = $1 AND subject = $2 AND term = $3 AND block = $4";
/// Selects the newest locations first.
const BLOCKS: &str = "SELECT block, body FROM countersign.memory_postings
    WHERE tenant = $1 AND subject = $2 AND term = $3 AND block < $4 ORDER BY block DESC LIMIT $5";
const BLOCK_OF: &str = "SELECT block, body FROM countersign.memory_postings
    WHERE tenant = $1 AND subject = $2 AND term = $3 AND block <= $4 ORDER BY block DESC LIMIT 1";
const FIRST_BLOCK: &str = "SELECT block, body FROM countersign.memory_postings
    WHERE tenant = $1 AND subject = $2 AND term = $3 ORDER BY block LIMIT 1";
const COUNT: &str = "UPDATE countersign.memory_subjects
    SET events = events + $3, terms = terms + $4 WHERE tenant = $1 AND number = $2";
const STATS: &str =
    "SELECT events, terms FROM countersign.memory_subjects WHERE tenant = $1 AND number = $2";

/// The maximum length of a stored term; a longer one is stored as its hash.
const MAX_TERM_BYTES: usize = 512;

impl TermIndex for SubjectRows<'_> {
    fn load_terms(&self, terms: &[&str]) -> MemoryResult<BTreeMap<String, TermEntry>> {
        let asked: BTreeMap<Cow<'_, str>, &str> =
            terms.iter().map(|term| (encode_term(term), *term)).collect();
        let names: Vec<&str> = asked.keys().map(|name| &**name).collect();
        let rows = self.query(self.build_statement(TERMS).bind(&names, Type::TEXT_ARRAY))?;
        let mut found = BTreeMap::new();
        for row in &rows {
            if let Some(term) = asked.get(read_column::<&str>(row, 0)?) {
                let kept = TermEntry::decode(
                    read_count(row, 1)?,
                    read_count(row, 2)?,
                    read_column(row, 3)?,
                )?;
                found.insert((*term).to_owned(), kept);
            }
        }
        Ok(found)
    }

    fn put_terms(&self, terms: &BTreeMap<String, TermEntry>) -> MemoryResult<()> {
        let gone = terms.iter().filter(|(_, kept)| kept.df == 0);
        let gone: Vec<Cow<'_, str>> = gone.map(|(term, _)| encode_term(term)).collect();
        let kept: Vec<(&String, &TermEntry)> =
            terms.iter().filter(|(_, kept)| kept.df > 0).collect();
        let names: Vec<Cow<'_, str>> = kept.iter().map(|(term, _)| encode_term(term)).collect();
        let numbers = |of: fn(&TermEntry) -> u32| -> Vec<i64> {
            kept.iter().map(|(_, kept)| of(kept).into()).collect()
        };
        let (dfs, blocks) = (numbers(|kept| kept.df), numbers(|kept| kept.blocks));
        let tails: Vec<Vec<u8>> = kept.iter().map(|(_, kept)| kept.encode_tail()).collect();
        let mut calls = Vec::new();
        if !kept.is_empty() {
            let put = self.build_statement(PUT_TERMS).bind(&names, Type::TEXT_ARRAY);
            let put = put.bind(&dfs, Type::INT8_ARRAY).bind(&blocks, Type::INT8_ARRAY);
            calls.push(put.bind(&tails, Type::BYTEA_ARRAY));
        }
        calls.extend(gone.iter().map(|term| self.build_statement(DROP_TERM).bind_text(term)));
        self.query_all(&calls).map(drop)
    }

    fn find_block(&self, term: &str, key: i64) -> MemoryResult<Option<PostingBlock>> {
        let term = encode_term(term);
        let of = self.build_statement(BLOCK_OF).bind_text(&term).bind_int8(&key);
        let answers = self.query_all(&[of, self.build_statement(FIRST_BLOCK).bind_text(&term)])?;
        answers.iter().flatten().next().map(read_block).transpose()
    }

    fn load_newest_blocks(
        &self,
        wanted: &[BlockRequest<'_>],
    ) -> MemoryResult<Vec<Vec<PostingBlock>>> {
        let values =
            wanted.iter().map(|one| (encode_term(one.term), one.before, to_sql_limit(one.limit)));
        let values: Vec<(Cow<'_, str>, i64, i64)> = values.collect();
        let calls = values.iter().map(|(term, before, limit)| {
            self.build_statement(BLOCKS).bind_text(term).bind_int8(before).bind_int8(limit)
        });
        let answers = self.query_all(&calls.collect::<Vec<_>>())?;
        answers.iter().map(|rows| rows.iter().map(read_block).collect()).collect()
    }

    fn put_block(&self, term: &str, (key, body): &PostingBlock) -> MemoryResult<()> {
        let term = encode_term(term);
        let call =
            self.build_statement(PUT_BLOCK).bind_text(&term).bind_int8(key).bind(body, Type::BYTEA);
        self.query(call).map(drop)
    }

    fn drop_block(&self, term: &str, key: i64) -> MemoryResult<()> {
        let term = encode_term(term);
        self.query(self.build_statement(DROP_BLOCK).bind_text(&term).bind_int8(&key)).map(drop)
    }

    fn add_counts(&self, events: i64, length: i64) -> MemoryResult<()> {
        self.query(self.build_statement(COUNT).bind_int8(&events).bind_int8(&length)).map(drop)
    }

    fn load_stats(&self) -> MemoryResult<IndexStats> {
        let rows = self.query(self.build_statement(STATS))?;
        let Some(row) = rows.first() else { return Ok(IndexStats::default()) };
        let (events, terms): (i64, i64) = (read_column(row, 0)?, read_column(row, 1)?);
        Ok(IndexStats { events: events as u64, terms: terms as u64 })
    }
}

/// Encodes a term for storage, because the server's indexes do not accept text of any length.
fn encode_term(term: &str) -> Cow<'_, str> {
    if term.len() <= MAX_TERM_BYTES {
        return Cow::Borrowed(term);
    }
    Cow::Owned(sha256_hex(&[term.as_bytes()]))
}

fn read_block(row: &Row) -> MemoryResult<PostingBlock> {
    Ok((read_column(row, 0)?, read_column(row, 1)?))
}
