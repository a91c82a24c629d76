//! Whether the server lives, and whether it can do its work.

use axum::Json;
use axum::extract::State;
use countersign_store::{RunFilter, TenantId};
use serde::Serialize;
use utoipa::ToSchema;

use super::{ApiError, HttpState};

/// How the server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct HealthResponse {
    /// `ok`.
    #[schema(example = "ok")]
    pub status: String,
    /// The version of the program.
    pub version: String,
}

fn ok_response() -> Json<HealthResponse> {
    let (status, version) = ("ok".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    Json(HealthResponse { status, version })
}

/// Whether the process answers.
#[utoipa::path(get, path = "/v1/health", tag = "house", responses((status = 200, body = HealthResponse)))]
pub(crate) async fn get_health() -> Json<HealthResponse> {
    ok_response()
}

/// Whether the store and the memory answer, are where they were opened, and have room: whether the next change is
/// likely to be kept. 503 with the reason while they do not; it passes by itself.
#[utoipa::path(get, path = "/v1/ready", tag = "house", responses((status = 200, body = HealthResponse)))]
pub(crate) async fn get_readiness(
    State(app): State<HttpState>,
) -> Result<Json<HealthResponse>, ApiError> {
    let furniture = app.app_state.deps();
    furniture.store.check_ready().await.map_err(|error| not_ready_error("runs", &error.into()))?;
    let newest = RunFilter::newest(TenantId::default(), 1);
    furniture
        .store
        .list_runs(&newest)
        .await
        .map_err(|error| not_ready_error("runs", &error.into()))?;
    if let Some(memory) = &furniture.memory {
        memory.check_ready().await.map_err(|error| not_ready_error("memory", &error.into()))?;
    }
    Ok(ok_response())
}

/// Whatever keeps the server from its work is answered with 503, which those who watch over it understand.
fn not_ready_error(what: &str, error: &ApiError) -> ApiError {
    let problem = error.problem();
    ApiError::unavailable(&problem.code, format!("{what}: {}", problem.detail))
}
