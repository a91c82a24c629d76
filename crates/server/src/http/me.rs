//! The caller, as the server sees it.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::HttpState;
use crate::access::{AccessRole, Caller};

/// The authenticated caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct CallerView {
    /// The tenant whose runs and memory the caller sees.
    #[schema(example = "default")]
    pub tenant: String,
    /// The role of the caller.
    pub role: AccessRole,
    /// The user name that the server records for the caller.
    #[schema(example = "ann")]
    pub user: String,
    /// The id of the caller's key. Null on loopback without a key.
    pub key: Option<String>,
    /// Whether this server accepts callers without a key.
    pub keyless: bool,
}

/// Get the current caller.
#[utoipa::path(get, path = "/v1/me", tag = "server", responses((status = 200, body = CallerView)))]
pub(crate) async fn get_caller(State(app): State<HttpState>, caller: Caller) -> Json<CallerView> {
    let tenant = caller.tenant().to_owned();
    let Caller { role, user, key_id: key, .. } = caller;
    Json(CallerView { tenant, role, user, key, keyless: app.host_policy.allows_keyless() })
}
