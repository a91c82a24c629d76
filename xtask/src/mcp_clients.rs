//! Clients of MCP that are not ours, for tests: one from npm, one from `PyPI`.
//!
//! They speak two generations of the protocol: the first shakes hands, the second asks for each request by itself.

use std::path::{Path, PathBuf};

use crate::npm;
use crate::python::prepare_virtualenv;

/// The client that most coding agents are built on, pinned.
const NPM_PACKAGES: [&str; 1] = ["@modelcontextprotocol/sdk@1.32.2"];

/// The client of the newest dialect, pinned.
const PYPI_PACKAGES: [&str; 1] = ["mcp==2.3.0"];

/// The folder with the client from npm.
pub(crate) fn install_npm_client(target: &Path) -> Result<PathBuf, String> {
    npm::install_npm_packages(&target.join("foreign").join("mcp-npm"), &NPM_PACKAGES, |_| Ok(()))
}

/// The Python that has the client from `PyPI`.
pub(crate) fn install_pypi_client(target: &Path) -> Result<PathBuf, String> {
    prepare_virtualenv(&target.join("foreign").join("mcp-pypi"), &PYPI_PACKAGES)
}
