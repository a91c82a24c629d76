//! How long a request takes to find its rows, by how many events its subject has; and how many events
//! are kept in a second, each on the disk before the next.
//!
//! ```text
//! cargo bench -p countersign-memory --bench found -- 1000 10000 100000
//! ```
//!
//! Events are made of words as they come in speech: few are said all the time, most of them rarely.
//! Warm is the second time a set of questions is asked, cold the first question after the file was
//! opened anew (what the system keeps of the file in its own memory stays there).

#![expect(clippy::print_stdout, reason = "a bench shows its table")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::path::Path;
use std::time::{Duration, Instant};

use countersign_contracts::memory::meta::Purpose;
use countersign_core::run::Time;
use countersign_memory::store::{Limits, Memory, NewEvent, SqliteMemory};
use countersign_memory::{Request, Scope};

/// How many words there are.
const WORDS: u64 = 20_000;
const QUESTIONS: usize = 200;
const COLD: usize = 20;
const AT_ONCE: usize = 2_000;
const SINGLE_WRITES: usize = 300;
const IN_SESSION: usize = 400;

/// Numbers by chance, the same each time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// A word; the hundredth most common is said a hundred times less often than the first.
    fn word(&mut self) -> String {
        let share = (self.next() % 1_000_000) as f64 / 1_000_000.0;
        let rank = (WORDS as f64).powf(share) as u64;
        format!("w{}", rank * 7919 % 99_991)
    }

    fn text(&mut self, words: u64) -> String {
        let words: Vec<String> = (0..words).map(|_| self.word()).collect();
        words.join(" ")
    }
}

fn scope(session: usize) -> Scope {
    Scope::new("t", "u", "a", format!("s{session}"), "r").unwrap()
}

fn event(number: usize, chance: &mut Chance) -> NewEvent {
    let words = 6 + chance.next() % 20;
    let now = Time(1_700_000_000_000 + number as i64 * 60_000);
    NewEvent::said(scope(number / IN_SESSION), format!("e{number}"), chance.text(words), now)
}

fn question(events: usize, chance: &mut Chance) -> Request {
    Request {
        scope: scope(events / IN_SESSION),
        purpose: Purpose::Planner,
        task_type: None,
        cues: None,
        message: Some(chance.text(6)),
        budget: None,
        as_of: Time(1_900_000_000_000),
    }
}

async fn fill(memory: &SqliteMemory, events: usize) -> Duration {
    let mut chance = Chance(1);
    let begun = Instant::now();
    for first in (0..events).step_by(AT_ONCE) {
        let some = (first..events.min(first + AT_ONCE)).map(|number| event(number, &mut chance));
        memory.remember(some.collect()).await.unwrap();
    }
    begun.elapsed()
}

async fn ask(memory: &SqliteMemory, request: &Request) -> Duration {
    let begun = Instant::now();
    memory.found(request, Limits::default()).await.unwrap();
    begun.elapsed()
}

fn at(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    let index = (times.len() * percent).div_ceil(100).saturating_sub(1);
    times[index].as_secs_f64() * 1000.0
}

async fn measure(folder: &Path, events: usize) {
    let path = folder.join(format!("{events}.db"));
    let memory = SqliteMemory::open(&path).unwrap();
    let filled = fill(&memory, events).await;
    let mut chance = Chance(99);
    let questions: Vec<Request> = (0..QUESTIONS).map(|_| question(events, &mut chance)).collect();
    let mut warm = Vec::new();
    for round in 0..2 {
        warm.clear();
        for request in &questions {
            warm.push(ask(&memory, request).await);
        }
        assert!(round == 0 || warm.len() == QUESTIONS);
    }
    let begun = Instant::now();
    for number in 0..SINGLE_WRITES {
        memory.remember(vec![event(events + number, &mut chance)]).await.unwrap();
    }
    let single = SINGLE_WRITES as f64 / begun.elapsed().as_secs_f64();
    drop(memory);
    let mut cold = Vec::new();
    for request in questions.iter().take(COLD) {
        let memory = SqliteMemory::open(&path).unwrap();
        cold.push(ask(&memory, request).await);
    }
    let size = std::fs::metadata(&path).unwrap().len() as f64 / f64::from(1 << 20);
    println!(
        "{events:>9} {:>8.2} {:>8.2} {:>8.2} {:>10.2} {:>8.2} {single:>9.0} {:>9.0} {size:>8.0}",
        at(&mut warm, 50),
        at(&mut warm, 95),
        at(&mut warm, 99),
        at(&mut cold, 50),
        at(&mut cold, 95),
        events as f64 / filled.as_secs_f64(),
    );
}

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|one| one.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000] } else { sizes };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    println!("                    warm, ms                cold, ms      writes in a second");
    println!(
        "   events      p50      p95      p99        p50      p95   one each  in batch       MB"
    );
    for size in sizes {
        runtime.block_on(measure(folder.path(), size));
    }
}
