//! The statements on terms and their blocks. Terms are read and written together, however many there are.

use std::borrow::Cow;
use std::collections::BTreeMap;

use countersign_core::json::sha256;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::super::index::{Body, Term, Terms, Wanted};
use super::super::shelves::Answer;
use super::shelf::{Shelf, count, get, most};
use crate::rank::Stats;

const TERMS: &str = "SELECT term, df, blocks, tail FROM countersign.memory_terms
    WHERE tenant = $1 AND subject = $2 AND term = ANY ($3)";
const PUT_TERMS: &str = "INSERT INTO countersign.memory_terms
        (tenant, subject, term, df, blocks, tail)
    SELECT $1, $2, new.* FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::bytea[]) AS new
    ON CONFLICT (tenant, subject, term) DO UPDATE
    SET df = excluded.df, blocks = excluded.blocks, tail = excluded.tail";
const DROP_TERMS: &str = "DELETE FROM countersign.memory_terms
    WHERE tenant = $1 AND subject = $2 AND term = ANY ($3)";
const PUT_BLOCK: &str = "INSERT INTO countersign.memory_postings
        (tenant, subject, term, block, body) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (tenant, subject, term, block) DO UPDATE SET body = excluded.body";
const DROP_BLOCK: &str = "DELETE FROM countersign.memory_postings
    WHERE tenant = $1 AND subject = $2 AND term = $3 AND block = $4";
/// The newest places first.
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

/// A longer term is kept as its hash.
const LONGEST: usize = 512;

impl Terms for Shelf<'_> {
    fn terms(&self, terms: &[&str]) -> Answer<BTreeMap<String, Term>> {
        let asked: BTreeMap<Cow<'_, str>, &str> =
            terms.iter().map(|term| (stored(term), *term)).collect();
        let names: Vec<&str> = asked.keys().map(|name| &**name).collect();
        let rows = self.ask(self.call(TERMS).with(&names, Type::TEXT_ARRAY))?;
        let mut found = BTreeMap::new();
        for row in &rows {
            if let Some(term) = asked.get(get::<&str>(row, 0)?) {
                let kept = Term::read(count(row, 1)?, count(row, 2)?, get(row, 3)?)?;
                found.insert((*term).to_owned(), kept);
            }
        }
        Ok(found)
    }

    fn put_terms(&self, terms: &BTreeMap<String, Term>) -> Answer<()> {
        let gone = terms.iter().filter(|(_, kept)| kept.df == 0);
        let gone: Vec<Cow<'_, str>> = gone.map(|(term, _)| stored(term)).collect();
        let kept: Vec<(&String, &Term)> = terms.iter().filter(|(_, kept)| kept.df > 0).collect();
        let names: Vec<Cow<'_, str>> = kept.iter().map(|(term, _)| stored(term)).collect();
        let numbers = |of: fn(&Term) -> u32| -> Vec<i64> {
            kept.iter().map(|(_, kept)| of(kept).into()).collect()
        };
        let (dfs, blocks) = (numbers(|kept| kept.df), numbers(|kept| kept.blocks));
        let tails: Vec<Vec<u8>> = kept.iter().map(|(_, kept)| kept.tail()).collect();
        let mut calls = Vec::new();
        if !kept.is_empty() {
            let put = self.call(PUT_TERMS).with(&names, Type::TEXT_ARRAY);
            let put = put.with(&dfs, Type::INT8_ARRAY).with(&blocks, Type::INT8_ARRAY);
            calls.push(put.with(&tails, Type::BYTEA_ARRAY));
        }
        if !gone.is_empty() {
            calls.push(self.call(DROP_TERMS).with(&gone, Type::TEXT_ARRAY));
        }
        self.ask_all(&calls).map(drop)
    }

    fn block_of(&self, term: &str, key: i64) -> Answer<Option<Body>> {
        let term = stored(term);
        let of = self.call(BLOCK_OF).text(&term).number(&key);
        let answers = self.ask_all(&[of, self.call(FIRST_BLOCK).text(&term)])?;
        answers.iter().flatten().next().map(body).transpose()
    }

    fn newest(&self, wanted: &[Wanted<'_>]) -> Answer<Vec<Vec<Body>>> {
        let values = wanted.iter().map(|one| (stored(one.term), one.before, most(one.most)));
        let values: Vec<(Cow<'_, str>, i64, i64)> = values.collect();
        let calls = values
            .iter()
            .map(|(term, before, limit)| self.call(BLOCKS).text(term).number(before).number(limit));
        let answers = self.ask_all(&calls.collect::<Vec<_>>())?;
        answers.iter().map(|rows| rows.iter().map(body).collect()).collect()
    }

    fn put_block(&self, term: &str, (key, body): &Body) -> Answer<()> {
        let term = stored(term);
        let call = self.call(PUT_BLOCK).text(&term).number(key).with(body, Type::BYTEA);
        self.ask(call).map(drop)
    }

    fn drop_block(&self, term: &str, key: i64) -> Answer<()> {
        let term = stored(term);
        self.ask(self.call(DROP_BLOCK).text(&term).number(&key)).map(drop)
    }

    fn count(&self, events: i64, length: i64) -> Answer<()> {
        self.ask(self.call(COUNT).number(&events).number(&length)).map(drop)
    }

    fn stats(&self) -> Answer<Stats> {
        let rows = self.ask(self.call(STATS))?;
        let Some(row) = rows.first() else { return Ok(Stats::default()) };
        let (events, terms): (i64, i64) = (get(row, 0)?, get(row, 1)?);
        Ok(Stats { events: events as u64, terms: terms as u64 })
    }
}

/// A term as it is kept: the server's indexes take no text of any length.
fn stored(term: &str) -> Cow<'_, str> {
    if term.len() <= LONGEST {
        return Cow::Borrowed(term);
    }
    Cow::Owned(sha256(&[term.as_bytes()]))
}

fn body(row: &Row) -> Answer<Body> {
    Ok((get(row, 0)?, get(row, 1)?))
}
