//! What is shown of runs, contracts and memory, by the server and by the command line.
//!
//! - [`wire`]: the types of HTTP and MCP responses, which `--json` prints as well.
//! - [`show`]: the same in words, and workflows as graphs.
//! - [`protocol_catalog`]: the protocols that runs can be started from.
//!
//! The crate reads through the runtime and changes nothing.

pub mod protocol_catalog;
pub mod show;
pub mod wire;
