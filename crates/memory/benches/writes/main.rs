//! How many events are kept in a second, each on the disk before it is answered (`synchronous=FULL`): one
//! after the other, 64 at once, and by import. Beside each, in turn with it, bare commits of `SQLite` on
//! the same disk with the same settings: one row of the same text into a table without an index.
//!
//! ```text
//! cargo bench -p countersign-memory --bench writes -- [events that are there before]
//! ```

#![expect(clippy::print_stdout, reason = "a bench shows its table")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

#[path = "../talk/mod.rs"]
#[expect(dead_code, reason = "nothing is asked here")]
mod talk;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_contract::Timestamp;
use countersign_memory::store::{
    ImportTrust, MemoryExportLine, MemoryExportRow, MemoryMaintenance as _, MemoryWriter as _,
    NewMemoryEvent, SqliteMemory,
};
use rusqlite::Connection;

const ROUNDS: usize = 7;
const SINGLE: usize = 200;
const AT_ONCE: usize = 64;
const FOR_EACH: usize = 16;
const IMPORTED: usize = 4_000;
/// So many lines of an import share a commit.
const OF_IMPORT: usize = 1_000;

fn main() {
    let before = std::env::args().find_map(|one| one.parse().ok()).unwrap_or(10_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    runtime.block_on(run(folder.path(), before));
}

async fn run(folder: &Path, before: usize) {
    let memory = Arc::new(SqliteMemory::open(folder.join("memory.db")).unwrap());
    for first in (0..before).step_by(5_000) {
        let some = (first..before.min(first + 5_000)).map(talk::event).collect();
        memory.append_events(some).await.unwrap();
    }
    let mut next = before;
    let mut take = |many: usize| -> Vec<NewMemoryEvent> {
        next += many;
        (next - many..next).map(talk::event).collect()
    };
    let mut bare = Bare::open(&folder.join("bare.db"));
    let mut tables = [Table::default(), Table::default(), Table::default()];
    for _ in 0..ROUNDS {
        let (single, crowd, lines) = (take(SINGLE), take(AT_ONCE * FOR_EACH), take(IMPORTED));
        tables[0].add(bare.commits(&single, 1), one_by_one(&memory, single).await);
        tables[1].add(bare.commits(&crowd, AT_ONCE), at_once(&memory, crowd).await);
        tables[2].add(bare.commits(&lines, OF_IMPORT), import(&memory, lines).await);
    }
    println!("{before} events before; medians of {ROUNDS} rounds, in turn");
    println!("                              events a second   bare rows a second   share");
    let names = ["one after the other", "64 at once", "import, 1,000 a commit"];
    for (name, table) in names.into_iter().zip(&mut tables) {
        println!("{name:<28} {}", table.told());
    }
}

async fn one_by_one(memory: &SqliteMemory, events: Vec<NewMemoryEvent>) -> f64 {
    let many = events.len();
    let begun = Instant::now();
    for event in events {
        memory.append_events(vec![event]).await.unwrap();
    }
    per_second(many, begun.elapsed())
}

async fn at_once(memory: &Arc<SqliteMemory>, events: Vec<NewMemoryEvent>) -> f64 {
    let many = events.len();
    let begun = Instant::now();
    let writers: Vec<_> = (0..AT_ONCE)
        .map(|writer| {
            let own: Vec<NewMemoryEvent> =
                events.iter().skip(writer).step_by(AT_ONCE).cloned().collect();
            let memory = Arc::clone(memory);
            tokio::spawn(async move {
                for event in own {
                    memory.append_events(vec![event]).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    per_second(many, begun.elapsed())
}

async fn import(memory: &SqliteMemory, events: Vec<NewMemoryEvent>) -> f64 {
    let many = events.len();
    let line = |event: NewMemoryEvent| {
        let subject = event.scope.subject();
        let told = serde_json::json!({
            "id": event.id, "scope": event.scope, "location": { "session": 1, "position": 1 },
            "ts": event.ts, "recorded_at": event.recorded_at, "role": event.role,
            "kind": event.kind, "origin": event.origin, "speaker": event.speaker,
            "text": event.text, "tags": [], "entities": [],
        });
        let row = MemoryExportRow::Event(Box::new(serde_json::from_value(told).unwrap()));
        MemoryExportLine { subject, row }
    };
    let lines: Vec<MemoryExportLine> = events.into_iter().map(line).collect();
    let begun = Instant::now();
    let imported = memory.import(lines, ImportTrust::OwnExport, Timestamp(0)).await.unwrap();
    let took = begun.elapsed();
    assert_eq!(imported.accepted, many as u64);
    per_second(many, took)
}

fn per_second(many: usize, took: Duration) -> f64 {
    many as f64 / took.as_secs_f64()
}

/// A file of `SQLite` with nothing around it.
struct Bare {
    db: Connection,
}

impl Bare {
    fn open(path: &Path) -> Self {
        let db = Connection::open(path).unwrap();
        db.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
            PRAGMA secure_delete = ON;
            CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;",
        )
        .unwrap();
        Self { db }
    }

    /// Rows in a second, so many in a commit.
    fn commits(&mut self, events: &[NewMemoryEvent], in_one: usize) -> f64 {
        let begun = Instant::now();
        for some in events.chunks(in_one) {
            let commit = self.db.transaction().unwrap();
            for event in some {
                let sql = "INSERT INTO rows (body) VALUES (?1)";
                commit.prepare_cached(sql).unwrap().execute([&event.text]).unwrap();
            }
            commit.commit().unwrap();
        }
        per_second(events.len(), begun.elapsed())
    }
}

/// Pairs of figures that were taken right after one another.
#[derive(Default)]
struct Table {
    ours: Vec<f64>,
    bare: Vec<f64>,
    shares: Vec<f64>,
}

impl Table {
    fn add(&mut self, bare: f64, ours: f64) {
        self.bare.push(bare);
        self.ours.push(ours);
        self.shares.push(ours / bare);
    }

    fn told(&mut self) -> String {
        let median = |list: &mut Vec<f64>| {
            list.sort_by(f64::total_cmp);
            list[list.len() / 2]
        };
        let (ours, bare) = (median(&mut self.ours), median(&mut self.bare));
        format!("{ours:>16.0} {bare:>20.0} {:>7.2}", median(&mut self.shares))
    }
}
