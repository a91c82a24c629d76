//! A short chaos with the real program, seeded; the long one is `cargo run --release -p trials -- chaos`.
//!
//! `COUNTERSIGN_KILLS=200` and `COUNTERSIGN_RUNS=2000` make it long here too; `COUNTERSIGN_SEED` makes it another one.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../../../trials/src/chaos/mod.rs"]
mod chaos;

#[test]
fn workers_that_are_killed_and_stopped_lose_nothing_and_do_nothing_twice() {
    check("sqlite");
}

#[test]
fn neither_do_they_on_a_server_that_is_restarted_and_cuts_its_connections() {
    if testkit::PostgresCluster::find_binaries().is_none() {
        return testkit::report_not_run("chaos on PostgreSQL", "no server is installed");
    }
    check("postgres");
}

fn check(store: &str) {
    let number = |name: &str, default: usize| {
        std::env::var(name).map_or(default, |value| value.parse().unwrap())
    };
    let settings = chaos::ChaosTrialArgs {
        store: store.to_owned(),
        workers: number("COUNTERSIGN_WORKERS", 3),
        runs: number("COUNTERSIGN_RUNS", 24),
        kills: number("COUNTERSIGN_KILLS", 10),
        seed: number("COUNTERSIGN_SEED", 7) as u64,
        lease: 1_500,
        pause: 600,
        patience: 600,
        program: Some(env!("CARGO_BIN_EXE_countersign").into()),
    };
    let mut output = Vec::new();
    let good = chaos::run(&settings, &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    assert!(good, "{output}");
}
