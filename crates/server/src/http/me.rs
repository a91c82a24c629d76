//! Who the caller is, as the server sees it.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::HttpState;
use crate::access::{AccessRole, Caller};

/// Who the caller is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct CallerView {
    /// Whose runs and memory they see.
    #[schema(example = "local")]
    pub tenant: String,
    /// What they may do.
    pub role: AccessRole,
    /// Who they are, for the record.
    #[schema(example = "ann")]
    pub user: String,
    /// The id of their key; null on loopback without one.
    pub key: Option<String>,
    /// Whether this server lets somebody in without a key.
    pub keyless: bool,
}

/// Who the caller is.
#[utoipa::path(get, path = "/v1/me", tag = "house", responses((status = 200, body = CallerView)))]
pub(crate) async fn get_caller(State(app): State<HttpState>, caller: Caller) -> Json<CallerView> {
    let tenant = caller.tenant().to_owned();
    let Caller { role, user, key_id: key, .. } = caller;
    Json(CallerView { tenant, role, user, key, keyless: app.host_policy.allows_keyless() })
}
