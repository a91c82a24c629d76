//! A Python script that serves on loopback, for tests.
//!
//! It says `ready PORT` when it answers, and ends when its standard input does: when it is dropped.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::process;

/// How long it may take until it answers.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(90);

/// A script that runs, in a folder of its own.
pub(crate) struct PythonServer {
    child: Child,
    folder: PathBuf,
    /// Where it listens.
    pub(crate) port: u16,
}

impl PythonServer {
    /// Starts one; the reason where that cannot be. `name` tells its folder from others.
    pub(crate) fn start(
        name: &str,
        python: &Path,
        script: &str,
        arguments: &[&OsStr],
    ) -> Result<Self, String> {
        let folder =
            std::env::temp_dir().join(format!("countersign-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).map_err(|error| format!("no folder for {name}: {error}"))?;
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
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            // Read to the end, or the server would wait for us when the pipe is full.
            for line in stdout.into_iter().flat_map(|out| BufReader::new(out).lines()) {
                let Ok(line) = line else { break };
                let port = line.split("ready ").nth(1).and_then(|port| port.trim().parse().ok());
                if let Some(port) = port {
                    let _ = tell.send(port);
                }
            }
        });
        let mut served = Self { child, folder, port: 0 };
        match told.recv_timeout(STARTUP_TIMEOUT) {
            Ok(port) => served.port = port,
            Err(_) => {
                let log = fs::read_to_string(served.folder.join("log")).unwrap_or_default();
                let last = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no word");
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
