//! What a run is given from outside: a reply, an answer, a document, a decision, a person's word.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use countersign_core::run::{Incoming, Pending};
use countersign_runtime::driver::handed_in;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::etag::{demanded, etag, undemanded};
use super::extract::{At, Body};
use super::given::{Patience, taken};
use super::idempotency::Once;
use super::{ApiError, App};
use crate::access::Caller;
use crate::wire::Taken;

/// A reply in a model's place, or a patch.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "{\"points\": []}", "action": "2.0.1" }))]
pub(crate) struct Reply {
    /// The text, as a model would give it.
    text: String,
    /// The order it answers, as `next` names it; without one, `If-Match` must say the version.
    action: Option<String>,
}

/// An answer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "value": 3 }))]
pub(crate) struct Answer {
    /// The answer, in the shape that is asked for; the id of a choice.
    #[serde(deserialize_with = "there")]
    value: Value,
}

/// Null is an answer too, and an absent one is none.
fn there<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
    Value::deserialize(from)
}

/// Why somebody says yes or no.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "note": "well written" }))]
pub(crate) struct Note {
    /// Why.
    note: Option<String>,
}

/// Why somebody stops or ends a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "wrong input" }))]
pub(crate) struct Why {
    /// Why.
    reason: Option<String>,
}

/// What more may be spent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "grants": { "tokens": 10000 } }))]
pub(crate) struct Grants {
    /// By budget, `name` or `name@phase`; money in millionths, times in milliseconds.
    #[serde(default)]
    grants: BTreeMap<String, u64>,
}

/// What comes with every input: the run, the key, the version it was decided on, how long to wait.
pub(crate) struct Along {
    pub(crate) run: String,
    pub(crate) key: Option<String>,
    pub(crate) at: Option<u64>,
    pub(crate) patience: Patience,
}

impl Along {
    pub(super) fn of(
        run: String,
        key: Option<String>,
        headers: &HeaderMap,
    ) -> Result<Self, ApiError> {
        let (at, patience) = (demanded(headers)?, Patience::of(headers)?);
        Ok(Self { run, key, at, patience })
    }
}

/// Whether an input that a key was used for is the one that comes now.
pub(crate) type Matching = Box<dyn Fn(&Incoming) -> bool + Send + Sync>;

/// Gives a run something, by whichever door, and tells where it stands then.
pub(crate) async fn given(
    app: &App,
    caller: &Caller,
    along: Along,
    what: Incoming,
) -> Result<Taken, ApiError> {
    let same = what.clone();
    let matching: Matching = Box::new(move |kept: &Incoming| *kept == same);
    given_as(app, caller, along, what, &matching).await
}

/// The same, where an input that comes again need not be equal in everything. One that came before under its key is
/// told as it was taken then; where the client waits for the run to rest, the run as it rests now.
pub(crate) async fn given_as(
    app: &App,
    caller: &Caller,
    along: Along,
    what: Incoming,
    matching: &Matching,
) -> Result<Taken, ApiError> {
    let Along { run, key, at, patience } = along;
    let engine = &caller.desk.engine;
    let repeated = match &key {
        Some(key) => engine.find_repeated(&run, key, matching).await?,
        None => None,
    };
    let (outcome, then) = match repeated {
        Some(outcome) => {
            let then = outcome.state.clone();
            (outcome, Some(then))
        }
        None => (engine.give_at(&run, what, key, at).await?, None),
    };
    let refused = outcome.violations().map(<[_]>::to_vec);
    taken(app, caller, &run, refused, patience, then).await
}

async fn give(
    app: &App,
    caller: &Caller,
    along: Along,
    what: Incoming,
) -> Result<Response, ApiError> {
    Ok(tagged(given(app, caller, along, what).await?))
}

pub(super) fn tagged(taken: Taken) -> Response {
    ([(header::ETAG, etag(taken.version))], Json(taken)).into_response()
}

/// Hands in a reply in a model's place, or a patch where nobody in particular is asked. A reply that is refused
/// is taken too: `violations` says everything that is wrong with it.
#[utoipa::path(post, path = "/v1/runs/{run}/submit", tag = "runs", request_body = Reply,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input."),
        ("If-Match" = Option<String>, Header, description = "The version it was decided on.")),
    responses((status = 200, body = Taken)))]
pub(crate) async fn submit(
    State(app): State<App>,
    caller: Caller,
    At(run): At<String>,
    Once(key): Once,
    headers: HeaderMap,
    Body(Reply { text, action }): Body<Reply>,
) -> Result<Response, ApiError> {
    let along = Along::of(run, key, &headers)?;
    Ok(tagged(handed(&app, &caller, along, text, action).await?))
}

/// Hands in a reply: to the order that is named, to the one that is out, or as a patch.
pub(crate) async fn handed(
    app: &App,
    caller: &Caller,
    along: Along,
    text: String,
    action: Option<String>,
) -> Result<Taken, ApiError> {
    if action.is_none() && along.at.is_none() {
        let detail = "name the order as `action`, or the version that was seen (over HTTP as `If-Match`): the run may have gone on";
        return Err(undemanded(detail));
    }
    let state = caller.desk.engine.look(&along.run).await?.state;
    let out = state.pending.iter().find(|(_, order)| matches!(order, Pending::Model { .. }));
    let by = caller.user.clone();
    let what = match action.as_ref().or(out.map(|(id, _)| id)) {
        Some(action) => handed_in(action, &text, &by),
        None => Incoming::Submitted { text: text.clone(), by: by.clone() },
    };
    let matching: Matching =
        Box::new(move |kept| is_same_reply(kept, &text, action.as_deref(), &by));
    given_as(app, caller, along, what, &matching).await
}

/// Whether a reply that was taken is the one that comes again. Without an action it was taken for the order that
/// was out then, which is over by now.
fn is_same_reply(kept: &Incoming, text: &str, action: Option<&str>, by: &str) -> bool {
    let Incoming::ModelReplied(reply) = kept else {
        let submitted = Incoming::Submitted { text: text.to_owned(), by: by.to_owned() };
        return *kept == submitted && action.is_none();
    };
    let mut again = handed_in(&reply.action, text, by);
    if let Incoming::ModelReplied(again) = &mut again {
        // Which build was shown is found out anew for every reply.
        again.build.clone_from(&reply.build);
    }
    *kept == again && action.is_none_or(|action| action == reply.action)
}

/// Answers a question. One answer is taken.
#[utoipa::path(post, path = "/v1/runs/{run}/waits/{wait}/answer", tag = "inbox", request_body = Answer,
    params(("run" = String, Path, description = "The id of the run."),
        ("wait" = String, Path, description = "The id of the wait."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input.")),
    responses((status = 200, body = Taken)))]
pub(crate) async fn answer(
    State(app): State<App>,
    caller: Caller,
    At((run, wait)): At<(String, String)>,
    Once(key): Once,
    headers: HeaderMap,
    Body(Answer { value }): Body<Answer>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = Along::of(run, key, &headers)?;
    give(&app, &caller, along, Incoming::Answered { wait, value, by }).await
}

/// Says yes to what waits for it: a way, more of a budget, another try.
#[utoipa::path(post, path = "/v1/runs/{run}/waits/{wait}/approve", tag = "inbox", request_body = Note,
    params(("run" = String, Path, description = "The id of the run."),
        ("wait" = String, Path, description = "The id of the wait."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input.")),
    responses((status = 200, body = Taken)))]
pub(crate) async fn approve(
    State(app): State<App>,
    caller: Caller,
    At((run, wait)): At<(String, String)>,
    Once(key): Once,
    headers: HeaderMap,
    Body(Note { note }): Body<Note>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = Along::of(run, key, &headers)?;
    give(&app, &caller, along, Incoming::Decided { wait, approve: true, by, note }).await
}

/// Says no to what waits for a yes.
#[utoipa::path(post, path = "/v1/runs/{run}/waits/{wait}/deny", tag = "inbox", request_body = Note,
    params(("run" = String, Path, description = "The id of the run."),
        ("wait" = String, Path, description = "The id of the wait."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input.")),
    responses((status = 200, body = Taken)))]
pub(crate) async fn deny(
    State(app): State<App>,
    caller: Caller,
    At((run, wait)): At<(String, String)>,
    Once(key): Once,
    headers: HeaderMap,
    Body(Note { note }): Body<Note>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = Along::of(run, key, &headers)?;
    give(&app, &caller, along, Incoming::Decided { wait, approve: false, by, note }).await
}

/// Stops a run until it is resumed.
#[utoipa::path(post, path = "/v1/runs/{run}/halt", tag = "runs", request_body = Why,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input."),
        ("If-Match" = Option<String>, Header, description = "The version it was decided on.")),
    responses((status = 200, body = Taken)))]
pub(crate) async fn halt(
    State(app): State<App>,
    caller: Caller,
    At(run): At<String>,
    Once(key): Once,
    headers: HeaderMap,
    Body(Why { reason }): Body<Why>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = Along::of(run, key, &headers)?;
    give(&app, &caller, along, Incoming::Halted { by, reason }).await
}

/// Lets a halted or blocked run go on, with more of a budget where that is said.
#[utoipa::path(post, path = "/v1/runs/{run}/resume", tag = "runs", request_body = Grants,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input."),
        ("If-Match" = Option<String>, Header, description = "The version it was decided on.")),
    responses((status = 200, body = Taken)))]
pub(crate) async fn resume(
    State(app): State<App>,
    caller: Caller,
    At(run): At<String>,
    Once(key): Once,
    headers: HeaderMap,
    Body(Grants { grants }): Body<Grants>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = Along::of(run, key, &headers)?;
    give(&app, &caller, along, Incoming::Resumed { by, grants }).await
}

/// Ends a run for good.
#[utoipa::path(post, path = "/v1/runs/{run}/cancel", tag = "runs", request_body = Why,
    params(("run" = String, Path, description = "The id of the run."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input."),
        ("If-Match" = Option<String>, Header, description = "The version it was decided on.")),
    responses((status = 200, body = Taken)))]
pub(crate) async fn cancel(
    State(app): State<App>,
    caller: Caller,
    At(run): At<String>,
    Once(key): Once,
    headers: HeaderMap,
    Body(Why { reason }): Body<Why>,
) -> Result<Response, ApiError> {
    let by = caller.user.clone();
    let along = Along::of(run, key, &headers)?;
    give(&app, &caller, along, Incoming::Cancelled { by, reason }).await
}
