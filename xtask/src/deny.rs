//! `cargo deny`: checks advisories, bans and sources, if the tool and its data are available.
//!
//! Not every machine can reach the advisory repository. `verify` lists skipped checks in its last
//! line.

use std::fs;
use std::path::Path;

use crate::process;

/// Runs the available checks; returns `true` if they found nothing.
pub(crate) fn run(not_run: &Path) -> bool {
    println!("\n$ xtask deny");
    if process::capture_output("cargo", &["deny", "--version"]).is_none() {
        record_not_run(not_run, "cargo deny (not installed: `cargo install cargo-deny`)");
        return true;
    }
    let found_nothing =
        process::run_cargo(&["deny", "--offline", "check", "bans", "licenses", "sources"]);
    if process::capture_output("cargo", &["deny", "fetch", "db"]).is_none() {
        record_not_run(not_run, "advisories of cargo deny (their database cannot be fetched here)");
        return found_nothing;
    }
    process::run_cargo(&["deny", "check", "advisories"]) && found_nothing
}

fn record_not_run(folder: &Path, what: &str) {
    println!("deny: not run: {what}");
    let _ = fs::create_dir_all(folder);
    let _ = fs::write(folder.join(what.split_once(" (").map_or(what, |(name, _)| name)), what);
}
