//! Starting runs, and forking them.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use countersign_core::run::Start;
use countersign_runtime::engine::Otherwise;
use countersign_store::TenantId;
use serde::Deserialize;
use serde_json::Value;
use tokio::task::spawn_blocking;
use utoipa::ToSchema;

use super::etag::etag;
use super::extract::{At, Body};
use super::given::{Patience, taken};
use super::idempotency::Once;
use super::protocols::of_files;
use super::{ApiError, App};
use crate::access::{Caller, Role};
use crate::wire::Taken;

/// What a run is started with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "protocol": "demo", "model": "human" }))]
pub(crate) struct NewRun {
    /// The protocol by name; that of the folder where absent.
    pub(crate) protocol: Option<String>,
    /// The workflow by id; the protocol's default where absent.
    pub(crate) workflow: Option<String>,
    /// What it is given, as its workflow's `input` wants it.
    pub(crate) input: Option<Value>,
    /// What is merged into its first document.
    #[schema(value_type = Option<Object>)]
    pub(crate) document: Option<Value>,
    /// The model that is asked, whatever agents and index say: `openai:NAME`, `human`, ….
    pub(crate) model: Option<String>,
}

/// What a fork does otherwise.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "at": 3, "model": "human" }))]
pub(crate) struct NewFork {
    /// The version it goes on from; the newest where absent.
    at: Option<u64>,
    /// Another protocol by name, so that a changed prompt or contract can be tried.
    protocol: Option<String>,
    /// Another model.
    model: Option<String>,
}

/// Starts a run. It is worked on at once; `Location` says where it is.
#[utoipa::path(post, path = "/v1/runs", tag = "runs", request_body = NewRun,
    params(("Idempotency-Key" = Option<String>, Header, description = "The same key twice starts one run.")),
    responses((status = 201, body = Taken)))]
pub(crate) async fn start(
    State(app): State<App>,
    caller: Caller,
    Once(key): Once,
    headers: HeaderMap,
    Body(new): Body<NewRun>,
) -> Result<Response, ApiError> {
    let patience = Patience::of(&headers)?;
    let keyed = key.is_some();
    let run = begun(&app, &caller, new, key).await?;
    created(&app, &caller, &run, patience, keyed).await
}

/// Begins a run, by whichever door; its id.
pub(crate) async fn begun(
    app: &App,
    caller: &Caller,
    new: NewRun,
    key: Option<String>,
) -> Result<String, ApiError> {
    let NewRun { protocol, workflow, input, document, model } = new;
    let model = named(app, caller, model).await?.or_else(|| app.house.furniture().model.clone());
    let with_model = model.is_some();
    let (protocol, workflow) = of_files(app, move |catalog| {
        Ok(catalog.meant(protocol.as_deref(), workflow.as_deref(), with_model)?)
    })
    .await?;
    let start = Start {
        protocol: protocol.digest.clone(),
        workflow,
        document,
        input,
        model,
        by: Some(caller.user.clone()),
        ..Start::default()
    };
    Ok(caller.desk.engine.begin(&protocol, start, key).await?)
}

/// Begins a new run from a version of this one.
#[utoipa::path(post, path = "/v1/runs/{run}/fork", tag = "runs", request_body = NewFork,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice begins one run.")),
    responses((status = 201, body = Taken)))]
pub(crate) async fn fork(
    State(app): State<App>,
    caller: Caller,
    At(run): At<String>,
    Once(key): Once,
    headers: HeaderMap,
    Body(NewFork { at, protocol, model }): Body<NewFork>,
) -> Result<Response, ApiError> {
    let patience = Patience::of(&headers)?;
    let model = named(&app, &caller, model).await?;
    let protocol = match protocol {
        None => None,
        Some(name) => {
            let meant =
                of_files(&app, move |catalog| Ok(catalog.meant(Some(&name), None, true)?));
            Some(meant.await?.0)
        }
    };
    let otherwise = Otherwise { at, protocol, model, by: caller.user.clone() };
    let keyed = key.is_some();
    let (fork, _) = caller.desk.engine.fork(&run, otherwise, key).await?;
    created(&app, &caller, &fork, patience, keyed).await
}

async fn created(
    app: &App,
    caller: &Caller,
    run: &str,
    patience: Patience,
    keyed: bool,
) -> Result<Response, ApiError> {
    // A run that is begun again under its key is told as it began.
    let then = if keyed { Some(caller.desk.engine.at(run, Some(1)).await?.state) } else { None };
    let taken = taken(app, caller, run, None, patience, then).await?;
    let headers = [
        (
            header::LOCATION,
            format!("/v1/runs/{run}")
                .parse()
                .map_err(|_| ApiError::ours("name", "the id of the run is no path"))?,
        ),
        (header::ETAG, etag(taken.version)),
    ];
    Ok((StatusCode::CREATED, headers, Json(taken)).into_response())
}

/// The model that a caller names, where they may. A script is a file of this machine, and another address would
/// get this machine's keys: both are for whoever owns the house, whose word is kept.
async fn named(
    app: &App,
    caller: &Caller,
    model: Option<String>,
) -> Result<Option<String>, ApiError> {
    let owner = caller.role == Role::Admin && caller.tenant() == TenantId::default().as_str();
    let reaches = |model: &String| model.contains('@') || model.starts_with("script:");
    let Some(reaching) = model.clone().filter(reaches) else { return Ok(model) };
    if !owner {
        let detail = "only an admin of tenant `local` names a script, or a model at an address";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "model", detail));
    }
    let furniture = app.house.furniture();
    let (guard, by, now) = (furniture.guard.clone(), caller.user.clone(), furniture.clock.now());
    let kept = spawn_blocking(move || guard.trust_model(&reaching, &by, now)).await;
    match kept {
        Ok(Ok(())) => Ok(model),
        Ok(Err(error)) => Err(ApiError::ours("trust", error.to_string())),
        Err(_) => Err(ApiError::ours("trust", "keeping the server of the model broke off")),
    }
}
