//! How much of the disk's own commit rate `append` reaches, alone and with many runs at once.
//!
//! The yardstick is a bare transaction on a file of the same kind beside ours: one insert, one update,
//! the same settings, nothing else. Rounds of all are interleaved, forward and backward, so that a disk
//! that changes its mind does so for all of them; and each begins with a while that does not count, in
//! which the disk forgets what came before. Ratios are of the totals.

#![expect(clippy::print_stdout, reason = "a bench shows its table")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_store::{
    ActionRow, LogEntryRow, NewRun, RunCommit, RunHeadUpdate, RunId, SqliteStore, Store,
};
use rusqlite::Connection;

const CROWDS: [usize; 3] = [1, 8, 64];

/// How often, and for how long each time.
struct Length {
    rounds: usize,
    slice: Duration,
}

#[derive(Default)]
struct Total {
    steps: u64,
    time: Duration,
    waits: Vec<Duration>,
}

impl Total {
    fn rate(&self) -> f64 {
        self.steps as f64 / self.time.as_secs_f64()
    }

    fn wait(&mut self, percent: usize) -> f64 {
        self.waits.sort_unstable();
        let place = (self.waits.len() * percent / 100).min(self.waits.len().saturating_sub(1));
        self.waits.get(place).map_or(0.0, |wait| wait.as_secs_f64() * 1e3)
    }
}

fn main() {
    // `cargo test --benches` runs this too, without the flag: then it only shows that it works.
    let measured = std::env::args().any(|argument| argument == "--bench");
    let length = if measured {
        Length { rounds: 8, slice: Duration::from_millis(500) }
    } else {
        Length { rounds: 1, slice: Duration::from_millis(20) }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(measure(&length));
}

async fn measure(length: &Length) {
    let folder = tempfile::tempdir().unwrap();
    let mut simple = Bare::open(&folder.path().join("bare.db"));
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(folder.path().join("runs.db")).unwrap());
    let mut contenders = Vec::new();
    for size in CROWDS {
        for work in [Work::Append, Work::Cycle] {
            let mut runs = Vec::new();
            for number in 0..size {
                runs.push(Stepper::create(&store, &format!("{work:?}-{size}-{number}")).await);
            }
            contenders.push((work, runs, Total::default()));
        }
    }
    let mut yardstick = Total::default();
    for round in 0..length.rounds {
        let mut order: Vec<usize> = (0..=contenders.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for place in order {
            match contenders.get_mut(place) {
                Some((work, runs, total)) => {
                    spin(runs, &store, length.slice / 4, *work, &mut Total::default()).await;
                    spin(runs, &store, length.slice, *work, total).await;
                }
                None => {
                    simple.spin(length.slice / 4, &mut Total::default());
                    simple.spin(length.slice, &mut yardstick);
                }
            }
        }
    }
    println!("{:<28}{:>9}{:>9}{:>10}{:>10}", "", "steps/s", "ratio", "p50 ms", "p99 ms");
    let show = |name: &str, total: &mut Total, base: f64| {
        let (rate, half, most) = (total.rate(), total.wait(50), total.wait(99));
        println!("{name:<28}{rate:>9.0}{:>9.2}{half:>10.2}{most:>10.2}", rate / base);
    };
    let base = yardstick.rate();
    show("bare commit", &mut yardstick, base);
    for (work, runs, total) in &mut contenders {
        show(&format!("{}, {} runs", work.name(), runs.len()), total, base);
    }
}

/// What a step is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Work {
    /// The write alone.
    Append,
    /// What a driver does: where does the run stand, load it, write.
    Cycle,
}

impl Work {
    fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Cycle => "head+load+append",
        }
    }
}

/// Lets every run step for a while, each as fast as it is answered.
async fn spin(
    runs: &mut Vec<Stepper>,
    store: &Arc<dyn Store>,
    slice: Duration,
    work: Work,
    total: &mut Total,
) {
    let start = Instant::now();
    let tasks: Vec<_> = runs
        .drain(..)
        .map(|mut run| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                let mut waits = Vec::new();
                while start.elapsed() < slice {
                    let begun = Instant::now();
                    if work == Work::Cycle {
                        assert!(store.load_head(&run.id).await.unwrap().is_some());
                        assert!(store.load_run(&run.id, None).await.unwrap().is_some());
                    }
                    store.append_commit(run.next()).await.unwrap();
                    waits.push(begun.elapsed());
                }
                (run, waits)
            })
        })
        .collect();
    for task in tasks {
        let (run, waits) = task.await.unwrap();
        runs.push(run);
        total.steps += waits.len() as u64;
        total.waits.extend(waits);
    }
    total.time += start.elapsed();
}

/// One run that steps: three events, an action added, an action finished, a snapshot now and then.
struct Stepper {
    id: RunId,
    version: u64,
    body: String,
}

impl Stepper {
    async fn create(store: &Arc<dyn Store>, name: &str) -> Self {
        let body = format!(r#"{{"pointer":"/a","text":"{}"}}"#, "x".repeat(270));
        let mut run = Self { id: RunId::local(format!("01JCN0{name:>20}")), version: 0, body };
        let new = NewRun { protocol: "p".into(), workflow: "intake".into(), ..NewRun::default() };
        store.create_run(new, run.next()).await.unwrap();
        run
    }

    fn next(&mut self) -> RunCommit {
        let (expected, seq) = (self.version, 3 * self.version);
        self.version += 1;
        let entry = LogEntryRow {
            version: self.version,
            first_seq: seq + 1,
            last_seq: seq + 3,
            time: 1_763_200_000_000,
            hash: format!("{seq:064x}"),
            body: self.body.repeat(3),
        };
        let head = RunHeadUpdate {
            status: "running".into(),
            phase: "clarify".into(),
            updated_at: 1_763_200_000_000,
            summary: "What the client wants".into(),
            ..RunHeadUpdate::default()
        };
        let snapshot = self.version.is_multiple_of(50).then(|| countersign_store::SnapshotRow {
            version: self.version,
            seq: seq + 3,
            body: self.body.repeat(10),
        });
        let id = format!("{}/{}/0", self.id.id, self.version);
        RunCommit {
            snapshot,
            actions: vec![ActionRow { id, kind: "call_model".into(), body: self.body.clone() }],
            finished_actions: vec![format!("{}/{expected}/0", self.id.id)],
            ..RunCommit::new(self.id.clone(), expected, entry, head)
        }
    }
}

/// The yardstick.
struct Bare {
    db: Connection,
    steps: i64,
}

impl Bare {
    fn open(path: &Path) -> Self {
        let db = Connection::open(path).unwrap();
        db.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000;
            CREATE TABLE run (id INTEGER PRIMARY KEY, version INTEGER NOT NULL);
            CREATE TABLE events (seq INTEGER PRIMARY KEY, body TEXT NOT NULL);
            INSERT INTO run VALUES (1, 0);",
        )
        .unwrap();
        Self { db, steps: 0 }
    }

    fn spin(&mut self, slice: Duration, total: &mut Total) {
        let body = "x".repeat(300);
        let start = Instant::now();
        while start.elapsed() < slice {
            let begun = Instant::now();
            self.steps += 1;
            let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
                self.db.prepare_cached(sql).unwrap().execute(values).unwrap();
            };
            run("BEGIN IMMEDIATE", &[]);
            run("INSERT INTO events VALUES (?1, ?2)", &[&self.steps, &body]);
            run("UPDATE run SET version = ?1 WHERE id = 1", &[&self.steps]);
            run("COMMIT", &[]);
            total.waits.push(begun.elapsed());
            total.steps += 1;
        }
        total.time += start.elapsed();
    }
}
