//! Grants trust in tests: each test states what its protocol may run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The environment variable that locates the folder with the user's trust file.
pub const CONFIG_HOME: &str = "XDG_CONFIG_HOME";

/// Returns the test's own settings folder, which contains no other trust; the value for
/// [`CONFIG_HOME`].
#[must_use]
pub fn config_home(folder: &Path) -> PathBuf {
    folder.join(".config")
}

/// Trusts the protocol of a workspace as a user does: `countersign trust --yes`.
///
/// # Panics
/// Panics if the program cannot start or does not grant the trust.
pub fn trust_protocol(program: impl AsRef<Path>, folder: &Path) {
    let output = Command::new(program.as_ref())
        .args(["trust", "--yes"])
        .current_dir(folder)
        .env(CONFIG_HOME, config_home(folder))
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`countersign trust --yes`: {said}");
}
