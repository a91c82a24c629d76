//! The workers of all processes.

use axum::Json;
use axum::extract::State;

use super::{ApiError, HttpState};
use countersign_view::wire::{WorkerView, load_workers};

/// List the workers and the runs they hold, of all tenants.
#[utoipa::path(get, path = "/v1/workers", tag = "server", responses((status = 200, body = Vec<WorkerView>)))]
pub(crate) async fn list_workers(
    State(app): State<HttpState>,
) -> Result<Json<Vec<WorkerView>>, ApiError> {
    let deps = app.app_state.deps();
    Ok(Json(load_workers(&*deps.store, deps.clock.now().0).await?))
}
