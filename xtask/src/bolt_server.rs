//! A server for tests that speaks Cypher over Bolt: a Python package in a virtual environment.
//!
//! Tests get its address in `COUNTERSIGN_TEST_BOLT`.

use std::ffi::OsStr;
use std::path::Path;

use crate::python::prepare_virtualenv;
use crate::python_server::PythonServer;

/// The pinned package of the third-party server, so that only Countersign's code varies between
/// tests.
const PACKAGES: [&str; 1] = ["arcadedb-embedded==26.10.2.post1"];

const SCRIPT: &str = "crates/sources/tests/bolt_server.py";

/// Starts the server, or returns the reason why it cannot start.
pub(crate) fn start_bolt_server(target: &Path) -> Result<(PythonServer, String), String> {
    let python = prepare_virtualenv(&target.join("foreign").join("bolt"), &PACKAGES)?;
    let served = PythonServer::start("bolt", &python, SCRIPT, &[OsStr::new("databases")])?;
    let url = format!("bolt://root:only-for-tests@127.0.0.1:{}", served.port);
    Ok((served, url))
}
