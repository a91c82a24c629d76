//! A folder of work of its own, and the program in it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_countersign");

/// Variables of the developer's environment that would change what the program does.
const REMOVED_VARIABLES: [&str; 7] = [
    "CLICOLOR_FORCE",
    "COUNTERSIGN_MODEL",
    "COUNTERSIGN_PROTOCOL",
    "COUNTERSIGN_STORE",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
];

/// A folder of work, and the settings folder of the person who works there.
pub(crate) struct TestProject {
    pub(crate) folder: TempDir,
    pub(crate) config: PathBuf,
}

impl TestProject {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = testkit::config_home(folder.path());
        Self { folder, config }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The program, called by Ann.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        for name in REMOVED_VARIABLES {
            command.env_remove(name);
        }
        command.env("COUNTERSIGN_USER", "ann").env(testkit::CONFIG_HOME, &self.config);
        command
    }
}
