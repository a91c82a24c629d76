//! Who works on runs.

use axum::Json;
use axum::extract::State;

use super::{ApiError, App};
use crate::wire::{WorkerView, workers};

/// Who works on runs, and what they hold; of the whole house.
#[utoipa::path(get, path = "/v1/workers", tag = "house", responses((status = 200, body = Vec<WorkerView>)))]
pub(crate) async fn list(State(app): State<App>) -> Result<Json<Vec<WorkerView>>, ApiError> {
    let furniture = app.house.furniture();
    Ok(Json(workers(&*furniture.store, furniture.clock.now().0).await?))
}
