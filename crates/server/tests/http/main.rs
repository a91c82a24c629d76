//! The HTTP door with real sockets and a real client.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

mod rig;

mod access;
mod reads;
mod run_lists;
mod runs;
mod streams;
mod memory;
mod limits;
mod quotas;
#[cfg(unix)]
mod ready;
#[cfg(unix)]
mod files;
mod repeats;
mod described;
mod web;
mod mcp;
mod bodies;
mod approvals;
mod documents;
mod run_files;
