//! The servers of others that tests are run against, as far as they can be had here.
//!
//! One that cannot be had is no failure: its tests say by name that they did not run, and
//! `verify` repeats that in its last line.

use std::any::Any;
use std::path::PathBuf;

use crate::agents;
use crate::browser;
use crate::embedder;
use crate::graph;
#[cfg(unix)]
use crate::postgres;
use crate::steps;

/// What was started, and why the rest was not.
pub(crate) struct Foreign {
    /// Held only to be dropped: they end with it.
    _running: Vec<Box<dyn Any>>,
    addresses: Vec<(&'static str, String)>,
    absent: Vec<String>,
}

impl Foreign {
    /// Starts all that can be started.
    pub(crate) fn start() -> Self {
        let mut running: Vec<Box<dyn Any>> = Vec::new();
        let (mut addresses, mut absent) = (Vec::new(), Vec::new());
        #[cfg(unix)]
        match postgres::start() {
            Ok(cluster) => {
                addresses.push(("COUNTERSIGN_TEST_POSTGRES", cluster.url()));
                running.push(Box::new(cluster));
            }
            Err(why) => absent.push(format!("PostgreSQL: {why}")),
        }
        #[cfg(not(unix))]
        absent.push("PostgreSQL: it is started on Unix only".to_owned());
        match graph::start(&target()) {
            Ok((graph, url)) => {
                addresses.push(("COUNTERSIGN_TEST_BOLT", url));
                running.push(Box::new(graph));
            }
            Err(why) => absent.push(format!("Bolt: {why}")),
        }
        match embedder::start(&target()) {
            Ok((embedder, name)) => {
                addresses.push(("COUNTERSIGN_TEST_EMBEDDER", name));
                running.push(Box::new(embedder));
            }
            Err(why) => absent.push(format!("an embedder: {why}")),
        }
        match browser::install(&target()) {
            Ok(folder) => {
                addresses.push(("COUNTERSIGN_TEST_BROWSER", folder.display().to_string()));
            }
            Err(why) => absent.push(format!("a browser: {why}")),
        }
        match agents::npm(&target()) {
            Ok(folder) => {
                addresses.push(("COUNTERSIGN_TEST_MCP_NPM", folder.display().to_string()));
            }
            Err(why) => absent.push(format!("the MCP client from npm: {why}")),
        }
        match agents::pypi(&target()) {
            Ok(python) => {
                addresses.push(("COUNTERSIGN_TEST_MCP_PYPI", python.display().to_string()));
            }
            Err(why) => absent.push(format!("the MCP client from PyPI: {why}")),
        }
        Self { _running: running, addresses, absent }
    }

    /// The variables that tell tests where the servers are.
    pub(crate) fn variables(&self) -> Vec<(&'static str, &str)> {
        self.addresses.iter().map(|(name, address)| (*name, address.as_str())).collect()
    }

    /// What could not be started, and why.
    pub(crate) fn why_absent(&self) -> &[String] {
        &self.absent
    }
}

/// Where cargo puts what it makes.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| steps::root().join("target"), PathBuf::from)
}
