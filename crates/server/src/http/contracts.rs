//! Contracts, which replies are validated against.

use axum::Json;
use axum::extract::State;
use countersign_schema_tools::{ExportTarget, export_contract as exported};
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{ApiPath, ApiQuery};
use super::protocols::with_catalog;
use super::{ApiError, HttpState};
use countersign_view::wire::{ContractExportView, ContractRow, ContractView};

/// The target format of an export.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContractExportQuery {
    /// The provider or format: `openai`, `anthropic`, `gemini` or `grammar`.
    target: String,
}

/// List all contracts.
///
/// Contains the shipped contracts and those of the folder's protocol.
#[utoipa::path(get, path = "/v1/contracts", tag = "contracts", responses((status = 200, body = Vec<ContractRow>)))]
pub(crate) async fn list_contracts(
    State(app): State<HttpState>,
) -> Result<Json<Vec<ContractRow>>, ApiError> {
    let registry = with_catalog(&app, |catalog| Ok(catalog.load_registry())).await?;
    Ok(Json(registry.iter().map(|contract| ContractRow::from(&**contract)).collect()))
}

/// Get a contract.
#[utoipa::path(get, path = "/v1/contracts/{id}", tag = "contracts",
    params(("id" = String, Path, description = "An id, or `id@version`.")),
    responses((status = 200, body = ContractView)))]
pub(crate) async fn get_contract(
    State(app): State<HttpState>,
    ApiPath(id): ApiPath<String>,
) -> Result<Json<ContractView>, ApiError> {
    let registry = with_catalog(&app, |catalog| Ok(catalog.load_registry())).await?;
    Ok(Json(ContractView::from(&**registry.find(&id)?)))
}

/// Export a contract for a model provider.
///
/// Returns the schema or grammar that the provider accepts, and lists what it cannot express.
#[utoipa::path(get, path = "/v1/contracts/{id}/export", tag = "contracts",
    params(("id" = String, Path, description = "An id, or `id@version`."), ContractExportQuery),
    responses((status = 200, body = ContractExportView)))]
pub(crate) async fn get_contract_export(
    State(app): State<HttpState>,
    ApiPath(id): ApiPath<String>,
    ApiQuery(ContractExportQuery { target }): ApiQuery<ContractExportQuery>,
) -> Result<Json<ContractExportView>, ApiError> {
    let target = ExportTarget::parse(&target).ok_or_else(|| {
        let there = "expected openai, anthropic, gemini or grammar";
        ApiError::bad_request("bad_query", format!("unknown target `{target}`; {there}"))
    })?;
    let registry = with_catalog(&app, |catalog| Ok(catalog.load_registry())).await?;
    let contract = registry.find(&id)?;
    Ok(Json(ContractExportView::from_export(&exported(contract, target), target)))
}
