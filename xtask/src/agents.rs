//! Clients of MCP that are not ours, for tests: one from npm, one from `PyPI`.
//!
//! They speak two generations of the protocol: the first shakes hands, the second asks for each request by itself.

use std::path::{Path, PathBuf};

use crate::npm;
use crate::python::environment;

/// The client that most coding agents are built on, pinned.
const NPM: [&str; 1] = ["@modelcontextprotocol/sdk@1.32.2"];

/// The client of the newest dialect, pinned.
const PYPI: [&str; 1] = ["mcp==2.3.0"];

/// The folder with the client from npm.
pub(crate) fn npm(target: &Path) -> Result<PathBuf, String> {
    npm::install(&target.join("foreign").join("mcp-npm"), &NPM, |_| Ok(()))
}

/// The Python that has the client from `PyPI`.
pub(crate) fn pypi(target: &Path) -> Result<PathBuf, String> {
    environment(&target.join("foreign").join("mcp-pypi"), &PYPI)
}
