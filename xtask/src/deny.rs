//! `cargo deny`: advisories, bans and sources, where the tool and its data can be had.
//!
//! The advisories come from a repository that not every machine reaches. What was not looked at is
//! named in the last line of `verify`, not passed over.

use std::fs;
use std::path::Path;

use crate::process;

/// Runs what can be run; true where nothing was found.
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
