//! Checks that every entry point for external input has hostile families in a growth test.
//!
//! A new entry point needs a line here and a family in one of [`GROWTH_TESTS`]. Every fuzz target
//! counts as an entry point.

use std::fs;

use crate::process;

/// The entry points in addition to the fuzz targets.
const GROWTH_TARGETS: [&str; 13] = [
    "reply",
    "patch",
    "merge",
    "schema",
    "defaults",
    "contract_diff",
    "contract_export",
    "protocol_folder",
    "yaml",
    "http_body",
    "memory_line",
    "document",
    "foreign_file",
];

/// The entry point that a fuzz target covers, if the names differ.
const FUZZ_TARGET_ALIASES: [(&str, &str); 3] =
    [("admit", "reply"), ("read", "reply"), ("versions", "contract_diff")];

/// The growth tests. They name an entry point with `door("name")` or
/// `GrowthTarget::new("name", …)`.
const GROWTH_TESTS: [&str; 6] = [
    "crates/contract/tests/growth",
    "crates/schema-tools/tests/growth",
    "crates/protocol/tests/growth",
    "crates/memory/tests/growth.rs",
    "crates/server/tests/growth.rs",
    "crates/documents/tests/growth.rs",
];

/// Returns every entry point without a family, and every family of an unknown entry point.
pub(crate) fn run() -> Vec<String> {
    let mut doors: Vec<String> = GROWTH_TARGETS.map(str::to_owned).to_vec();
    for target in list_rust_file_stems("fuzz/fuzz_targets") {
        let door = FUZZ_TARGET_ALIASES.iter().find(|(name, _)| *name == target);
        let door = door.map_or(target, |(_, door)| (*door).to_owned());
        if !doors.contains(&door) {
            doors.push(door);
        }
    }
    let measured: Vec<String> =
        GROWTH_TESTS.iter().flat_map(|path| list_measured_targets(path)).collect();
    let missing = doors.iter().filter(|door| !measured.contains(door));
    let mut faults: Vec<String> = missing
        .map(|door| {
            format!("entry point `{door}` has no family in a growth test (see xtask/src/growth_targets.rs)")
        })
        .collect();
    let unknown = measured.iter().filter(|door| !doors.contains(door));
    faults.extend(
        unknown.map(|door| {
            format!("xtask/src/growth_targets.rs does not list the entry point `{door}`")
        }),
    );
    faults
}

/// Lists the Rust files in a folder by name, without extension.
fn list_rust_file_stems(folder: &str) -> Vec<String> {
    let entries =
        fs::read_dir(process::workspace_root().join(folder)).into_iter().flatten().flatten();
    let name = |entry: fs::DirEntry| Some(entry.path().file_stem()?.to_string_lossy().into_owned());
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort();
    names
}

fn list_measured_targets(path: &str) -> Vec<String> {
    let path = process::workspace_root().join(path);
    let files = match fs::read_dir(&path) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => vec![path],
    };
    let mut doors: Vec<String> = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).unwrap_or_default();
        for opening in ["door(\"", "GrowthTarget::new(\""] {
            let names = text.split(opening).skip(1);
            doors.extend(names.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        }
    }
    doors.sort();
    doors.dedup();
    doors
}
