//! Public data lies beside the workspace, never in it.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The root of the workspace.
#[must_use]
pub fn workspace_root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A folder of public test data: below `COUNTERSIGN_DATA`, else below `../shared/data`.
#[must_use]
pub fn find_data(folder: &str) -> Option<PathBuf> {
    Some(resolve_folder("COUNTERSIGN_DATA", "shared/data").join(folder))
        .filter(|path| path.exists())
}

/// The folder of the specification: `COUNTERSIGN_SEEDS`, else `../shared/seeds`.
#[must_use]
pub fn find_seeds() -> Option<PathBuf> {
    Some(resolve_folder("COUNTERSIGN_SEEDS", "shared/seeds")).filter(|path| path.exists())
}

fn resolve_folder(variable: &str, default: &str) -> PathBuf {
    env::var_os(variable).map_or_else(|| workspace_root().join("..").join(default), PathBuf::from)
}

/// Says that a test did not run, and why. `cargo xtask verify` tells it in its last line.
///
/// # Panics
/// Where that cannot be written down: then nobody would know.
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
