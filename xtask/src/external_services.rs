//! The third-party servers for the tests, as far as they are available on this machine.
//!
//! A missing server is not a failure: its tests report by name that they did not run, and `verify`
//! repeats that in its last line.

use std::any::Any;
use std::path::PathBuf;

use crate::bolt_server;
use crate::browser;
use crate::channel_receivers;
use crate::docx_reader;
use crate::embedder;
use crate::mcp_clients;
#[cfg(unix)]
use crate::postgres;
use crate::process;
use crate::yaml_reader;

/// The servers that were started, and why the others were not.
pub(crate) struct ExternalServices {
    /// Held only so that the servers stop when the value is dropped.
    _running: Vec<Box<dyn Any>>,
    variables: Vec<(&'static str, String)>,
    unavailable: Vec<String>,
}

impl ExternalServices {
    /// Starts all available servers.
    pub(crate) fn start() -> Self {
        let mut running: Vec<Box<dyn Any>> = Vec::new();
        let (mut variables, mut unavailable) = (Vec::new(), Vec::new());
        #[cfg(unix)]
        match postgres::start_postgres() {
            Ok(cluster) => {
                variables.push(("COUNTERSIGN_TEST_POSTGRES", cluster.url()));
                running.push(Box::new(cluster));
            }
            Err(why) => unavailable.push(format!("PostgreSQL: {why}")),
        }
        #[cfg(not(unix))]
        unavailable.push("PostgreSQL: it is supported only on Unix".to_owned());
        match bolt_server::start_bolt_server(&target_folder()) {
            Ok((graph, url)) => {
                variables.push(("COUNTERSIGN_TEST_BOLT", url));
                running.push(Box::new(graph));
            }
            Err(why) => unavailable.push(format!("Bolt: {why}")),
        }
        match embedder::start_embedder(&target_folder()) {
            Ok((embedder, name)) => {
                variables.push(("COUNTERSIGN_TEST_EMBEDDER", name));
                running.push(Box::new(embedder));
            }
            Err(why) => unavailable.push(format!("an embedder: {why}")),
        }
        match browser::install(&target_folder()) {
            Ok(folder) => {
                variables.push(("COUNTERSIGN_TEST_BROWSER", folder.display().to_string()));
            }
            Err(why) => unavailable.push(format!("a browser: {why}")),
        }
        match mcp_clients::install_npm_client(&target_folder()) {
            Ok(folder) => {
                variables.push(("COUNTERSIGN_TEST_MCP_NPM", folder.display().to_string()));
            }
            Err(why) => unavailable.push(format!("the MCP client from npm: {why}")),
        }
        match mcp_clients::install_npm_server(&target_folder()) {
            Ok(folder) => {
                variables.push(("COUNTERSIGN_TEST_MCP_SERVERS", folder.display().to_string()));
            }
            Err(why) => unavailable.push(format!("the MCP server from npm: {why}")),
        }
        match mcp_clients::install_pypi_client(&target_folder()) {
            Ok(python) => {
                variables.push(("COUNTERSIGN_TEST_MCP_PYPI", python.display().to_string()));
            }
            Err(why) => unavailable.push(format!("the MCP client from PyPI: {why}")),
        }
        match channel_receivers::install_channel_receivers(&target_folder()) {
            Ok(python) => {
                variables.push(("COUNTERSIGN_TEST_RECEIVERS", python.display().to_string()));
            }
            Err(why) => unavailable.push(format!("receivers of deliveries: {why}")),
        }
        match docx_reader::install_docx_reader(&target_folder()) {
            Ok(python) => variables.push(("COUNTERSIGN_TEST_DOCX", python.display().to_string())),
            Err(why) => unavailable.push(format!("a reader of Word documents: {why}")),
        }
        match yaml_reader::install_yaml_reader(&target_folder()) {
            Ok(python) => {
                variables.push(("COUNTERSIGN_TEST_PYYAML", python.display().to_string()));
            }
            Err(why) => unavailable.push(format!("a second YAML parser: {why}")),
        }
        Self { _running: running, variables, unavailable }
    }

    /// Returns the environment variables that tell the tests the addresses of the servers.
    pub(crate) fn environment_variables(&self) -> Vec<(&'static str, &str)> {
        self.variables.iter().map(|(name, address)| (*name, address.as_str())).collect()
    }

    /// Returns the servers that could not start, each with the reason.
    pub(crate) fn unavailable(&self) -> &[String] {
        &self.unavailable
    }
}

/// Returns the target folder of cargo.
fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| process::workspace_root().join("target"), PathBuf::from)
}
