//! Third-party MCP clients for tests, one from npm and one from `PyPI`, and a third-party server.
//!
//! The clients speak two generations of the protocol: the first starts with a handshake, the second sends
//! self-contained requests.

use std::path::{Path, PathBuf};

use crate::npm;
use crate::python::prepare_virtualenv;

/// The pinned client library that most coding agents use.
const NPM_PACKAGES: [&str; 1] = ["@modelcontextprotocol/sdk@1.32.2"];

/// The pinned server that uses every part of the protocol.
const NPM_SERVERS: [&str; 1] = ["@modelcontextprotocol/server-everything@2026.8.31"];

/// The pinned client for the newest protocol version.
const PYPI_PACKAGES: [&str; 1] = ["mcp==2.3.0"];

/// Returns the folder with the client from npm.
pub(crate) fn install_npm_client(target: &Path) -> Result<PathBuf, String> {
    npm::install_npm_packages(&target.join("foreign").join("mcp-npm"), &NPM_PACKAGES, |_| Ok(()))
}

/// Returns the folder with the server from npm.
pub(crate) fn install_npm_server(target: &Path) -> Result<PathBuf, String> {
    let folder = target.join("foreign").join("mcp-servers");
    npm::install_npm_packages(&folder, &NPM_SERVERS, |_| Ok(()))
}

/// Returns the Python interpreter that has the client from `PyPI`.
pub(crate) fn install_pypi_client(target: &Path) -> Result<PathBuf, String> {
    prepare_virtualenv(&target.join("foreign").join("mcp-pypi"), &PYPI_PACKAGES)
}
