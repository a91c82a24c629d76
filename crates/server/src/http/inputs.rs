//! What a run is given from outside: a reply, an answer, a document, a decision, a person's word.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use countersign_core::run::{InputKind, PendingAction};
use countersign_runtime::driver::build_manual_reply;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::etag::{parse_if_match, version_etag, version_required_error};
use super::extract::{ApiJson, ApiPath};
use super::idempotency_key::IdempotencyKey;
use super::prefer_wait::{PreferWait, await_input_response};
use super::{ApiError, HttpState};
use crate::access::Caller;
use crate::wire::InputResponse;

/// A reply in a model's place, or a patch.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "{\"points\": []}", "action": "2.0.1" }))]
pub(crate) struct SubmitReplyRequest {
    /// The text, as a model would give it.
    text: String,
    /// The order it answers, as `next` names it; without one, `If-Match` must say the version.
    action: Option<String>,
}

/// An answer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "value": 3 }))]
pub(crate) struct AnswerRequest {
    /// The answer, in the shape that is asked for; the id of a choice.
    #[serde(deserialize_with = "deserialize_present")]
    value: Value,
}

/// Null is an answer too, and an absent one is none.
fn deserialize_present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
    Value::deserialize(from)
}

/// Why somebody says yes or no.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "note": "well written" }))]
pub(crate) struct DecisionRequest {
    /// Why.
    note: Option<String>,
}

/// Why somebody stops or ends a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "wrong input" }))]
pub(crate) struct StopRunRequest {
    /// Why.
    reason: Option<String>,
}

/// What more may be spent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "grants": { "tokens": 10000 } }))]
pub(crate) struct ResumeRequest {
    /// By budget, `name` or `name@phase`; money in millionths, times in milliseconds.
    #[serde(default)]
    grants: BTreeMap<String, u64>,
}

/// What comes with every input: the run, the key, the version it was decided on, how long to wait.
pub(crate) struct SubmitOptions {
    pub(crate) run: String,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) expected_version: Option<u64>,
    pub(crate) prefer_wait: PreferWait,
}

impl SubmitOptions {
    pub(super) fn from_headers(
        run: String,
        key: Option<String>,
        headers: &HeaderMap,
    ) -> Result<Self, ApiError> {
        let (at, patience) = (parse_if_match(headers)?, PreferWait::from_headers(headers)?);
        Ok(Self { run, idempotency_key: key, expected_version: at, prefer_wait: patience })
    }
}

/// Whether an input that a key was used for is the one that comes now.
pub(crate) type InputMatcher = Box<dyn Fn(&InputKind) -> bool + Send + Sync>;

/// Gives a run something, by whichever door, and tells where it stands then.
pub(crate) async fn submit_input(
    app: &HttpState,
    caller: &Caller,
    along: SubmitOptions,
    what: InputKind,
) -> Result<InputResponse, ApiError> {
    let same = what.clone();
    let matching: InputMatcher = Box::new(move |kept: &InputKind| *kept == same);
    submit_input_matching(app, caller, along, what, &matching).await
}

/// The same, where an input that comes again need not be equal in everything. One that came before under its key is
/// told as it was taken then; where the client waits for the run to rest, the run as it rests now.
pub(crate) async fn submit_input_matching(
    app: &HttpState,
    caller: &Caller,
    along: SubmitOptions,
    what: InputKind,
    matching: &InputMatcher,
) -> Result<InputResponse, ApiError> {
    let SubmitOptions { run, idempotency_key: key, expected_version: at, prefer_wait: patience } =
        along;
    let engine = &caller.runtime.engine;
    let repeated = match &key {
        Some(key) => engine.find_repeated_input(&run, key, matching).await?,
        None => None,
    };
    let (outcome, then) = match repeated {
        Some(outcome) => {
            let then = outcome.state.clone();
            (outcome, Some(then))
        }
        None => (engine.submit_input_if(&run, what, key, at).await?, None),
    };
    let refused = outcome.violations().map(<[_]>::to_vec);
    await_input_response(app, caller, &run, refused, patience, then).await
}

async fn submit_and_respond(
    app: &HttpState,
    caller: &Caller,
    along: SubmitOptions,
    what: InputKind,
) -> Result<Response, ApiError> {
    Ok(respond_with_etag(submit_input(app, caller, along, what).await?))
}

pub(super) fn respond_with_etag(taken: InputResponse) -> Response {
    ([(header::ETAG, version_etag(taken.version))], Json(taken)).into_response()
}

/// Hands in a reply in a model's place, or a patch where nobody in particular is asked. A reply that is refused
/// is taken too: `violations` says everything that is wrong with it.
#[utoipa::path(post, path = "/v1/runs/{run}/submit", tag = "runs", request_body = SubmitReplyRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input."),
        ("If-Match" = Option<String>, Header, description = "The version it was decided on.")),
    responses((status = 200, body = InputResponse)))]
pub(crate) async fn submit_reply(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    ApiJson(SubmitReplyRequest { text, action }): ApiJson<SubmitReplyRequest>,
) -> Result<Response, ApiError> {
    let along = SubmitOptions::from_headers(run, key, &headers)?;
    Ok(respond_with_etag(submit_reply_text(&app, &caller, along, text, action).await?))
}

/// Hands in a reply: to the order that is named, to the one that is out, or as a patch.
pub(crate) async fn submit_reply_text(
    app: &HttpState,
    caller: &Caller,
    along: SubmitOptions,
    text: String,
    action: Option<String>,
) -> Result<InputResponse, ApiError> {
    if action.is_none() && along.expected_version.is_none() {
        let detail = "name the order as `action`, or the version that was seen (over HTTP as `If-Match`): the run may have gone on";
        return Err(version_required_error(detail));
    }
    let state = caller.runtime.engine.get_run(&along.run).await?.state;
    let out = state.pending.iter().find(|(_, order)| matches!(order, PendingAction::Model { .. }));
    let by = caller.user.clone();
    let what = match action.as_ref().or(out.map(|(id, _)| id)) {
        Some(action) => build_manual_reply(action, &text, &by),
        None => InputKind::Submitted { text: text.clone(), by: by.clone() },
    };
    let matching: InputMatcher =
        Box::new(move |kept| is_same_reply(kept, &text, action.as_deref(), &by));
    submit_input_matching(app, caller, along, what, &matching).await
}

/// Whether a reply that was taken is the one that comes again. Without an action it was taken for the order that
/// was out then, which is over by now.
fn is_same_reply(kept: &InputKind, text: &str, action: Option<&str>, by: &str) -> bool {
    let InputKind::ModelReplied(reply) = kept else {
        let submitted = InputKind::Submitted { text: text.to_owned(), by: by.to_owned() };
        return *kept == submitted && action.is_none();
    };
    let mut again = build_manual_reply(&reply.action, text, by);
    if let InputKind::ModelReplied(again) = &mut again {
        // Which build was shown is found out anew for every reply.
        again.build.clone_from(&reply.build);
    }
    *kept == again && action.is_none_or(|action| action == reply.action)
}

/// Answers a question. One answer is taken.
#[utoipa::path(post, path = "/v1/runs/{run}/waits/{wait}/answer", tag = "inbox", request_body = AnswerRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("wait" = String, Path, description = "The id of the wait."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input.")),
    responses((status = 200, body = InputResponse)))]
pub(crate) async fn answer_wait(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath((run, wait)): ApiPath<(String, String)>,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    ApiJson(AnswerRequest { value }): ApiJson<AnswerRequest>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = SubmitOptions::from_headers(run, key, &headers)?;
    submit_and_respond(&app, &caller, along, InputKind::Answered { wait, value, by }).await
}

/// Says yes to what waits for it: a way, more of a budget, another try.
#[utoipa::path(post, path = "/v1/runs/{run}/waits/{wait}/approve", tag = "inbox", request_body = DecisionRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("wait" = String, Path, description = "The id of the wait."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input.")),
    responses((status = 200, body = InputResponse)))]
pub(crate) async fn approve_wait(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath((run, wait)): ApiPath<(String, String)>,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    ApiJson(DecisionRequest { note }): ApiJson<DecisionRequest>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = SubmitOptions::from_headers(run, key, &headers)?;
    submit_and_respond(&app, &caller, along, InputKind::Decided { wait, approve: true, by, note })
        .await
}

/// Says no to what waits for a yes.
#[utoipa::path(post, path = "/v1/runs/{run}/waits/{wait}/deny", tag = "inbox", request_body = DecisionRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("wait" = String, Path, description = "The id of the wait."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input.")),
    responses((status = 200, body = InputResponse)))]
pub(crate) async fn deny_wait(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath((run, wait)): ApiPath<(String, String)>,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    ApiJson(DecisionRequest { note }): ApiJson<DecisionRequest>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = SubmitOptions::from_headers(run, key, &headers)?;
    submit_and_respond(&app, &caller, along, InputKind::Decided { wait, approve: false, by, note })
        .await
}

/// Stops a run until it is resumed.
#[utoipa::path(post, path = "/v1/runs/{run}/halt", tag = "runs", request_body = StopRunRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input."),
        ("If-Match" = Option<String>, Header, description = "The version it was decided on.")),
    responses((status = 200, body = InputResponse)))]
pub(crate) async fn halt_run(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    ApiJson(StopRunRequest { reason }): ApiJson<StopRunRequest>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = SubmitOptions::from_headers(run, key, &headers)?;
    submit_and_respond(&app, &caller, along, InputKind::Halted { by, reason }).await
}

/// Lets a halted or blocked run go on, with more of a budget where that is said.
#[utoipa::path(post, path = "/v1/runs/{run}/resume", tag = "runs", request_body = ResumeRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input."),
        ("If-Match" = Option<String>, Header, description = "The version it was decided on.")),
    responses((status = 200, body = InputResponse)))]
pub(crate) async fn resume_run(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    ApiJson(ResumeRequest { grants }): ApiJson<ResumeRequest>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = SubmitOptions::from_headers(run, key, &headers)?;
    submit_and_respond(&app, &caller, along, InputKind::Resumed { by, grants }).await
}

/// Ends a run for good.
#[utoipa::path(post, path = "/v1/runs/{run}/cancel", tag = "runs", request_body = StopRunRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input."),
        ("If-Match" = Option<String>, Header, description = "The version it was decided on.")),
    responses((status = 200, body = InputResponse)))]
pub(crate) async fn cancel_run(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    ApiJson(StopRunRequest { reason }): ApiJson<StopRunRequest>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = SubmitOptions::from_headers(run, key, &headers)?;
    submit_and_respond(&app, &caller, along, InputKind::Cancelled { by, reason }).await
}
