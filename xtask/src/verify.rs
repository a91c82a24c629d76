//! `cargo xtask verify`: the single test command. It writes no file that git tracks.

use std::fs;
use std::time::Instant;

use crate::external_services::ExternalServices;
use crate::process::{self, run_cargo, run_cargo_with_env};
use crate::{deny, layers, licences, tidy};

/// Runs everything, reports what failed and, in the last lines, what did not run.
pub(crate) fn run() -> bool {
    let started = Instant::now();
    let not_run = process::workspace_root().join("target").join("not-run");
    let _ = fs::remove_dir_all(&not_run);
    let folder = not_run.display().to_string();
    let nextest = process::capture_output("cargo", &["nextest", "--version"]).is_some();

    let mut failed = Vec::new();
    let mut step = |name: &'static str, passed: bool| {
        if !passed {
            failed.push(name);
        }
    };
    step("format", run_cargo(&["fmt", "--all", "--check"]));
    step("tidy", print_report("tidy", &tidy::run()));
    step("layers", print_report("layers", &layers::run()));
    step("licences", print_report("licences", &licences::run()));
    step("deny", deny::run(&not_run));
    step(
        "clippy",
        run_cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
    );
    let runner: &[&str] = if nextest {
        &["nextest", "run", "--workspace", "--locked", "--no-fail-fast", "--status-level", "slow"]
    } else {
        &["test", "--workspace", "--lib", "--bins", "--tests", "--locked", "--no-fail-fast"]
    };
    println!("\n$ xtask external services");
    let foreign = ExternalServices::start();
    foreign.unavailable().iter().for_each(|why| println!("external service not available: {why}"));
    let mut tests = vec![("COUNTERSIGN_NOT_RUN", folder.as_str()), ("INSTA_UPDATE", "no")];
    tests.extend(foreign.environment_variables());
    step("tests", run_cargo_with_env(runner, &tests));
    step("doctests", run_cargo_with_env(&["test", "--workspace", "--doc", "--locked"], &tests));
    let docs = &["doc", "--workspace", "--no-deps", "--locked", "--document-private-items"];
    step("docs", run_cargo_with_env(docs, &[("RUSTDOCFLAGS", "-D warnings")]));

    println!("\nverify took {} s", started.elapsed().as_secs());
    if !nextest {
        println!("cargo-nextest is not installed; `cargo test` ran the same tests");
    }
    if !failed.is_empty() {
        println!("failed: {}", failed.join(", "));
    }
    println!("{}", summarize_not_run(&not_run));
    failed.is_empty()
}

/// Prints the findings of a check; returns `true` if there are none.
pub(crate) fn print_report(name: &str, faults: &[String]) -> bool {
    println!("\n$ xtask {name}");
    for fault in faults {
        println!("{name}: {fault}");
    }
    println!("{name}: {}", if faults.is_empty() { "ok" } else { "FAILED" });
    faults.is_empty()
}

fn summarize_not_run(folder: &std::path::Path) -> String {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok())
        .map(|text| text.trim().to_owned())
        .collect();
    names.sort();
    if names.is_empty() {
        "every test ran".to_owned()
    } else {
        format!("NOT RUN: {}", names.join("; "))
    }
}
