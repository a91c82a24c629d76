//! How fast the shipped protocols step: the inputs of a story, given again and again, each time to a new
//! run. Models, people, files and sources have answered already; what is left is the engine and the store.
//!
//! The same inputs on the store in memory tell what of it is not the store's.

#![expect(clippy::print_stdout, reason = "a bench shows its table")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

#[expect(dead_code, unused_imports, unused_macros, reason = "the bench tells nothing")]
#[path = "../tests/stories/mod.rs"]
mod stories;

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_runtime::engine::Engine;
use countersign_store::{InMemoryStore, SqliteStore};

use stories::Again;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const STORIES: [(&str, &str); 3] = [
    ("intake", "a_short_interview_hands_over"),
    ("delivery", "a_plan_is_reworked"),
    ("answer", "status_from_the_database_alone"),
];

fn main() {
    // `cargo test --benches` runs this too, without the flag: then it only shows that it works.
    let measured = std::env::args().any(|argument| argument == "--bench");
    let (rounds, slice) =
        if measured { (6, Duration::from_millis(500)) } else { (1, Duration::from_millis(10)) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        println!("{:<12}{:>8}{:>12}{:>14}{:>10}", "", "inputs", "steps/s", "in memory", "outside");
        for (name, story) in STORIES {
            let again = Again::of(name, story).await;
            let folder = tempfile::tempdir().unwrap();
            let file = Arc::new(SqliteStore::open(folder.path().join("runs.db")).unwrap());
            let durable = Again::engine(file);
            let memory = Again::engine(Arc::new(InMemoryStore::new()));
            let (mut kept, mut held) = (Rate::default(), Rate::default());
            for round in 0..rounds {
                spin(&again, &durable, round, slice, &mut kept).await;
                spin(&again, &memory, round, slice, &mut held).await;
            }
            println!(
                "{name:<12}{:>8}{:>12.0}{:>14.0}{:>9.0}%",
                again.inputs.len(),
                kept.a_second(),
                held.a_second(),
                100.0 * kept.a_second() / held.a_second()
            );
        }
    });
}

/// Steps, and the time they took.
#[derive(Default)]
struct Rate {
    steps: usize,
    time: Duration,
}

impl Rate {
    fn a_second(&self) -> f64 {
        self.steps as f64 / self.time.as_secs_f64()
    }
}

async fn spin(again: &Again, engine: &Engine, round: usize, slice: Duration, rate: &mut Rate) {
    let begun = Instant::now();
    for number in 0.. {
        again.live(engine, &format!("r{round}-{number}")).await;
        rate.steps += again.inputs.len();
        if begun.elapsed() >= slice {
            break;
        }
    }
    rate.time += begun.elapsed();
}
