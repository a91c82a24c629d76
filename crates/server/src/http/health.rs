//! Whether the server lives, and whether it can do its work.

use axum::Json;
use axum::extract::State;
use countersign_store::{RunFilter, TenantId};
use serde::Serialize;
use utoipa::ToSchema;

use super::{ApiError, App};

/// How the server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`.
    #[schema(example = "ok")]
    pub status: String,
    /// The version of the program.
    pub version: String,
}

fn well() -> Json<Health> {
    let (status, version) = ("ok".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    Json(Health { status, version })
}

/// Whether the process answers.
#[utoipa::path(get, path = "/v1/health", tag = "house", responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Json<Health> {
    well()
}

/// Whether the store answers too.
#[utoipa::path(get, path = "/v1/ready", tag = "house", responses((status = 200, body = Health)))]
pub(crate) async fn ready(State(app): State<App>) -> Result<Json<Health>, ApiError> {
    app.house.furniture().store.runs(&RunFilter::newest(TenantId::default(), 1)).await?;
    Ok(well())
}
