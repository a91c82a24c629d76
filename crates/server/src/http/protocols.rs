//! Protocols, which runs are started from.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use countersign_models::ScriptExamples;
use countersign_runtime::driver::ModelResolver;
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{ApiPath, ApiQuery};
use super::run_reads::{GraphFormatParam, render_graph};
use super::{ApiError, HttpState};
use countersign_view::protocol_catalog::ProtocolCatalog;
use countersign_view::wire::{AgentView, GraphView, ModelScriptView, ProtocolRow, ProtocolView};

/// Options of a workflow graph.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProtocolGraphQuery {
    /// The workflow to draw. Default: the protocol's default workflow.
    workflow: Option<String>,
    /// The output format: `svg`, `mermaid` or `json`. Default: `svg`.
    #[param(value_type = Option<String>)]
    format: Option<GraphFormatParam>,
}

/// Reads the scripts that play models.
struct ScriptReader {
    models: Arc<dyn ModelResolver>,
    model_override: Option<String>,
}

impl ScriptReader {
    fn new(app: &HttpState) -> Self {
        let deps = app.app_state.deps();
        let (models, model_override) = (Arc::clone(&deps.models), deps.model_override.clone());
        Self { models, model_override }
    }

    /// Reads the script that plays the model of a protocol with this default; `None` if there is
    /// none.
    fn read(&self, default_model: Option<&str>) -> Option<ModelScriptView> {
        let model = self.model_override.as_deref().or(default_model)?;
        let ScriptExamples { inputs, answers } = self.models.load_script_examples(model)?;
        let file = model.strip_prefix("script:")?.to_owned();
        Some(ModelScriptView { file, inputs, answers })
    }
}

/// List all protocols.
///
/// The folder's protocol comes first, then the shipped ones.
#[utoipa::path(get, path = "/v1/protocols", tag = "protocols", responses((status = 200, body = Vec<ProtocolRow>)))]
pub(crate) async fn list_protocols(
    State(app): State<HttpState>,
) -> Result<Json<Vec<ProtocolRow>>, ApiError> {
    let scripts = ScriptReader::new(&app);
    let rows = with_catalog(&app, move |catalog| {
        let mut rows = catalog.list_protocols()?;
        for row in rows.iter_mut().filter(|row| row.origin == "folder") {
            row.script = scripts.read(row.default_model.as_deref());
        }
        Ok(rows)
    });
    rows.await.map(Json)
}

/// Get a protocol with its workflows and the findings of `check`.
#[utoipa::path(get, path = "/v1/protocols/{name}", tag = "protocols",
    params(("name" = String, Path, description = "The name of the protocol.")),
    responses((status = 200, body = ProtocolView)))]
pub(crate) async fn get_protocol(
    State(app): State<HttpState>,
    ApiPath(name): ApiPath<String>,
) -> Result<Json<ProtocolView>, ApiError> {
    let scripts = ScriptReader::new(&app);
    let view = with_catalog(&app, move |catalog| {
        let view = catalog.view_protocol(&name)?;
        let script = scripts.read(view.default_model.as_deref());
        Ok(ProtocolView { script, ..view })
    });
    view.await.map(Json)
}

/// Draw a workflow as a graph.
#[utoipa::path(get, path = "/v1/protocols/{name}/graph", tag = "protocols",
    params(("name" = String, Path, description = "The name of the protocol."), ProtocolGraphQuery),
    responses((status = 200, content((String = "image/svg+xml"), (String = "text/vnd.mermaid"), (GraphView = "application/json")))))]
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
        Ok(render_graph(workflow, |graph| graph, format))
    });
    picture.await
}

/// Options of an agent.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProtocolAgentQuery {
    /// The skill whose whole text is returned. Default: none.
    pub(crate) skill: Option<String>,
}

/// Get an agent of a protocol as it is resolved: prompt, model, tools, skills and rules.
#[utoipa::path(get, path = "/v1/protocols/{name}/agents/{agent}", tag = "protocols",
    params(("name" = String, Path, description = "The name of the protocol."),
        ("agent" = String, Path, description = "The id of the agent."), ProtocolAgentQuery),
    responses((status = 200, body = AgentView)))]
pub(crate) async fn get_protocol_agent(
    State(app): State<HttpState>,
    ApiPath((name, agent)): ApiPath<(String, String)>,
    ApiQuery(ProtocolAgentQuery { skill }): ApiQuery<ProtocolAgentQuery>,
) -> Result<Json<AgentView>, ApiError> {
    let view = with_catalog(&app, move |catalog| {
        Ok(catalog.view_agent(&name, &agent, skill.as_deref())?)
    });
    view.await.map(Json)
}

/// Runs a function that reads files on a thread that may block.
pub(crate) async fn with_catalog<T: Send + 'static>(
    app: &HttpState,
    work: impl FnOnce(&ProtocolCatalog) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let app_state = Arc::clone(&app.app_state);
    let done = tokio::task::spawn_blocking(move || work(app_state.catalog())).await;
    done.map_err(|_| ApiError::internal("internal_error", "reading the protocol files failed"))?
}
