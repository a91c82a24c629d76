//! What every route needs, in one table. A route that is not in it is not served.

use super::Role;

/// What a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it says nothing that is anybody's.
    Nothing,
    /// A role, in the caller's own tenant.
    Role(Role),
    /// A role, and the tenant `local`: it tells of the whole house.
    House(Role),
}

/// A route and what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needed {
    /// The method.
    pub method: &'static str,
    /// The path, as the router has it.
    pub path: &'static str,
    /// What it needs.
    pub need: Need,
}

const fn route(method: &'static str, path: &'static str, need: Need) -> Needed {
    Needed { method, path, need }
}

const READ: Need = Need::Role(Role::Reader);

const WORK: Need = Need::Role(Role::Operator);
const ERASE: Need = Need::Role(Role::Admin);
const WRITE: Need = Need::Role(Role::Author);

/// Every route.
pub const NEEDS: &[Needed] = &[
    route("GET", "/v1/health", Need::Nothing),
    route("GET", "/v1/ready", Need::Nothing),
    route("GET", "/v1/openapi.json", Need::Nothing),
    route("GET", "/v1/docs", Need::Nothing),
    route("GET", "/v1/me", READ),
    route("GET", "/v1/metrics", Need::House(Role::Reader)),
    route("GET", "/v1/workers", Need::House(Role::Reader)),
    route("GET", "/v1/protocols", READ),
    route("GET", "/v1/protocols/{name}", READ),
    route("GET", "/v1/protocols/{name}/graph", READ),
    route("GET", "/v1/contracts", READ),
    route("GET", "/v1/contracts/{id}", READ),
    route("GET", "/v1/contracts/{id}/export", READ),
    route("POST", "/v1/protocols/check", WRITE),
    route("POST", "/v1/contracts/diff", WRITE),
    route("POST", "/v1/contracts/{id}/admit", WORK),
    route("GET", "/v1/runs", READ),
    route("POST", "/v1/runs", WORK),
    route("POST", "/v1/runs/{run}/fork", WORK),
    route("POST", "/v1/runs/{run}/submit", WORK),
    route("POST", "/v1/runs/{run}/waits/{wait}/answer", WORK),
    route("PUT", "/v1/runs/{run}/waits/{wait}/document", WORK),
    route("POST", "/v1/runs/{run}/waits/{wait}/approve", WORK),
    route("POST", "/v1/runs/{run}/waits/{wait}/deny", WORK),
    route("POST", "/v1/runs/{run}/halt", WORK),
    route("POST", "/v1/runs/{run}/resume", WORK),
    route("POST", "/v1/runs/{run}/cancel", WORK),
    route("GET", "/v1/runs/{run}", READ),
    route("GET", "/v1/runs/{run}/document", READ),
    route("GET", "/v1/runs/{run}/state", READ),
    route("GET", "/v1/runs/{run}/versions", READ),
    route("GET", "/v1/runs/{run}/events", READ),
    route("GET", "/v1/runs/{run}/diff", READ),
    route("GET", "/v1/runs/{run}/graph", READ),
    route("GET", "/v1/runs/{run}/next", READ),
    route("GET", "/v1/runs/{run}/verify", READ),
    route("GET", "/v1/blobs/{digest}", READ),
    route("GET", "/v1/inbox", READ),
    route("GET", "/v1/inbox/stream", READ),
    route("POST", "/v1/memory/remember", WORK),
    route("POST", "/v1/memory/compose", WORK),
    route("POST", "/v1/memory/search", READ),
    route("GET", "/v1/memory/builds/{build}", READ),
    route("POST", "/v1/memory/builds/{build}/replay", READ),
    route("POST", "/v1/memory/forget", ERASE),
    route("GET", "/v1/runs/{run}/stream", READ),
    // What a tool does needs what its own route needs.
    route("POST", "/mcp", READ),
];

/// What a route needs; `None` where there is no such route.
#[must_use]
pub fn needed(method: &str, path: &str) -> Option<Need> {
    let method = if method == "HEAD" { "GET" } else { method };
    let found = NEEDS.iter().find(|one| one.method == method && one.path == path);
    found.map(|one| one.need)
}
