//! Protocols, which runs are started from.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{ApiPath, ApiQuery};
use super::run_reads::{GraphFormatParam, render_graph};
use super::{ApiError, HttpState};
use countersign_view::protocol_catalog::ProtocolCatalog;
use countersign_view::show::graph::WorkflowGraph;
use countersign_view::wire::{ProtocolRow, ProtocolView};

/// Options of a workflow graph.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProtocolGraphQuery {
    /// The workflow to draw. Default: the protocol's default workflow.
    workflow: Option<String>,
    /// The output format: `svg` or `mermaid`. Default: `svg`.
    #[param(value_type = Option<String>)]
    format: Option<GraphFormatParam>,
}

/// List all protocols.
///
/// The folder's protocol comes first, then the shipped ones.
#[utoipa::path(get, path = "/v1/protocols", tag = "protocols", responses((status = 200, body = Vec<ProtocolRow>)))]
pub(crate) async fn list_protocols(
    State(app): State<HttpState>,
) -> Result<Json<Vec<ProtocolRow>>, ApiError> {
    with_catalog(&app, |catalog| Ok(catalog.list_protocols()?)).await.map(Json)
}

/// Get a protocol with its workflows and the findings of `check`.
#[utoipa::path(get, path = "/v1/protocols/{name}", tag = "protocols",
    params(("name" = String, Path, description = "The name of the protocol.")),
    responses((status = 200, body = ProtocolView)))]
pub(crate) async fn get_protocol(
    State(app): State<HttpState>,
    ApiPath(name): ApiPath<String>,
) -> Result<Json<ProtocolView>, ApiError> {
    with_catalog(&app, move |catalog| Ok(catalog.view_protocol(&name)?)).await.map(Json)
}

/// Draw a workflow as a graph.
#[utoipa::path(get, path = "/v1/protocols/{name}/graph", tag = "protocols",
    params(("name" = String, Path, description = "The name of the protocol."), ProtocolGraphQuery),
    responses((status = 200, content((String = "image/svg+xml"), (String = "text/vnd.mermaid")))))]
pub(crate) async fn get_protocol_graph(
    State(app): State<HttpState>,
    ApiPath(name): ApiPath<String>,
    ApiQuery(drawing): ApiQuery<ProtocolGraphQuery>,
) -> Result<Response, ApiError> {
    let ProtocolGraphQuery { workflow, format } = drawing;
    let picture = with_catalog(&app, move |catalog| {
        let (protocol, workflow) =
            catalog.resolve_workflow(Some(&name), workflow.as_deref(), true)?;
        let workflow = protocol
            .find_workflow(&workflow)
            .map_err(|said| ApiError::not_found("unknown_workflow", said))?;
        Ok(WorkflowGraph::from_workflow(workflow))
    });
    Ok(render_graph(&picture.await?, format))
}

/// Runs a function that reads files on a thread that may block.
pub(crate) async fn with_catalog<T: Send + 'static>(
    app: &HttpState,
    work: impl FnOnce(&ProtocolCatalog) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let app_state = std::sync::Arc::clone(&app.app_state);
    let done = tokio::task::spawn_blocking(move || work(app_state.catalog())).await;
    done.map_err(|_| ApiError::internal("internal_error", "reading the protocol files failed"))?
}
