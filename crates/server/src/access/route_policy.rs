//! The authorization policy of every route, in one table. The server refuses requests to a route
//! that is not in the table.

use super::AccessRole;

/// What a route requires of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutePolicy {
    /// No credentials are required: the response contains no data of any tenant.
    Public,
    /// The caller needs at least this role, and sees only its own tenant.
    Role(AccessRole),
    /// The caller needs at least this role in tenant `local`, because the response concerns all
    /// tenants.
    LocalTenant(AccessRole),
}

/// A route and its policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteEntry {
    /// The HTTP method, in upper case.
    pub method: &'static str,
    /// The path pattern, as the router has it.
    pub path: &'static str,
    /// What the route requires of its caller.
    pub policy: RoutePolicy,
}

const fn route_entry(method: &'static str, path: &'static str, need: RoutePolicy) -> RouteEntry {
    RouteEntry { method, path, policy: need }
}

const READER_ROLE: RoutePolicy = RoutePolicy::Role(AccessRole::Reader);

const OPERATOR_ROLE: RoutePolicy = RoutePolicy::Role(AccessRole::Operator);
const ADMIN_ROLE: RoutePolicy = RoutePolicy::Role(AccessRole::Admin);
const AUTHOR_ROLE: RoutePolicy = RoutePolicy::Role(AccessRole::Author);

/// The policy of every route.
pub const ROUTE_POLICIES: &[RouteEntry] = &[
    route_entry("GET", "/v1/health", RoutePolicy::Public),
    route_entry("GET", "/v1/ready", RoutePolicy::Public),
    route_entry("GET", "/v1/openapi.json", RoutePolicy::Public),
    route_entry("GET", "/v1/docs", RoutePolicy::Public),
    route_entry("GET", "/v1/me", READER_ROLE),
    route_entry("GET", "/v1/metrics", RoutePolicy::LocalTenant(AccessRole::Reader)),
    route_entry("GET", "/v1/workers", RoutePolicy::LocalTenant(AccessRole::Reader)),
    route_entry("GET", "/v1/protocols", READER_ROLE),
    route_entry("GET", "/v1/protocols/{name}", READER_ROLE),
    route_entry("GET", "/v1/protocols/{name}/graph", READER_ROLE),
    route_entry("GET", "/v1/protocols/{name}/agents/{agent}", READER_ROLE),
    route_entry("GET", "/v1/contracts", READER_ROLE),
    route_entry("GET", "/v1/contracts/{id}", READER_ROLE),
    route_entry("GET", "/v1/contracts/{id}/export", READER_ROLE),
    route_entry("POST", "/v1/protocols/check", AUTHOR_ROLE),
    route_entry("POST", "/v1/contracts/diff", AUTHOR_ROLE),
    route_entry("POST", "/v1/contracts/{id}/admit", OPERATOR_ROLE),
    route_entry("GET", "/v1/runs", READER_ROLE),
    route_entry("GET", "/v1/stats", READER_ROLE),
    route_entry("POST", "/v1/runs", OPERATOR_ROLE),
    route_entry("POST", "/v1/runs/{run}/fork", OPERATOR_ROLE),
    route_entry("POST", "/v1/runs/{run}/submit", OPERATOR_ROLE),
    route_entry("POST", "/v1/runs/{run}/waits/{wait}/answer", OPERATOR_ROLE),
    route_entry("PUT", "/v1/runs/{run}/waits/{wait}/document", OPERATOR_ROLE),
    route_entry("POST", "/v1/runs/{run}/waits/{wait}/approve", OPERATOR_ROLE),
    route_entry("POST", "/v1/runs/{run}/waits/{wait}/deny", OPERATOR_ROLE),
    route_entry("POST", "/v1/runs/{run}/waits/{wait}/delegate", OPERATOR_ROLE),
    route_entry("POST", "/v1/runs/{run}/halt", OPERATOR_ROLE),
    route_entry("POST", "/v1/runs/{run}/resume", OPERATOR_ROLE),
    route_entry("POST", "/v1/runs/{run}/cancel", OPERATOR_ROLE),
    route_entry("GET", "/v1/runs/{run}", READER_ROLE),
    route_entry("GET", "/v1/runs/{run}/document", READER_ROLE),
    route_entry("GET", "/v1/runs/{run}/state", READER_ROLE),
    route_entry("GET", "/v1/runs/{run}/versions", READER_ROLE),
    route_entry("GET", "/v1/runs/{run}/events", READER_ROLE),
    route_entry("GET", "/v1/runs/{run}/diff", READER_ROLE),
    route_entry("GET", "/v1/runs/{run}/graph", READER_ROLE),
    route_entry("GET", "/v1/runs/{run}/next", READER_ROLE),
    route_entry("GET", "/v1/runs/{run}/verify", READER_ROLE),
    route_entry("GET", "/v1/runs/{run}/files", READER_ROLE),
    route_entry("GET", "/v1/runs/{run}/files/content", READER_ROLE),
    route_entry("GET", "/v1/blobs/{digest}", READER_ROLE),
    route_entry("GET", "/v1/inbox", READER_ROLE),
    route_entry("GET", "/v1/inbox/stream", READER_ROLE),
    route_entry("POST", "/v1/memory/remember", OPERATOR_ROLE),
    route_entry("POST", "/v1/memory/compose", OPERATOR_ROLE),
    route_entry("POST", "/v1/memory/search", READER_ROLE),
    route_entry("GET", "/v1/memory/builds/{build}", READER_ROLE),
    route_entry("POST", "/v1/memory/builds/{build}/replay", READER_ROLE),
    route_entry("POST", "/v1/memory/forget", ADMIN_ROLE),
    route_entry("GET", "/v1/runs/{run}/stream", READER_ROLE),
    // Each tool additionally needs the role of the route that it stands for.
    route_entry("POST", "/mcp", READER_ROLE),
];

/// Finds the policy of a route; `None` if the table does not have it.
#[must_use]
pub fn find_route_policy(method: &str, path: &str) -> Option<RoutePolicy> {
    let method = if method == "HEAD" { "GET" } else { method };
    let found = ROUTE_POLICIES.iter().find(|one| one.method == method && one.path == path);
    found.map(|one| one.policy)
}
