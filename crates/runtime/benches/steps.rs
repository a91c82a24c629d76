//! How fast runs step: one step is an accepted reply that patches the document and asks the model again,
//! decided, sealed and committed with full durability.
//!
//! The yardstick is a bare transaction on a file of the same kind beside ours: one insert, one update,
//! the same settings, nothing else. Rounds of all are interleaved, forward and backward, so that a disk
//! that changes its mind does so for all of them. Ratios are of the totals.

#![expect(clippy::print_stdout, reason = "a bench shows its table")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

#[path = "steps/bare.rs"]
mod bare;
#[path = "steps/runs.rs"]
mod runs;
#[path = "steps/storage.rs"]
mod storage;
#[path = "steps/total.rs"]
mod total;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_run::{RunInput, Timestamp, decide, seal_entry};
use countersign_runtime::integrity::verify_stored_run;
use countersign_store::{InMemoryStore, SqliteStore};

use bare::Bare;
use runs::{Stepper, engine, protocol, reply};
use total::Total;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CROWDS: [usize; 3] = [1, 8, 64];

/// How often, and for how long each time.
struct Length {
    rounds: usize,
    slice: Duration,
    /// Steps of the one long run.
    steps: usize,
}

fn main() {
    // `cargo test --benches` runs this too, without the flag: then it only shows that it works.
    let measured = std::env::args().any(|argument| argument == "--bench");
    let length = if measured {
        Length { rounds: 80, slice: Duration::from_millis(50), steps: 10_000 }
    } else {
        Length { rounds: 1, slice: Duration::from_millis(20), steps: 50 }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        durable(&length).await;
        without_disk(&length).await;
        for edit in [100, 1_000] {
            storage::show(length.steps, edit).await;
        }
    });
}

async fn durable(length: &Length) {
    let folder = tempfile::tempdir().unwrap();
    let mut bare = Bare::open(&folder.path().join("bare.db"));
    let store = SqliteStore::open(folder.path().join("runs.db")).unwrap();
    let engine = engine(Arc::new(store));
    let protocol = protocol();
    let mut crowds = Vec::new();
    for size in CROWDS {
        let mut steppers = Vec::new();
        for number in 0..size {
            let name = format!("run-{size}-{number}");
            steppers.push(Stepper::begin(&engine, &protocol, &name).await);
        }
        crowds.push((steppers, Total::default()));
    }
    let mut yardstick = Total::default();
    for round in 0..length.rounds {
        let mut order: Vec<usize> = (0..=crowds.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            match crowds.get_mut(index) {
                Some((steppers, total)) => {
                    Stepper::spin(steppers, length.slice / 4, &mut Total::default()).await;
                    Stepper::spin(steppers, length.slice, total).await;
                }
                None => {
                    bare.spin(length.slice / 4, &mut Total::default());
                    bare.spin(length.slice, &mut yardstick);
                }
            }
        }
    }
    println!("{:<34}{:>9}{:>9}{:>10}{:>10}", "", "steps/s", "ratio", "p50 ms", "p99 ms");
    let rate = yardstick.rate();
    yardstick.show("bare commit", rate);
    for (steppers, mut total) in crowds {
        let runs = if steppers.len() == 1 { "run" } else { "runs" };
        total.show(&format!("step, {} {runs}", steppers.len()), rate);
    }
}

/// A step where the disk costs nothing: all that is ours.
async fn without_disk(length: &Length) {
    let protocol = protocol();
    let engine = engine(Arc::new(InMemoryStore::new()));
    let mut steppers = vec![Stepper::begin(&engine, &protocol, "in-memory").await];
    let mut total = Total::default();
    Stepper::spin(&mut steppers, length.slice / 4, &mut Total::default()).await;
    Stepper::spin(&mut steppers, length.slice, &mut total).await;
    println!("\n{:<34}{:>9.1} µs", "step in memory", 1e6 / total.rate());

    let state = engine.get_run("in-memory").await.unwrap().state;
    let action = state.pending.keys().next().unwrap();
    let what = reply(action, 7, 200);
    let input = RunInput {
        time: Timestamp(state.updated_at.0 + 1),
        idempotency_key: None,
        sender: None,
        files: [].into(),
        file_digests: [].into(),
        payload: what,
    };
    let (begun, mut decided, mut sealed) = (Instant::now(), 0_u32, Duration::ZERO);
    while begun.elapsed() < length.slice {
        let step = decide(&protocol, &state, &input).unwrap();
        let before = Instant::now();
        black_box(seal_entry(&state, &step.state, &step.events, countersign_run::GENESIS_HASH));
        sealed += before.elapsed();
        decided += 1;
    }
    let both = begun.elapsed();
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(decided);
    println!("{:<34}{:>9.1} µs", "of which decide", micros(both.saturating_sub(sealed)));
    println!("{:<34}{:>9.1} µs", "of which seal", micros(sealed));

    let begun = Instant::now();
    let proved = verify_stored_run(&engine, "in-memory").await.unwrap().unwrap();
    let rate = proved.events as f64 / begun.elapsed().as_secs_f64();
    println!("{:<34}{:>9.0} events/s ({} of them)", "replay and verify", rate, proved.events);
}
