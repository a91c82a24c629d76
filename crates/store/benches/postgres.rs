//! How many steps a second `append` keeps in `PostgreSQL`, with one run and with many at once.
//!
//! The yardstick is `pgbench` with bare single-row commits on the same server, which is not started
//! here: see `docs/measurements/postgres.md`.

#![expect(clippy::print_stdout, reason = "a bench shows its table")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_postgres::{PgConnectOptions, PgServer};
use countersign_store::{
    ActionRow, LogEntryRow, NewRun, PostgresSettings, PostgresStore, RunCommit, RunHeadUpdate,
    RunId, SnapshotRow, Store,
};

const ADDRESS: &str = "COUNTERSIGN_TEST_POSTGRES";

fn main() {
    // `cargo test --benches` runs this too, without the flag: then it only shows that it works.
    let measured = std::env::args().any(|argument| argument == "--bench");
    let slice = Duration::from_millis(if measured { 4000 } else { 20 });
    let Ok(address) = std::env::var(ADDRESS) else {
        testkit::report_not_run(
            "the bench of the store on PostgreSQL",
            &format!("{ADDRESS} is not set"),
        );
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        println!("{:<22}{:>9}{:>10}{:>10}", "", "steps/s", "p50 ms", "p99 ms");
        for (writers, runs) in [(1, 1), (2, 8), (4, 8), (1, 64), (2, 64), (4, 64), (8, 64)] {
            let settings = PostgresSettings { writers, ..PostgresSettings::default() };
            let server = PgServer::parse(&address, &PgConnectOptions::default()).unwrap();
            let store: Arc<dyn Store> =
                Arc::new(PostgresStore::open(server, settings).await.unwrap());
            let mut waits = spin(&store, writers, runs, slice).await;
            waits.sort_unstable();
            let at = |percent: usize| {
                let place = (waits.len() * percent / 100).min(waits.len().saturating_sub(1));
                waits.get(place).map_or(0.0, |wait| wait.as_secs_f64() * 1e3)
            };
            let rate = waits.len() as f64 / slice.as_secs_f64();
            let name = format!("{runs} runs, {writers} writers");
            println!("{name:<22}{rate:>9.0}{:>10.2}{:>10.2}", at(50), at(99));
        }
    });
}

/// Lets runs step for a while, each as fast as it is answered, and gives how long each step took.
async fn spin(
    store: &Arc<dyn Store>,
    writers: usize,
    runs: usize,
    slice: Duration,
) -> Vec<Duration> {
    let mark = Instant::now();
    let nonce = std::process::id();
    let mut steppers = Vec::new();
    for number in 0..runs {
        let id = format!(
            "01JCN{nonce:08}{writers:02}{runs:03}{number:05}{:05}",
            mark.elapsed().as_micros() % 100_000
        );
        let mut run = Stepper::new(id);
        let new = NewRun { protocol: "p".into(), workflow: "intake".into(), ..NewRun::default() };
        store.create_run(new, run.next()).await.unwrap();
        steppers.push(run);
    }
    let start = Instant::now();
    let tasks = steppers.into_iter().map(|mut run| {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            let mut waits = Vec::new();
            while start.elapsed() < slice {
                let begun = Instant::now();
                store.append_commit(run.next()).await.unwrap();
                waits.push(begun.elapsed());
            }
            waits
        })
    });
    let mut waits = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        waits.extend(task.await.unwrap());
    }
    waits
}

/// One run that steps: three events, an action added, an action finished, a snapshot now and then.
struct Stepper {
    id: RunId,
    version: u64,
    body: String,
}

impl Stepper {
    fn new(id: String) -> Self {
        let body = format!(r#"{{"pointer":"/a","text":"{}"}}"#, "x".repeat(270));
        Self { id: RunId::local(id), version: 0, body }
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
        let snapshot = self.version.is_multiple_of(50).then(|| SnapshotRow {
            version: self.version,
            seq: seq + 3,
            body: self.body.repeat(10),
        });
        let id = format!("{}/{}/0", self.id.id, self.version);
        RunCommit {
            snapshot,
            actions: vec![ActionRow { id, kind: "call_model".into(), body: self.body.clone() }],
            finished_actions: vec![format!("{}/{expected}/0", self.id.id)],
            wake_at: Some(1_763_200_000_000),
            ..RunCommit::new(self.id.clone(), expected, entry, head)
        }
    }
}
