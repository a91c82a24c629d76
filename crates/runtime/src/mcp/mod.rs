//! The client of MCP servers: connects to them, lists their tools, and calls them, within limits of
//! time and size.
//!
//! ```text
//! McpConnectionPool ──► McpConnection ──► rmcp ──► LimitedReader ──► ServiceProcess
//!                            │                └──► McpHttpClient ──► reqwest
//!                            └──► call_result: what the agent reads
//! ```

mod read_limit;
mod limited_reader;
mod mcp_http_client;
mod mcp_connection;
mod mcp_connection_pool;
mod call_result;
mod list_mcp_tools;

pub(crate) use call_result::describe_call_result;
pub(crate) use list_mcp_tools::find_tool_changes;
pub use mcp_connection::{McpConnection, McpServerIdentity};
pub(crate) use mcp_connection_pool::McpConnectionPool;
