//! What a question will look up, told beforehand where the file does not lie in the system's memory.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use countersign_store::{RawFile, Sought, Trees};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::super::RetrievalLimits;
use super::super::row_store::MemoryResult;
use super::{events, facts, index, rows};
use crate::PacketRequest;
use crate::rank::WeightedQuery;
use crate::record::EventLocation;

/// About so many blocks of a term are fetched beforehand.
const BLOCKS: usize = 32;

const TERMS: &str = "terms";
/// The indexes of events.
const PLACES: &str = "sqlite_autoindex_events_1";
const IDS: &str = "sqlite_autoindex_events_2";

/// One view of a file, and whether its pages are fetched ahead.
#[derive(Debug)]
pub(super) struct PagePrefetcher<'a> {
    db: &'a Connection,
    raw: Option<&'a RawFile>,
    /// Filled once the file is known to be cold.
    trees: OnceCell<Arc<Trees>>,
    /// The session whose latest events will be read, and how many.
    window: RefCell<Option<(String, usize)>>,
    /// The pages that were asked for.
    requested_pages: RefCell<BTreeSet<u32>>,
}

/// What a packet will be made of, whatever the words of its request find.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketPrefetch<'a> {
    pub(super) subject: i64,
    /// Who holds the facts that the subject sees.
    pub(super) holders: &'a [i64],
    pub(super) request: &'a PacketRequest,
    pub(super) query: &'a WeightedQuery,
    pub(super) limits: RetrievalLimits,
}

impl<'a> PagePrefetcher<'a> {
    pub(super) fn new(db: &'a Connection, raw: Option<&'a RawFile>) -> Self {
        Self {
            db,
            raw,
            trees: OnceCell::new(),
            window: RefCell::default(),
            requested_pages: RefCell::default(),
        }
    }

    /// Whether a word of the query has to be looked up on the disk.
    pub(super) fn is_cold(&self, subject: i64, query: &WeightedQuery) -> MemoryResult<bool> {
        if let (Some(raw), Some((word, _))) = (self.raw, query.terms().next())
            && let Some(trees) = raw.trees(self.db)?
        {
            let prefix = vec![ValueRef::Integer(subject), ValueRef::from(word)];
            if trees.is_cold(&Sought { tree: TERMS, prefix, most: 1, table: None }) {
                self.trees.get_or_init(|| trees);
            }
        }
        Ok(self.trees.get().is_some())
    }

    /// Has everything fetched but what the words will find.
    pub(super) fn prefetch_packet(&self, asked: PacketPrefetch<'_>) {
        let PacketPrefetch { subject, holders, request, query, limits } = asked;
        let subject = ValueRef::Integer(subject);
        let mut sought = Vec::new();
        let mut seek =
            |tree, prefix, most, table| sought.push(Sought { tree, prefix, most, table });
        for (term, _) in query.terms() {
            let term = ValueRef::from(term);
            seek(TERMS, vec![subject, term], 1, None);
            seek("postings", vec![subject, term], BLOCKS, None);
        }
        let working = vec![subject, ValueRef::from(request.scope.run())];
        seek("sqlite_autoindex_wm_state_1", working, 1, Some("wm_state"));
        let session = request.scope.session();
        if limits.window > 0 {
            seek("sessions", vec![subject, ValueRef::from(session)], 1, None);
            self.window.replace(Some((session.to_owned(), limits.window)));
        }
        let summary = vec![subject, ValueRef::from(session)];
        seek("sqlite_autoindex_stm_summary_1", summary, 1, Some("stm_summary"));
        for holder in holders.iter().copied().map(ValueRef::Integer) {
            for (standing, most) in [(1, limits.facts), (0, limits.superseded)] {
                let prefix = vec![holder, ValueRef::Integer(standing)];
                seek("facts_current", prefix, most, Some("facts"));
            }
            let table = Some("fact_evidence");
            seek("sqlite_autoindex_fact_evidence_1", vec![holder], limits.facts, table);
        }
        seek("procedures_current", vec![subject], limits.procedures, Some("procedures"));
        seek("episodes_current", vec![subject], limits.episodes, Some("episodes"));
        seek("insights_current", vec![subject], limits.insights, Some("insights"));
        // A connection that was opened just now has not made its statements yet.
        self.fetch_pages(|| sought, || self.prepare_statements());
    }

    /// What is not made now is made when it is asked.
    fn prepare_statements(&self) {
        let _ = index::prepare_statements(self.db);
        let _ = facts::prepare_statements(self.db);
        let _ = rows::prepare_statements(self.db);
        let _ = events::prepare_statements(self.db);
    }

    /// Has events fetched by their places, and with them those that a packet ends with.
    pub(super) fn prefetch_events_at(&self, subject: i64, places: &[EventLocation]) {
        let sought = || {
            let key =
                |place: &EventLocation| [subject, place.session.into(), place.position.into()];
            let keys = places.iter().map(|place| key(place).map(ValueRef::Integer));
            let found = keys.map(|key| build_event_lookup(PLACES, key.to_vec()));
            let latest = self.window.take().and_then(|(session, most)| {
                let last = events::load_last_location(self.db, subject, &session).ok()??;
                let prefix = [subject, last.session.into()].map(ValueRef::Integer).to_vec();
                Some(Sought { most, ..build_event_lookup(PLACES, prefix) })
            });
            found.chain(latest).collect()
        };
        self.fetch_pages(sought, || ());
    }

    /// Has events fetched by their ids.
    pub(super) fn prefetch_events_by_id(&self, subject: i64, ids: &[&str]) {
        let sought = || {
            let keys = ids.iter().map(|id| [ValueRef::Integer(subject), ValueRef::from(*id)]);
            keys.map(|key| build_event_lookup(IDS, key.to_vec())).collect()
        };
        self.fetch_pages(sought, || ());
    }

    fn fetch_pages<'s>(&self, sought: impl FnOnce() -> Vec<Sought<'s>>, meanwhile: impl FnOnce()) {
        if let Some(trees) = self.trees.get() {
            self.requested_pages.borrow_mut().extend(trees.fetch(&sought(), meanwhile));
        }
    }
}

fn build_event_lookup<'s>(tree: &'s str, prefix: Vec<ValueRef<'s>>) -> Sought<'s> {
    Sought { tree, prefix, most: 1, table: Some("events") }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use super::super::super::suite::sample::{
        build_request, build_scope, build_user_event, episode, fact, insight, procedure,
        record_claim, record_fact, scope, summary, with_evidence, working,
    };
    use super::super::super::{Memory as _, retrieve};
    use super::super::SqliteMemory;
    use super::super::transaction::SqliteMemoryTransaction;
    use super::*;
    use crate::record::MemoryClaim;

    const EVENTS: usize = 3_000;
    const PAGE: usize = 4_096;

    /// A word that stands in every tenth event, and in the index in small letters.
    fn text(number: usize) -> String {
        let word = if number.is_multiple_of(10) { "Zzyzx" } else { "nothing" };
        format!("turn {number:05} of it: {word} {}", "was told at some length ".repeat(6))
    }

    async fn fill(path: &Path) {
        let memory = SqliteMemory::open(path).unwrap();
        let event = |number: usize| {
            let session = build_scope("u", &format!("s{}", number / 100), "r1");
            build_user_event(&session, &format!("e{number}"), &text(number))
        };
        memory.append_events((0..EVENTS).map(event).collect()).await.unwrap();
        let here = scope();
        for number in 0..30 {
            let source = format!("e{}", number * 97 + 3);
            let value = format!("value {number:05} {}", "of a fact ".repeat(20));
            let one = fact(&format!("f{number}"), &format!("key.{number}"), value);
            record_fact(&memory, &here, with_evidence(one, &source, None)).await;
            let told = format!("episode {number:05} {}", "went by ".repeat(20));
            let one = episode(&format!("ep{number}"), &told, &[&source]);
            record_claim(&memory, &here, MemoryClaim::Episode(Box::new(one))).await.unwrap();
            let step = format!("step {number:05} {}", "is taken ".repeat(20));
            let one = procedure(&format!("p{number}"), "generic", &step);
            record_claim(&memory, &here, MemoryClaim::Procedure(Box::new(one))).await.unwrap();
            let guess = format!("guess {number:05} {}", "is made ".repeat(20));
            let one = insight(&format!("i{number}"), "r1", &guess);
            record_claim(&memory, &here, MemoryClaim::Insight(Box::new(one))).await.unwrap();
        }
        memory.write_working_memory(&here, 0, working("the goal is 00001")).await.unwrap();
        let quotes = ["e105", "e2999"];
        memory.write_summary(&here, summary("the summary is 00001", &quotes)).await.unwrap();
    }

    /// Every page that has this text.
    fn pages(file: &[u8], text: &str) -> BTreeSet<u32> {
        let has = |page: &[u8]| page.windows(text.len()).any(|part| part == text.as_bytes());
        let pages = (1..).zip(file.chunks(PAGE));
        pages.filter(|(_, page)| has(page)).map(|(number, _)| number).collect()
    }

    #[tokio::test]
    async fn everything_that_a_packet_is_made_of_is_asked_for_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        fill(&path).await;
        let db = Connection::open(&path).unwrap();
        // Else the bytes of what was moved to another page are still on the old one.
        db.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let raw = RawFile::new(&path, true).unwrap();
        let shelves = SqliteMemoryTransaction::new(&db, Some(&raw));
        // As if a page were on the disk only.
        shelves.prefetcher.trees.set(raw.trees(&db).unwrap().unwrap()).unwrap();
        let request = build_request(&scope(), "Zzyzx");
        let found =
            retrieve::retrieve_candidates(&shelves, &request, RetrievalLimits::default()).unwrap();

        let asked = shelves.prefetcher.requested_pages.borrow();
        let file = fs::read(&path).unwrap();
        let mut shown: BTreeMap<String, usize> = BTreeMap::new();
        let mut lies = |text: &str, length: usize| {
            let text = &text[..length];
            let pages = pages(&file, text);
            assert!(!pages.is_empty() && pages.is_subset(&asked), "{text} on {pages:?}");
            *shown.entry(text[..4].to_owned()).or_default() += 1;
        };
        let events = found.quotes.iter().map(|quote| &quote.row).chain(&found.window);
        events.for_each(|event| lies(&event.text, 10));
        found.evidence.values().for_each(|cited| lies(&cited.text, 10));
        found.facts.iter().for_each(|fact| lies(fact.row.value.as_str().unwrap(), 11));
        found.episodes.iter().for_each(|episode| lies(&episode.row.summary, 13));
        found.insights.iter().for_each(|insight| lies(&insight.row.statement, 11));
        for procedure in &found.procedures {
            lies(procedure.row.content["steps"][0].as_str().unwrap(), 10);
        }
        lies(&found.working.unwrap().state.goal.unwrap(), 17);
        lies(&found.summary.unwrap().text, 20);
        lies("zzyzx", 5);
        for (kind, least) in
            [("turn", 60), ("valu", 30), ("epis", 30), ("gues", 10), ("step", 10), ("the ", 2)]
        {
            assert!(shown[kind] >= least, "{kind}: {shown:?}");
        }
        let all = file.len() / PAGE;
        assert!(asked.len() < all / 2, "{} of {all} pages", asked.len());
    }

    #[tokio::test]
    async fn what_is_in_memory_is_not_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        fill(&path).await;
        // Now it is, whatever was before.
        let _ = fs::read(&path).unwrap();
        let db = Connection::open(&path).unwrap();
        let raw = RawFile::new(&path, true).unwrap();
        let shelves = SqliteMemoryTransaction::new(&db, Some(&raw));
        let found = retrieve::retrieve_candidates(
            &shelves,
            &build_request(&scope(), "Zzyzx"),
            RetrievalLimits::default(),
        )
        .unwrap();
        assert!(!found.quotes.is_empty());
        assert!(shelves.prefetcher.requested_pages.borrow().is_empty());
    }
}
