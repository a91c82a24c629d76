//! Who works on runs.

use axum::Json;
use axum::extract::State;

use super::{ApiError, HttpState};
use crate::wire::{WorkerView, load_workers};

/// Who works on runs, and what they hold; of the whole house.
#[utoipa::path(get, path = "/v1/workers", tag = "house", responses((status = 200, body = Vec<WorkerView>)))]
pub(crate) async fn list_workers(
    State(app): State<HttpState>,
) -> Result<Json<Vec<WorkerView>>, ApiError> {
    let furniture = app.app_state.deps();
    Ok(Json(load_workers(&*furniture.store, furniture.clock.now().0).await?))
}
