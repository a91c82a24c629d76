//! Protocols: what runs can be started of.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{Asked, At};
use super::looks::{Format, drawn};
use super::{ApiError, App};
use crate::catalog::Catalog;
use crate::show::graph::Picture;
use crate::wire::{ProtocolRow, ProtocolView};

/// Which drawing.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drawing {
    /// The workflow; the default one where absent.
    workflow: Option<String>,
    /// `svg` (where absent) or `mermaid`.
    #[param(value_type = Option<String>)]
    format: Option<Format>,
}

/// Every protocol: that of the folder first, then those that ship.
#[utoipa::path(get, path = "/v1/protocols", tag = "protocols", responses((status = 200, body = Vec<ProtocolRow>)))]
pub(crate) async fn list(State(app): State<App>) -> Result<Json<Vec<ProtocolRow>>, ApiError> {
    of_files(&app, |catalog| Ok(catalog.rows()?)).await.map(Json)
}

/// One protocol: its workflows, and what `check` finds in it.
#[utoipa::path(get, path = "/v1/protocols/{name}", tag = "protocols",
    params(("name" = String, Path, description = "Its name.")),
    responses((status = 200, body = ProtocolView)))]
pub(crate) async fn show(
    State(app): State<App>,
    At(name): At<String>,
) -> Result<Json<ProtocolView>, ApiError> {
    of_files(&app, move |catalog| Ok(catalog.view(&name)?)).await.map(Json)
}

/// A workflow as a drawing.
#[utoipa::path(get, path = "/v1/protocols/{name}/graph", tag = "protocols",
    params(("name" = String, Path, description = "The name of the protocol."), Drawing),
    responses((status = 200, content((String = "image/svg+xml"), (String = "text/vnd.mermaid")))))]
pub(crate) async fn graph(
    State(app): State<App>,
    At(name): At<String>,
    Asked(drawing): Asked<Drawing>,
) -> Result<Response, ApiError> {
    let Drawing { workflow, format } = drawing;
    let picture = of_files(&app, move |catalog| {
        let (protocol, workflow) = catalog.meant(Some(&name), workflow.as_deref(), true)?;
        let workflow = protocol
            .workflow(&workflow)
            .map_err(|said| ApiError::missing("unknown_workflow", said))?;
        Ok(Picture::of(workflow))
    });
    Ok(drawn(&picture.await?, format))
}

/// Does something that reads files, where it holds nobody up.
pub(crate) async fn of_files<T: Send + 'static>(
    app: &App,
    work: impl FnOnce(&Catalog) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let house = std::sync::Arc::clone(&app.house);
    let done = tokio::task::spawn_blocking(move || work(house.catalog())).await;
    done.map_err(|_| ApiError::ours("broke_down", "reading the files broke down"))?
}
