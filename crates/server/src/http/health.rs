//! Liveness and readiness of the server.

use axum::Json;
use axum::extract::State;
use countersign_store::{RunFilter, TenantId};
use serde::Serialize;
use utoipa::ToSchema;

use super::{ApiError, HttpState};

/// The liveness of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct HealthResponse {
    /// The status of the process; always `ok`.
    #[schema(example = "ok")]
    pub status: String,
    /// The version of the program.
    pub version: String,
}

fn ok_response() -> Json<HealthResponse> {
    let (status, version) = ("ok".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    Json(HealthResponse { status, version })
}

/// Check whether the process responds.
#[utoipa::path(get, path = "/v1/health", tag = "server", responses((status = 200, body = HealthResponse)))]
pub(crate) async fn get_health() -> Json<HealthResponse> {
    ok_response()
}

/// Check whether the server can save changes.
///
/// Verifies that the store and the memory respond, that their files were not replaced, and that
/// there is disk space. Returns 503 with the reason otherwise; the condition ends without
/// intervention.
#[utoipa::path(get, path = "/v1/ready", tag = "server", responses((status = 200, body = HealthResponse)))]
pub(crate) async fn get_readiness(
    State(app): State<HttpState>,
) -> Result<Json<HealthResponse>, ApiError> {
    let deps = app.app_state.deps();
    deps.store.check_ready().await.map_err(|error| not_ready_error("runs", &error.into()))?;
    let newest = RunFilter::newest(TenantId::default(), 1);
    deps.store.list_runs(&newest).await.map_err(|error| not_ready_error("runs", &error.into()))?;
    if let Some(memory) = &deps.memory {
        memory.check_ready().await.map_err(|error| not_ready_error("memory", &error.into()))?;
    }
    Ok(ok_response())
}

/// Turns any error into status 503, which monitoring systems understand.
fn not_ready_error(what: &str, error: &ApiError) -> ApiError {
    let problem = error.problem();
    ApiError::unavailable(&problem.code, format!("{what}: {}", problem.detail))
}
