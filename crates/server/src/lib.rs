//! Serves runs, contracts, the inbox and memory over HTTP and MCP, with live events.
//!
//! ```text
//!  socket ──► serve ──► authenticate ──► resource ──► Engine, Store, Memory ──► view ──► JSON
//!               │         │                │                │
//!           too many   host,            path, query,     EngineError, StoreError, …
//!         connections, origin,          body, version,      │
//!          slow heads  key, role        idempotency key     ▼
//!               │         └────────────────┴─────────► ProblemDetails: RFC 9457, a stable code
//!               ▼
//!             worker ──► Driver: runs with a new input or a due timer continue
//! ```
//!
//! 1. `serve` accepts a connection and passes it to the router of `http`.
//! 2. `access` authenticates the caller: a key belongs to one tenant and has a role;
//!    [`access::ROUTE_POLICIES`] lists what every route requires, and a route that is not in it is
//!    not served. Requests without a key act as tenant `default`, which is possible only if the
//!    server listens on loopback alone.
//! 3. A resource, one file of `http`, parses the request and calls the engine of the caller's
//!    tenant, which `app_state` holds. It decides nothing.
//! 4. The response is a type of `countersign-view`; the command line prints the same types with
//!    `--json`.
//!    `mcp` offers the same operations to coding agents.
//! 5. The engine saves an input before the server responds. A worker of the runtime, in this
//!    process or in another, then performs the resulting actions. Clients follow them as
//!    server-sent events: `live` reports that something changed, and the data comes from the store.
//!
//! This crate makes no decision about a run, does not drive runs, and uses no terminal.

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
pub mod embed;
