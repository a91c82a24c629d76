//! Who the caller is, as the server sees it.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::App;
use crate::access::{Caller, Role};

/// Who the caller is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Me {
    /// Whose runs and memory they see.
    #[schema(example = "local")]
    pub tenant: String,
    /// What they may do.
    pub role: Role,
    /// Who they are, for the record.
    #[schema(example = "ann")]
    pub user: String,
    /// The id of their key; null on loopback without one.
    pub key: Option<String>,
    /// Whether this server lets somebody in without a key.
    pub keyless: bool,
}

/// Who the caller is.
#[utoipa::path(get, path = "/v1/me", tag = "house", responses((status = 200, body = Me)))]
pub(crate) async fn me(State(app): State<App>, caller: Caller) -> Json<Me> {
    let tenant = caller.tenant().to_owned();
    let Caller { role, user, key, .. } = caller;
    Json(Me { tenant, role, user, key, keyless: app.hosts.keyless() })
}
