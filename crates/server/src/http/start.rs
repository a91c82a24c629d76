//! Starting and forking runs.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use countersign_run::RunStart;
use countersign_runtime::engine::ForkOptions;
use countersign_store::TenantId;
use serde::Deserialize;
use serde_json::Value;
use tokio::task::spawn_blocking;
use utoipa::ToSchema;

use super::etag::version_etag;
use super::extract::{ApiJson, ApiPath};
use super::idempotency_key::IdempotencyKey;
use super::prefer_wait::{PreferWait, await_input_response};
use super::protocols::with_catalog;
use super::{ApiError, HttpState};
use crate::access::{AccessRole, Caller};
use countersign_view::wire::InputResponse;

/// The properties of a new run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "protocol": "demo", "model": "human" }))]
pub(crate) struct StartRunRequest {
    /// The name of the protocol. Default: the folder's protocol.
    pub(crate) protocol: Option<String>,
    /// The id of the workflow. Default: the protocol's default workflow.
    pub(crate) workflow: Option<String>,
    /// The input of the run, as the workflow's `input` declares it.
    pub(crate) input: Option<Value>,
    /// An object to merge into the initial document.
    #[schema(value_type = Option<Object>)]
    pub(crate) document: Option<Value>,
    /// The id of an earlier run whose conversation this one continues: memory shows it what was
    /// said there.
    pub(crate) continues: Option<String>,
    /// The model to use instead of those that the protocol names: `openai:NAME`, `human`, ….
    pub(crate) model: Option<String>,
}

/// The properties of a forked run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "version": 3, "model": "human" }))]
pub(crate) struct ForkRunRequest {
    /// The version to fork from. Default: the newest.
    version: Option<u64>,
    /// The name of another protocol, to try a changed prompt or contract. Default: the same
    /// protocol.
    protocol: Option<String>,
    /// Another model to use. Default: the same model.
    model: Option<String>,
}

/// Start a run.
///
/// A worker starts on the run immediately. `Location` contains its URL.
#[utoipa::path(post, path = "/v1/runs", tag = "runs", request_body = StartRunRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "Requests with the same key start one run.")),
    responses((status = 201, body = InputResponse)))]
pub(crate) async fn start_run(
    State(app): State<HttpState>,
    caller: Caller,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    ApiJson(new): ApiJson<StartRunRequest>,
) -> Result<Response, ApiError> {
    let patience = PreferWait::from_headers(&headers)?;
    let keyed = key.is_some();
    let run = begin_run(&app, &caller, new, key).await?;
    respond_created(&app, &caller, &run, patience, keyed).await
}

/// Starts a run and returns its id. Used by HTTP and MCP.
pub(crate) async fn begin_run(
    app: &HttpState,
    caller: &Caller,
    new: StartRunRequest,
    key: Option<String>,
) -> Result<String, ApiError> {
    let StartRunRequest { protocol, workflow, input, document, continues, model } = new;
    let model = authorize_model(app, caller, model)
        .await?
        .or_else(|| app.app_state.deps().model_override.clone());
    let with_model = model.is_some();
    let (protocol, workflow) = with_catalog(app, move |catalog| {
        Ok(catalog.resolve_workflow(protocol.as_deref(), workflow.as_deref(), with_model)?)
    })
    .await?;
    let engine = &caller.runtime.engine;
    let continues = match continues {
        Some(run) => Some(engine.find_continued_run(&run).await?),
        None => None,
    };
    let start = RunStart {
        protocol: protocol.digest.clone(),
        workflow,
        document,
        input,
        model,
        by: Some(caller.user.clone()),
        sender: Some(caller.sender.clone()),
        continues,
        ..RunStart::default()
    };
    Ok(engine.start_run(&protocol, start, key).await?)
}

/// Fork a run.
///
/// Starts a new run from a version of this one.
#[utoipa::path(post, path = "/v1/runs/{run}/fork", tag = "runs", request_body = ForkRunRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "Requests with the same key start one run.")),
    responses((status = 201, body = InputResponse)))]
pub(crate) async fn fork_run(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    ApiJson(ForkRunRequest { version, protocol, model }): ApiJson<ForkRunRequest>,
) -> Result<Response, ApiError> {
    let patience = PreferWait::from_headers(&headers)?;
    let model = authorize_model(&app, &caller, model).await?;
    let protocol = match protocol {
        None => None,
        Some(name) => {
            let meant = with_catalog(&app, move |catalog| {
                Ok(catalog.resolve_workflow(Some(&name), None, true)?)
            });
            Some(meant.await?.0)
        }
    };
    let otherwise = ForkOptions {
        version,
        protocol,
        model,
        by: caller.user.clone(),
        sender: Some(caller.sender.clone()),
    };
    let keyed = key.is_some();
    let (fork, _) = caller.runtime.engine.fork_run(&run, otherwise, key).await?;
    respond_created(&app, &caller, &fork, patience, keyed).await
}

async fn respond_created(
    app: &HttpState,
    caller: &Caller,
    run: &str,
    patience: PreferWait,
    keyed: bool,
) -> Result<Response, ApiError> {
    // A repeated start with the same key returns the run as it was at its start.
    let then = if keyed {
        Some(caller.runtime.engine.load_version(run, Some(1)).await?.state)
    } else {
        None
    };
    let taken = await_input_response(app, caller, run, None, patience, then).await?;
    let headers = [
        (
            header::LOCATION,
            format!("/v1/runs/{run}")
                .parse()
                .map_err(|_| ApiError::internal("name", "the run id is not a valid URL path"))?,
        ),
        (header::ETAG, version_etag(taken.version)),
    ];
    Ok((StatusCode::CREATED, headers, Json(taken)).into_response())
}

/// Checks the model that a caller names. A script is a file on this machine, and a model at a
/// custom address would receive this machine's keys, so only an admin of tenant `default` may name
/// them; the server records such a model as trusted.
async fn authorize_model(
    app: &HttpState,
    caller: &Caller,
    model: Option<String>,
) -> Result<Option<String>, ApiError> {
    let owner = caller.role == AccessRole::Admin && caller.tenant() == TenantId::default().as_str();
    let reaches = |model: &String| model.contains('@') || model.starts_with("script:");
    let Some(reaching) = model.clone().filter(reaches) else { return Ok(model) };
    if !owner {
        let detail =
            "only an admin of tenant `default` can name a script or a model with a custom address";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "model", detail));
    }
    let deps = app.app_state.deps();
    let (guard, by, now) = (deps.guard.clone(), caller.user.clone(), deps.clock.now());
    let kept = spawn_blocking(move || guard.trust_model(&reaching, &by, now)).await;
    match kept {
        Ok(Ok(())) => Ok(model),
        Ok(Err(error)) => Err(ApiError::internal("trust", error.to_string())),
        Err(_) => Err(ApiError::internal("trust", "saving the model server as trusted failed")),
    }
}
