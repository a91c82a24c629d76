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

/// Whether the store and the memory answer, are where they were opened, and have room: whether the next change is
/// likely to be kept. 503 with the reason while they do not; it passes by itself.
#[utoipa::path(get, path = "/v1/ready", tag = "house", responses((status = 200, body = Health)))]
pub(crate) async fn ready(State(app): State<App>) -> Result<Json<Health>, ApiError> {
    let furniture = app.house.furniture();
    furniture.store.check_ready().await.map_err(|error| not_ready("runs", &error.into()))?;
    let newest = RunFilter::newest(TenantId::default(), 1);
    furniture.store.runs(&newest).await.map_err(|error| not_ready("runs", &error.into()))?;
    if let Some(memory) = &furniture.memory {
        memory.check_ready().await.map_err(|error| not_ready("memory", &error.into()))?;
    }
    Ok(well())
}

/// Whatever keeps the server from its work is answered with 503, which those who watch over it understand.
fn not_ready(what: &str, error: &ApiError) -> ApiError {
    let problem = error.problem();
    ApiError::away(&problem.code, format!("{what}: {}", problem.detail))
}
