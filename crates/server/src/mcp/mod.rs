//! The MCP server: tools and resources for coding agents, over standard input and output and at
//! `/mcp`.
//!
//! ```text
//!  line of stdin ──────────┐                      ┌─ a tool ─────► same operation as a route
//!                          ├─► McpServer ─► role ─┤
//!  POST /mcp ─authenticate─┘                      └─ a resource ─► same data as a route
//! ```
//!
//! A tool requires the role of the route that performs the same operation, from the one table in
//! `access`. An error inside a tool is returned as the result of that tool, with the code of the
//! problem, so that the session continues. The tools call the operations of `http` and add none of
//! their own.

mod schema;
mod tool;
mod run_update;
mod protocol_tools;
mod run_tools;
mod inbox_tools;
mod memory_decision_tools;
mod memory_tools;
mod tool_registry;
mod resources;
mod mcp_server;
mod http_transport;
mod stdio_transport;

pub(crate) use http_transport::routes;
pub use stdio_transport::{McpStdioError, McpStdioSession, serve_stdio};
