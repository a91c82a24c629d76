//! Locates public test data, which is stored next to the workspace and not in it.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Returns the root folder of the workspace.
#[must_use]
pub fn workspace_root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Finds a folder of public test data below `COUNTERSIGN_DATA`, or below `../shared/data` if the
/// variable is not set.
#[must_use]
pub fn find_data(folder: &str) -> Option<PathBuf> {
    Some(resolve_folder("COUNTERSIGN_DATA", "shared/data").join(folder))
        .filter(|path| path.exists())
}

/// Finds the folder of the specification: `COUNTERSIGN_SEEDS`, or `../shared/seeds` if the variable
/// is not set.
#[must_use]
pub fn find_seeds() -> Option<PathBuf> {
    Some(resolve_folder("COUNTERSIGN_SEEDS", "shared/seeds")).filter(|path| path.exists())
}

fn resolve_folder(variable: &str, default: &str) -> PathBuf {
    env::var_os(variable).map_or_else(|| workspace_root().join("..").join(default), PathBuf::from)
}

/// Reports that a test was skipped, and why. `cargo xtask verify` lists skipped tests in its last
/// line.
///
/// # Panics
/// Panics if the report cannot be written, because the skip would otherwise go unnoticed.
pub fn report_not_run(test: &str, why: &str) {
    #[expect(clippy::print_stderr, reason = "a test that did not run must not be silent")]
    {
        eprintln!("NOT RUN: {test}: {why}");
    }
    if let Some(folder) = env::var_os("COUNTERSIGN_NOT_RUN") {
        let path = Path::new(&folder).join(test.replace([':', '/', ' '], "_"));
        let written = fs::create_dir_all(&folder)
            .and_then(|()| fs::File::create(path))
            .and_then(|mut file| writeln!(file, "{test}: {why}"));
        assert!(written.is_ok(), "cannot record that {test} did not run");
    }
}
