//! The MCP door: tools and resources for coding agents, over standard input and output and under `/mcp`.
//!
//! ```text
//!  a line of stdin ─┐                 ┌─ a tool ─────► the same operation as a route of `http`
//!                   ├─► Door ─► role ─┤
//!  POST /mcp ─guard─┘                 └─ a resource ─► what a route would show
//! ```
//!
//! A tool needs what the route needs that does the same, by the one table of `access`. Whatever goes wrong inside
//! a tool is a result of that tool, with the code of the problem: a session does not break. Not here: any
//! operation of its own.

mod schema;
mod tool;
mod run_update;
mod protocol_tools;
mod run_tools;
mod inbox_tools;
mod memory_tools;
mod tool_registry;
mod resources;
mod mcp_server;
mod http_transport;
mod stdio_transport;

pub(crate) use http_transport::routes;
pub use stdio_transport::{McpStdioError, McpStdioSession, serve_stdio};
