//! Contracts: what replies are held against.

use axum::Json;
use axum::extract::State;
use countersign_core::contract::{Target, export as exported};
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{Asked, At};
use super::protocols::of_files;
use super::{ApiError, App};
use crate::wire::{ContractExport, ContractRow, ContractView};

/// Who shall take it.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct For {
    /// `openai`, `anthropic`, `gemini` or `grammar`.
    target: String,
}

/// Every contract: those that ship, and those of the folder's protocol.
#[utoipa::path(get, path = "/v1/contracts", tag = "contracts", responses((status = 200, body = Vec<ContractRow>)))]
pub(crate) async fn list(State(app): State<App>) -> Result<Json<Vec<ContractRow>>, ApiError> {
    let registry = of_files(&app, |catalog| Ok(catalog.registry())).await?;
    Ok(Json(registry.iter().map(|contract| ContractRow::from(&**contract)).collect()))
}

/// One contract whole.
#[utoipa::path(get, path = "/v1/contracts/{id}", tag = "contracts",
    params(("id" = String, Path, description = "An id, or `id@version`.")),
    responses((status = 200, body = ContractView)))]
pub(crate) async fn show(
    State(app): State<App>,
    At(id): At<String>,
) -> Result<Json<ContractView>, ApiError> {
    let registry = of_files(&app, |catalog| Ok(catalog.registry())).await?;
    Ok(Json(ContractView::from(&**registry.find(&id)?)))
}

/// The schema or grammar a provider can take, and what it cannot say.
#[utoipa::path(get, path = "/v1/contracts/{id}/export", tag = "contracts",
    params(("id" = String, Path, description = "An id, or `id@version`."), For),
    responses((status = 200, body = ContractExport)))]
pub(crate) async fn export(
    State(app): State<App>,
    At(id): At<String>,
    Asked(For { target }): Asked<For>,
) -> Result<Json<ContractExport>, ApiError> {
    let target = Target::parse(&target).ok_or_else(|| {
        let there = "there are openai, anthropic, gemini, grammar";
        ApiError::bad("bad_query", format!("no target `{target}`; {there}"))
    })?;
    let registry = of_files(&app, |catalog| Ok(catalog.registry())).await?;
    let contract = registry.find(&id)?;
    Ok(Json(ContractExport::of(&exported(contract, target), target)))
}
