//! A Python script that serves on loopback, for tests.
//!
//! The script prints `ready PORT` when it accepts requests, and stops when its standard input is
//! closed, which happens on drop.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::process;

/// How long the script may take until it is ready.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(90);

/// A running script with its own folder.
pub(crate) struct PythonServer {
    child: Child,
    folder: PathBuf,
    /// The port on which it listens.
    pub(crate) port: u16,
}

impl PythonServer {
    /// Starts a script, or returns the reason why it cannot start. `name` distinguishes its folder.
    pub(crate) fn start(
        name: &str,
        python: &Path,
        script: &str,
        arguments: &[&OsStr],
    ) -> Result<Self, String> {
        let folder =
            std::env::temp_dir().join(format!("countersign-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder)
            .map_err(|error| format!("cannot create a folder for {name}: {error}"))?;
        let log = fs::File::create(folder.join("log")).map_err(|error| error.to_string())?;
        let mut child = Command::new(python)
            .arg(process::workspace_root().join(script))
            .args(arguments)
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("python: {error}"))?;
        let stdout = child.stdout.take();
        let (tell, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            // Read to the end; otherwise the server would block when the pipe is full.
            for line in stdout.into_iter().flat_map(|out| BufReader::new(out).lines()) {
                let Ok(line) = line else { break };
                let port = line.split("ready ").nth(1).and_then(|port| port.trim().parse().ok());
                if let Some(port) = port {
                    let _ = tell.send(port);
                }
            }
        });
        let mut served = Self { child, folder, port: 0 };
        match receiver.recv_timeout(STARTUP_TIMEOUT) {
            Ok(port) => served.port = port,
            Err(_) => {
                let log = fs::read_to_string(served.folder.join("log")).unwrap_or_default();
                let last = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no output");
                return Err(format!("{script} did not become ready: {last}"));
            }
        }
        Ok(served)
    }
}

impl Drop for PythonServer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        for _ in 0..100 {
            if let Ok(Some(_)) = self.child.try_wait() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
