//! A server that speaks Cypher over Bolt, for tests: a Python package in a virtual environment.
//!
//! Tests get its address in `COUNTERSIGN_TEST_BOLT`. It listens on loopback and ends when it is
//! dropped, because its standard input ends then.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::python::environment;
use crate::steps;

/// The package, pinned: it is somebody else's server, and ours is what is tested.
const PACKAGE: &str = "arcadedb-embedded==26.10.2.post1";

const SCRIPT: &str = "crates/sources/tests/bolt_server.py";

/// How long it may take until it answers.
const STARTING: Duration = Duration::from_secs(90);

/// A server that runs.
pub(crate) struct Graph {
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl Graph {
    /// Starts one; the reason where that cannot be.
    pub(crate) fn start(target: &Path) -> Result<Self, String> {
        let python = environment(&target.join("foreign").join("bolt"), PACKAGE)?;
        let folder = std::env::temp_dir().join(format!("countersign-bolt-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).map_err(|error| format!("no folder for a graph: {error}"))?;
        let log = fs::File::create(folder.join("log")).map_err(|error| error.to_string())?;
        let mut child = Command::new(python)
            .arg(steps::root().join(SCRIPT))
            .arg(folder.join("databases"))
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
        let mut graph = Self { child, port: 0, folder };
        match told.recv_timeout(STARTING) {
            Ok(port) => graph.port = port,
            Err(_) => {
                let log = fs::read_to_string(graph.folder.join("log")).unwrap_or_default();
                let last = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no word");
                return Err(format!("{SCRIPT} did not become ready: {last}"));
            }
        }
        Ok(graph)
    }

    /// The address, as the tests take it.
    pub(crate) fn url(&self) -> String {
        format!("bolt://root:only-for-tests@127.0.0.1:{}", self.port)
    }
}

impl Drop for Graph {
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
