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
mod stand;
mod protocols;
mod runs;
mod people;
mod memory;
mod toolbox;
mod resources;
mod door;
mod over_http;
mod over_stdio;

pub(crate) use over_http::routes;
pub use over_stdio::{Session, StdioError, over_stdio};
