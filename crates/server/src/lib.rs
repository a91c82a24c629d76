//! Shows: runs, contracts, the inbox and memory over HTTP, with events as they happen, and in the same shapes to
//! the command line.
//!
//! ```text
//!  socket ──► serve ──► guard ──► a resource ──► Engine, Store, Memory ──► wire ──► JSON
//!               │         │           │                │
//!           too many   host,       path, query,     EngineError, StoreError, …
//!         connections, origin,     body, version,      │
//!          slow heads  key, role   idempotency key     ▼
//!               │         └───────────┴───────────► Problem: RFC 9457 with a stable code
//!               ▼
//!             worker ──► Driver: whatever was given something, or is due, goes on
//! ```
//!
//! 1. `serve` takes a connection, and gives it to the router of `http`.
//! 2. `access` says who comes in: a key is one tenant's, and has a role; [`access::NEEDS`] says what every route
//!    needs, and a route that is not in it is not served. Without a key there is tenant `local`, on loopback, where
//!    no other address is bound.
//! 3. A resource, a file of `http`, reads what was asked, and asks the engine of the caller's tenant, which `house`
//!    keeps. It decides nothing.
//! 4. What is answered is a type of `wire`; the command line prints the same with `--json`.
//!    `mcp` is a second door to the same operations, for coding agents.
//! 5. An input is kept before it is answered. What it leads to is done afterwards, by a worker of the runtime in the same
//!    process or in another, and can be followed
//!    by events: `live` says that there is something new, the store says what.
//!
//! Not here: any decision about a run; how runs are driven; a terminal.

pub mod show;
pub mod wire;
pub mod protocol_catalog;
pub mod live;
pub mod app_state;
pub mod access;
pub mod shutdown;
pub mod service_limits;
pub mod http;
pub mod mcp;
pub mod web;
mod connections;
mod write_timeout;
pub mod serve;
