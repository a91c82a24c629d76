//! Inputs to runs: replies, answers, documents, decisions, and the commands halt, resume and
//! cancel.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use countersign_run::{InputKind, PendingAction};
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
use countersign_view::wire::InputResponse;

/// A reply on behalf of a model, or a patch.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "{\"points\": []}", "action": "2.0.1" }))]
pub(crate) struct SubmitReplyRequest {
    /// The text of the reply, as a model would write it.
    text: String,
    /// The action that the reply answers, as `next` reports it. Without it, `If-Match` must contain
    /// the version.
    action: Option<String>,
}

/// An answer to a question.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "value": 3 }))]
pub(crate) struct AnswerRequest {
    /// The answer, in the shape that the wait asks for. For a choice: its id.
    #[serde(deserialize_with = "deserialize_present")]
    value: Value,
}

/// Accepts null as an answer, but not an absent member.
fn deserialize_present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
    Value::deserialize(from)
}

/// A note on an approval or a denial.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "note": "well written" }))]
pub(crate) struct DecisionRequest {
    /// The reason for the decision, recorded with it.
    note: Option<String>,
    /// The `subject.digest` of the wait that the person saw. Required to approve a wait that has a
    /// subject; if the subject has changed since, the decision is refused with `subject_changed`.
    subject: Option<String>,
}

/// The user who may decide a wait from now on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "to": "ben", "note": "on leave" }))]
pub(crate) struct DelegationRequest {
    /// The name of the user.
    to: String,
    /// The reason, recorded with the delegation.
    note: Option<String>,
}

/// The reason for halting or cancelling a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "wrong input" }))]
pub(crate) struct StopRunRequest {
    /// The reason, recorded in the log.
    reason: Option<String>,
}

/// Additional budget for a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "grants": { "tokens": 10000 } }))]
pub(crate) struct ResumeRequest {
    /// Additional amount by budget, `name` or `name@phase`. Money is in millionths of the currency,
    /// time in milliseconds.
    #[serde(default)]
    grants: BTreeMap<String, u64>,
}

/// The options of every input: the run, the idempotency key, the expected version, and how long to
/// wait.
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

/// Decides whether the input stored under an idempotency key equals the current one.
pub(crate) type InputMatcher = Box<dyn Fn(&InputKind) -> bool + Send + Sync>;

/// Submits an input to a run and returns the resulting state. Used by HTTP and MCP.
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

/// Submits an input with a custom comparison for repeated keys. For an input that was already
/// accepted under its key, returns the state right after that input; if the client waits for the
/// run to pause, returns the current state.
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
        None => (engine.submit_input_if(&run, caller.attribute(what), key, at).await?, None),
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

/// Submit a reply on behalf of a model, or a patch.
///
/// A patch is accepted when the phase has no assigned work. A reply that violates its contract is
/// recorded too: `violations` lists everything that is wrong with it.
#[utoipa::path(post, path = "/v1/runs/{run}/submit", tag = "runs", request_body = SubmitReplyRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "Requests with the same key submit the input once."),
        ("If-Match" = Option<String>, Header, description = "The version of the run that the input is based on.")),
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

/// Submits a reply to the named action, to the pending model action, or as a patch.
pub(crate) async fn submit_reply_text(
    app: &HttpState,
    caller: &Caller,
    along: SubmitOptions,
    text: String,
    action: Option<String>,
) -> Result<InputResponse, ApiError> {
    if action.is_none() && along.expected_version.is_none() {
        let detail = "set `action`, or the version that you read (over HTTP: `If-Match`), because the run may have changed since";
        return Err(version_required_error(detail));
    }
    let state = caller.runtime.engine.get_run(&along.run).await?.state;
    let out = state.pending.iter().find(|(_, order)| matches!(order, PendingAction::Model { .. }));
    let by = caller.user.clone();
    let what = match action.as_ref().or(out.map(|(id, _)| id)) {
        Some(action) => build_manual_reply(action, &text, &by),
        None => InputKind::ManualPatch { text: text.clone(), by: by.clone() },
    };
    let matching: InputMatcher =
        Box::new(move |kept| is_same_reply(kept, &text, action.as_deref(), &by));
    submit_input_matching(app, caller, along, what, &matching).await
}

/// Whether the stored reply equals the repeated one. A reply without an action was stored for the
/// action that was pending at that time, which is complete by now.
fn is_same_reply(kept: &InputKind, text: &str, action: Option<&str>, by: &str) -> bool {
    let InputKind::ModelReplied(reply) = kept else {
        let submitted = InputKind::ManualPatch { text: text.to_owned(), by: by.to_owned() };
        return *kept == submitted && action.is_none();
    };
    let mut again = build_manual_reply(&reply.action, text, by);
    if let InputKind::ModelReplied(again) = &mut again {
        // The engine determines the memory build anew for every reply.
        again.packet_build.clone_from(&reply.packet_build);
    }
    *kept == again && action.is_none_or(|action| action == reply.action)
}

/// Answer a question.
///
/// A wait accepts exactly one answer.
#[utoipa::path(post, path = "/v1/runs/{run}/waits/{wait}/answer", tag = "inbox", request_body = AnswerRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("wait" = String, Path, description = "The id of the wait."),
        ("Idempotency-Key" = Option<String>, Header, description = "Requests with the same key submit the input once.")),
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

/// Approve a wait.
///
/// Approves a transition, more budget, or another attempt.
#[utoipa::path(post, path = "/v1/runs/{run}/waits/{wait}/approve", tag = "inbox", request_body = DecisionRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("wait" = String, Path, description = "The id of the wait."),
        ("Idempotency-Key" = Option<String>, Header, description = "Requests with the same key submit the input once.")),
    responses((status = 200, body = InputResponse)))]
pub(crate) async fn approve_wait(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath((run, wait)): ApiPath<(String, String)>,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    ApiJson(DecisionRequest { note, subject }): ApiJson<DecisionRequest>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = SubmitOptions::from_headers(run, key, &headers)?;
    submit_and_respond(
        &app,
        &caller,
        along,
        InputKind::ApprovalDecided { wait, approve: true, by, note, subject },
    )
    .await
}

/// Deny a wait that asks for approval.
#[utoipa::path(post, path = "/v1/runs/{run}/waits/{wait}/deny", tag = "inbox", request_body = DecisionRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("wait" = String, Path, description = "The id of the wait."),
        ("Idempotency-Key" = Option<String>, Header, description = "Requests with the same key submit the input once.")),
    responses((status = 200, body = InputResponse)))]
pub(crate) async fn deny_wait(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath((run, wait)): ApiPath<(String, String)>,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    ApiJson(DecisionRequest { note, subject }): ApiJson<DecisionRequest>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = SubmitOptions::from_headers(run, key, &headers)?;
    submit_and_respond(
        &app,
        &caller,
        along,
        InputKind::ApprovalDecided { wait, approve: false, by, note, subject },
    )
    .await
}

/// Let another user decide a wait.
///
/// The caller must be allowed to decide it, and stays so.
#[utoipa::path(post, path = "/v1/runs/{run}/waits/{wait}/delegate", tag = "inbox", request_body = DelegationRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("wait" = String, Path, description = "The id of the wait."),
        ("Idempotency-Key" = Option<String>, Header, description = "Requests with the same key submit the input once.")),
    responses((status = 200, body = InputResponse)))]
pub(crate) async fn delegate_wait(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath((run, wait)): ApiPath<(String, String)>,
    IdempotencyKey(key): IdempotencyKey,
    headers: HeaderMap,
    ApiJson(DelegationRequest { to, note }): ApiJson<DelegationRequest>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = SubmitOptions::from_headers(run, key, &headers)?;
    submit_and_respond(&app, &caller, along, InputKind::Delegated { wait, to, by, note }).await
}

/// Halt a run until it is resumed.
#[utoipa::path(post, path = "/v1/runs/{run}/halt", tag = "runs", request_body = StopRunRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "Requests with the same key submit the input once."),
        ("If-Match" = Option<String>, Header, description = "The version of the run that the input is based on.")),
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

/// Resume a halted or blocked run.
///
/// Optionally grants additional budget.
#[utoipa::path(post, path = "/v1/runs/{run}/resume", tag = "runs", request_body = ResumeRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "Requests with the same key submit the input once."),
        ("If-Match" = Option<String>, Header, description = "The version of the run that the input is based on.")),
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

/// Cancel a run permanently.
#[utoipa::path(post, path = "/v1/runs/{run}/cancel", tag = "runs", request_body = StopRunRequest,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "Requests with the same key submit the input once."),
        ("If-Match" = Option<String>, Header, description = "The version of the run that the input is based on.")),
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
