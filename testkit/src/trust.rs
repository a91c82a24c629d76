//! Trust in tests: what a test lets its protocol run, it says.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that says where the program keeps a person's trust.
pub const CONFIG_HOME: &str = "XDG_CONFIG_HOME";

/// A folder of settings of the test's own, which nobody else's trust is in: the value of [`CONFIG_HOME`].
#[must_use]
pub fn config_home(folder: &Path) -> PathBuf {
    folder.join(".config")
}

/// Trusts the protocol of a folder of work, as a person does: `countersign trust --yes`.
///
/// # Panics
/// Where the program does not take it.
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
