//! Memory: what is remembered of a user and an agent, and packets of it. The tenant is the caller's.

use std::collections::BTreeMap;

use axum::Json;
use axum::http::StatusCode;
use countersign_contracts::memory::meta::Purpose;
use countersign_core::run::Time;
use countersign_memory::policy::Policy;
use countersign_memory::store::{Build, Memory, Whom, packet_digest};
use countersign_memory::tokens::counter;
use countersign_memory::{Found, Request, Scope};
use countersign_runtime::remember::{
    Asking, Told, Voice, composed, moment, nearer, remember as kept, sections, thing,
};
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::ApiError;
use super::cursor::limit;
use super::extract::{Asked, At, Body};
use crate::access::Caller;
use crate::wire::{Explained, Forgotten, Hit, Packet, Remembered, Replayed};

/// How many things may be told at once.
const MOST_TOLD: usize = 1_000;

/// What is to be remembered.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper", "things": [{ "event": "I am vegetarian" }] }))]
pub(crate) struct Telling {
    /// Whose.
    pub(crate) user: String,
    /// With which agent.
    pub(crate) agent: String,
    /// In which session; `default` where absent.
    pub(crate) session: Option<String>,
    /// In which run; `default` where absent.
    pub(crate) run: Option<String>,
    /// The moment that counts as now, RFC 3339.
    pub(crate) at: Option<String>,
    /// The things, each with the names that a line of `memory remember` has.
    #[schema(value_type = Vec<Object>)]
    pub(crate) things: Vec<Value>,
}

/// What a packet is asked for with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper", "message": "What does Ann eat?", "tokens": 600 }))]
pub(crate) struct Composing {
    /// Whose.
    user: String,
    /// With which agent.
    agent: String,
    /// In which session; `default` where absent.
    session: Option<String>,
    /// In which run; `default` where absent.
    run: Option<String>,
    /// The moment that counts as now, RFC 3339.
    at: Option<String>,
    /// Which kind of prompt it goes into: `planner` (where absent), `tool`, `responder`.
    purpose: Option<String>,
    /// What is being said now: ranked with, never shown.
    message: Option<String>,
    /// Words it is about.
    #[serde(default)]
    keywords: Vec<String>,
    /// Whom or what it is about.
    #[serde(default)]
    entities: Vec<String>,
    /// Tags it is about.
    #[serde(default)]
    tags: Vec<String>,
    /// The beginning of the time it is about.
    since: Option<String>,
    /// The end of the time it is about.
    until: Option<String>,
    /// The kind of task: selects the procedures.
    task_type: Option<String>,
    /// How many tokens, instead of the policy's.
    tokens: Option<u64>,
    /// How many of them each section may take, by its name, instead of the policy's shares; sections that are not
    /// named get none.
    #[serde(default)]
    per_section: BTreeMap<String, u64>,
    /// `default` (where absent) or `recall`.
    policy: Option<String>,
    /// Who counts the tokens: `o200k` (where absent), `cl100k`, `chars`.
    tokenizer: Option<String>,
}

/// What is looked for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper", "text": "dinner" }))]
pub(crate) struct Searching {
    /// Whose.
    user: String,
    /// With which agent.
    agent: String,
    /// In which session; `default` where absent.
    session: Option<String>,
    /// In which run; `default` where absent.
    run: Option<String>,
    /// The moment that counts as now, RFC 3339.
    at: Option<String>,
    /// What to look for.
    text: String,
    /// How many at most: from 1 to 500, 50 where absent.
    limit: Option<usize>,
}

/// Whose build it is.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Whose {
    /// Whose.
    user: String,
    /// With which agent.
    agent: String,
}

/// By which other policy.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper", "policy": "recall" }))]
pub(crate) struct Otherwise {
    /// Whose.
    user: String,
    /// With which agent.
    agent: String,
    /// Another policy, to see what it makes different: `default` or `recall`.
    policy: Option<String>,
}

/// Whom to forget.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "dry_run": true }))]
pub(crate) struct Forgetting {
    /// Whom.
    user: String,
    /// With which agent; with every one where absent.
    agent: Option<String>,
    /// Only says what would go.
    #[serde(default)]
    dry_run: bool,
}

/// Remembers things, each by itself: what the rules refuse is told, and holds up nothing else. The same thing at
/// the same moment is kept once.
#[utoipa::path(post, path = "/v1/memory/remember", tag = "memory", request_body = Telling,
    responses((status = 200, body = Remembered)))]
pub(crate) async fn remember(
    caller: Caller,
    Body(telling): Body<Telling>,
) -> Result<Json<Remembered>, ApiError> {
    // Whoever has a key that may remember speaks for people.
    told(&caller, telling, Voice::Person).await.map(Json)
}

/// Remembers what somebody tells, as far as they may say it.
pub(crate) async fn told(
    caller: &Caller,
    telling: Telling,
    voice: Voice,
) -> Result<Remembered, ApiError> {
    let Telling { user, agent, session, run, at, things } = telling;
    if things.is_empty() || things.len() > MOST_TOLD {
        let detail = format!("`things` must be 1 to {MOST_TOLD}, found {}", things.len());
        return Err(ApiError::wrong("bad_body", detail));
    }
    let scope = scope(caller, user, agent, session, run)?;
    let now = now(caller, at)?;
    let told = (1..).zip(things).map(|(number, told)| {
        let thing = Told::by_line(told).and_then(|told| thing(told, voice, &scope, now));
        let wrong =
            |said| ApiError::wrong("bad_body", format!("`things`, number {number}: {said}"));
        thing.map(|thing| (number, thing)).map_err(wrong)
    });
    let things = told.collect::<Result<Vec<_>, _>>()?;
    let account = kept(memory(caller)?, things, now).await?;
    Ok(Remembered::from(&account))
}

/// Composes what goes into a prompt, within a budget. The build is kept.
#[utoipa::path(post, path = "/v1/memory/compose", tag = "memory", request_body = Composing,
    responses((status = 200, body = Packet)))]
pub(crate) async fn compose(
    caller: Caller,
    Body(composing): Body<Composing>,
) -> Result<Json<Packet>, ApiError> {
    let memory = memory(&caller)?;
    let policy = policy(composing.policy.as_deref().unwrap_or("default"))?;
    let tokenizer = match composing.tokenizer.as_deref() {
        None => "o200k",
        Some("chars") => "chars/4",
        Some(other) => other,
    };
    let counter =
        counter(tokenizer).map_err(|error| ApiError::wrong("bad_body", error.to_string()))?;
    let request = request(&caller, composing)?;
    let request = if policy.similarity.is_off() { request } else { near(&caller, request).await };
    let made = composed(memory, &request, &policy, &*counter).await?;
    Ok(Json(Packet::from(&made)))
}

/// Looks for events, best first, and tells what their scores are made of.
#[utoipa::path(post, path = "/v1/memory/search", tag = "memory", request_body = Searching,
    responses((status = 200, body = Vec<Hit>)))]
pub(crate) async fn search(
    caller: Caller,
    Body(searching): Body<Searching>,
) -> Result<Json<Vec<Hit>>, ApiError> {
    let Searching { user, agent, session, run, at, text, limit: most } = searching;
    let most = limit(most)?;
    let scope = scope(&caller, user, agent, session, run)?;
    let asking = Asking { message: Some(text), ..Asking::default() };
    let request = asking.request(scope, now(&caller, at)?);
    let memory = memory(&caller)?;
    let found = memory.search(&near(&caller, request).await, most).await?;
    Ok(Json(found.iter().map(Hit::from).collect()))
}

/// What is in a build and by which rule, what is not and why not, what each section cost.
#[utoipa::path(get, path = "/v1/memory/builds/{build}", tag = "memory",
    params(("build" = String, Path, description = "The id of the build; that of a run is `RUN/ACTION`, with the slash as `%2F`."), Whose),
    responses((status = 200, body = Explained)))]
pub(crate) async fn explain(
    caller: Caller,
    At(id): At<String>,
    Asked(Whose { user, agent }): Asked<Whose>,
) -> Result<Json<Explained>, ApiError> {
    let (build, found) = build(&caller, user, agent, &id).await?;
    let packet =
        build.again(&found).map_err(|error| ApiError::wrong("not_again", error.to_string()))?;
    Ok(Json(Explained::of(&build, &packet)))
}

/// Composes a build again from the rows of then: the same bytes, or what another policy makes different.
#[utoipa::path(post, path = "/v1/memory/builds/{build}/replay", tag = "memory", request_body = Otherwise,
    params(("build" = String, Path, description = "The id of the build.")),
    responses((status = 200, body = Replayed)))]
pub(crate) async fn replay(
    caller: Caller,
    At(id): At<String>,
    Body(Otherwise { user, agent, policy: other }): Body<Otherwise>,
) -> Result<Json<Replayed>, ApiError> {
    let other = other.as_deref().map(policy).transpose()?;
    let (build, found) = build(&caller, user, agent, &id).await?;
    let again = |error: &dyn std::error::Error| ApiError::wrong("not_again", error.to_string());
    let packet = build.again(&found).map_err(|error| again(&error))?;
    if packet_digest(&packet) != build.digest {
        return Ok(Json(Replayed::other(&build, packet_digest(&packet))));
    }
    let Some(other) = other else {
        let bytes = serde_json::to_string(&packet).map_or(0, |text| text.len());
        return Ok(Json(Replayed::same(&build, bytes)));
    };
    let named = format!("{} {}", other.id, other.version);
    let after = build.under(&other, &found).map_err(|error| again(&error))?;
    let compared = Replayed::under(&build, &packet, &after, &named);
    Ok(Json(compared.map_err(|error| again(&error))?))
}

/// Erases a user, with one agent or with every one: rows, index, builds, bytes.
#[utoipa::path(post, path = "/v1/memory/forget", tag = "memory", request_body = Forgetting,
    responses((status = 200, body = Forgotten)))]
pub(crate) async fn forget(
    caller: Caller,
    Body(Forgetting { user, agent, dry_run }): Body<Forgetting>,
) -> Result<Json<Forgotten>, ApiError> {
    let every = agent.is_none();
    let subject =
        scope(&caller, user, agent.unwrap_or_else(|| "any".to_owned()), None, None)?.subject();
    let whom = if every {
        Whom::User { tenant: subject.tenant, user: subject.user }
    } else {
        Whom::Subject(subject)
    };
    let memory = memory(&caller)?;
    let erased = if dry_run {
        memory.would_forget(whom).await?
    } else {
        memory.forget(whom, caller.desk.engine.clock().now()).await?
    };
    Ok(Json(Forgotten::from(erased)))
}

/// The request with the vector of its words, where the house has an embedder that answers; else by words
/// alone, and whoever watches hears why.
async fn near(caller: &Caller, request: Request) -> Request {
    let Some(recall) = caller.desk.engine.recall() else { return request };
    let embedder = recall.embedder().map(|embedder| &**embedder);
    let (request, away) = nearer(&**recall.memory(), embedder, request).await;
    if let Some(error) = away {
        let watch = caller.desk.engine.watch();
        watch.warned(request.scope.run(), &format!("memory goes by words alone: {error}"));
    }
    request
}

/// The memory of the house.
fn memory(caller: &Caller) -> Result<&dyn Memory, ApiError> {
    let recall = caller.desk.engine.recall();
    recall.map(|recall| &**recall.memory()).ok_or_else(|| {
        let detail =
            "this server has no memory: it was started with `--no-memory`, or it cannot be opened";
        ApiError::new(StatusCode::NOT_IMPLEMENTED, "no_memory", detail)
    })
}

fn scope(
    caller: &Caller,
    user: String,
    agent: String,
    session: Option<String>,
    run: Option<String>,
) -> Result<Scope, ApiError> {
    let usual = || "default".to_owned();
    let (session, run) = (session.unwrap_or_else(usual), run.unwrap_or_else(usual));
    Scope::new(caller.tenant(), user, agent, session, run)
        .map_err(|error| ApiError::wrong("scope", error.to_string()))
}

fn now(caller: &Caller, at: Option<String>) -> Result<Time, ApiError> {
    match at {
        Some(text) => time("at", &text),
        None => Ok(caller.desk.engine.clock().now()),
    }
}

fn time(name: &str, text: &str) -> Result<Time, ApiError> {
    moment(name, text).map_err(|said| ApiError::wrong("bad_body", said))
}

fn policy(name: &str) -> Result<Policy, ApiError> {
    Policy::shipped(name).ok_or_else(|| {
        let detail = format!("no policy `{name}`; there are `default` and `recall`");
        ApiError::wrong("bad_body", detail)
    })
}

fn request(caller: &Caller, composing: Composing) -> Result<Request, ApiError> {
    let purpose = match composing.purpose.as_deref() {
        None | Some("planner") => Purpose::Planner,
        Some("tool") => Purpose::Tool,
        Some("responder") => Purpose::Responder,
        Some(other) => {
            let detail = format!("no purpose `{other}`; there are planner, tool, responder");
            return Err(ApiError::wrong("bad_body", detail));
        }
    };
    let at = |name: &str, text: Option<String>| text.map(|text| time(name, &text)).transpose();
    let asking = Asking {
        purpose: Some(purpose),
        message: composing.message,
        keywords: composing.keywords,
        entities: composing.entities,
        tags: composing.tags,
        since: at("since", composing.since)?,
        until: at("until", composing.until)?,
        task_type: composing.task_type,
        tokens: composing.tokens,
        sections: sections(composing.per_section)
            .map_err(|error| ApiError::wrong("bad_body", format!("`per_section`: {error}")))?,
    };
    let Composing { user, agent, session, run, at, .. } = Composing {
        message: None,
        keywords: Vec::new(),
        entities: Vec::new(),
        tags: Vec::new(),
        since: None,
        until: None,
        task_type: None,
        per_section: BTreeMap::new(),
        ..composing
    };
    Ok(asking.request(scope(caller, user, agent, session, run)?, now(caller, at)?))
}

async fn build(
    caller: &Caller,
    user: String,
    agent: String,
    id: &str,
) -> Result<(Build, Found), ApiError> {
    let subject = scope(caller, user, agent, None, None)?.subject();
    let build = memory(caller)?.build(&subject, id).await?;
    build.ok_or_else(|| {
        let detail =
            format!("no build `{id}` of user `{}` with agent `{}`", subject.user, subject.agent);
        ApiError::missing("unknown_build", detail)
    })
}
