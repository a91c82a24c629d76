//! A short chaos with the real program, seeded; the long one is `cargo run --release -p trials -- chaos`.

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
    if testkit::Cluster::binaries().is_none() {
        return testkit::not_run("chaos on PostgreSQL", "no server is installed");
    }
    check("postgres");
}

fn check(store: &str) {
    let settings = chaos::Settings {
        store: store.to_owned(),
        workers: 3,
        runs: 24,
        kills: 10,
        seed: 7,
        lease: 1_500,
        pause: 600,
        patience: 120,
        program: Some(env!("CARGO_BIN_EXE_countersign").into()),
    };
    let mut told = Vec::new();
    let good = chaos::run(&settings, &mut told).unwrap();
    let told = String::from_utf8(told).unwrap();
    assert!(good, "{told}");
}
