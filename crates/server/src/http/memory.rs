//! Memory of a user with an agent: adding records, composing packets, searching, erasing. The
//! tenant is always the caller's.

use std::collections::BTreeMap;

use axum::Json;
use axum::http::StatusCode;
use countersign_memory::policy::MemoryPolicy;
use countersign_memory::store::{EraseTarget, Memory, PacketBuild, compute_packet_digest};
use countersign_memory::tokens::find_counter;
use countersign_memory::{Candidates, MemoryScope, PacketRequest};
use countersign_run::Timestamp;
use countersign_runtime::memory_context::{
    ContextQuery, InputAuthor, MemoryInput, compose_context, ingest_items, parse_section_budgets,
    parse_time, to_memory_write, try_add_vector,
};
use countersign_shipped_contracts::memory::meta::PacketPurpose;
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::ApiError;
use super::cursor::resolve_limit;
use super::extract::{ApiJson, ApiPath, ApiQuery};
use crate::access::Caller;
use countersign_view::wire::{
    BuildExplanation, BuildReplay, ForgetResponse, MemorySearchHit, PacketView, RememberResponse,
};

/// Maximum number of records in one request.
const MAX_RECORDS: usize = 1_000;

/// Records to add to memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper", "items": [{ "event": "I am vegetarian" }] }))]
pub(crate) struct RememberRequest {
    /// The user the records belong to.
    pub(crate) user: String,
    /// The agent the records belong to.
    pub(crate) agent: String,
    /// The session the records belong to. Default: `default`.
    pub(crate) session: Option<String>,
    /// The run the records belong to. Default: `default`.
    pub(crate) run: Option<String>,
    /// The timestamp to use as the current time, in RFC 3339 format. Default: now.
    pub(crate) now: Option<String>,
    /// The records, with the same members as a line of `memory remember`. At most 1000.
    #[schema(value_type = Vec<Object>)]
    pub(crate) items: Vec<Value>,
}

/// A request for a memory packet.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper", "message": "What does Ann eat?", "tokens": 600 }))]
pub(crate) struct ComposeRequest {
    /// The user whose memory is used.
    user: String,
    /// The agent whose memory is used.
    agent: String,
    /// The session that is in progress. Default: `default`.
    session: Option<String>,
    /// The run that is in progress. Default: `default`.
    run: Option<String>,
    /// The timestamp to use as the current time, in RFC 3339 format. Default: now.
    now: Option<String>,
    /// The kind of prompt that the packet is for: `planner`, `tool` or `responder`. Default:
    /// `planner`.
    purpose: Option<String>,
    /// The current message. Used for ranking; not part of the packet.
    message: Option<String>,
    /// Keywords of the topic.
    #[serde(default)]
    keywords: Vec<String>,
    /// The people and things that the topic is about.
    #[serde(default)]
    entities: Vec<String>,
    /// The tags of the topic.
    #[serde(default)]
    tags: Vec<String>,
    /// The start of the relevant period, in RFC 3339 format.
    since: Option<String>,
    /// The end of the relevant period, in RFC 3339 format.
    until: Option<String>,
    /// The kind of task; selects the procedures.
    task_type: Option<String>,
    /// The token budget, instead of the policy's.
    tokens: Option<u64>,
    /// The token budget of each section by name, instead of the policy's shares. Sections that are
    /// not listed get no tokens.
    #[serde(default)]
    per_section: BTreeMap<String, u64>,
    /// The memory policy: `default` or `recall`. Default: `default`.
    policy: Option<String>,
    /// The tokenizer that counts the tokens: `o200k`, `cl100k` or `chars`. Default: `o200k`.
    tokenizer: Option<String>,
}

/// A search in memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper", "text": "dinner" }))]
pub(crate) struct MemorySearchRequest {
    /// The user whose memory is searched.
    user: String,
    /// The agent whose memory is searched.
    agent: String,
    /// The session that is in progress. Default: `default`.
    session: Option<String>,
    /// The run that is in progress. Default: `default`.
    run: Option<String>,
    /// The timestamp to use as the current time, in RFC 3339 format. Default: now.
    now: Option<String>,
    /// The search text.
    text: String,
    /// Maximum number of items, from 1 to 500. Default: 50.
    limit: Option<usize>,
}

/// The owner of a packet build.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct BuildOwnerQuery {
    /// The user the build belongs to.
    user: String,
    /// The agent the build belongs to.
    agent: String,
}

/// Options for replaying a packet build.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper", "policy": "recall" }))]
pub(crate) struct ReplayRequest {
    /// The user the build belongs to.
    user: String,
    /// The agent the build belongs to.
    agent: String,
    /// Another policy to compare with: `default` or `recall`. Absent: the build's own policy.
    policy: Option<String>,
}

/// The memory to erase.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "dry_run": true }))]
pub(crate) struct ForgetRequest {
    /// The user to erase.
    user: String,
    /// Erase only the memory with this agent. Absent: the memory with every agent.
    agent: Option<String>,
    /// Report what would be erased, without erasing it. Default: false.
    #[serde(default)]
    dry_run: bool,
}

/// Add records to memory.
///
/// Each record is processed separately: the response lists the records that the rules refuse, and
/// they do not affect the others. The same record with the same timestamp is stored once.
#[utoipa::path(post, path = "/v1/memory/remember", tag = "memory", request_body = RememberRequest,
    responses((status = 200, body = RememberResponse)))]
pub(crate) async fn submit_memories(
    caller: Caller,
    ApiJson(telling): ApiJson<RememberRequest>,
) -> Result<Json<RememberResponse>, ApiError> {
    // A caller whose key may add memory speaks for people.
    remember_as(&caller, telling, InputAuthor::Person).await.map(Json)
}

/// Adds records to memory; `voice` limits what they may claim.
pub(crate) async fn remember_as(
    caller: &Caller,
    telling: RememberRequest,
    voice: InputAuthor,
) -> Result<RememberResponse, ApiError> {
    let RememberRequest { user, agent, session, run, now: at, items: things } = telling;
    if things.is_empty() || things.len() > MAX_RECORDS {
        let detail =
            format!("`items` must contain 1 to {MAX_RECORDS} records, found {}", things.len());
        return Err(ApiError::unprocessable("bad_body", detail));
    }
    let scope = build_scope(caller, user, agent, session, run)?;
    let now = resolve_now(caller, at)?;
    let writes = (1..).zip(things).map(|(number, item)| {
        let thing = MemoryInput::from_json(item)
            .and_then(|input| to_memory_write(input, voice, &scope, now));
        let wrong =
            |said| ApiError::unprocessable("bad_body", format!("`items`, number {number}: {said}"));
        thing.map(|thing| (number, thing)).map_err(wrong)
    });
    let things = writes.collect::<Result<Vec<_>, _>>()?;
    let account = ingest_items(require_memory(caller)?, things, now).await?;
    Ok(RememberResponse::from(&account))
}

/// Compose a memory packet for a prompt, within a token budget.
///
/// The server stores the build, so that you can explain and replay it.
#[utoipa::path(post, path = "/v1/memory/compose", tag = "memory", request_body = ComposeRequest,
    responses((status = 200, body = PacketView)))]
pub(crate) async fn compose_memory_packet(
    caller: Caller,
    ApiJson(composing): ApiJson<ComposeRequest>,
) -> Result<Json<PacketView>, ApiError> {
    let memory = require_memory(&caller)?;
    let policy = find_policy(composing.policy.as_deref().unwrap_or("default"))?;
    let tokenizer = match composing.tokenizer.as_deref() {
        None => "o200k",
        Some("chars") => "chars/4",
        Some(other) => other,
    };
    let counter = find_counter(tokenizer)
        .map_err(|error| ApiError::unprocessable("bad_body", error.to_string()))?;
    let request = build_memory_request(&caller, composing)?;
    let request = if policy.similarity.is_off() {
        request
    } else {
        embed_request_or_warn(&caller, request).await
    };
    let made = compose_context(memory, &request, &policy, &*counter).await?;
    Ok(Json(PacketView::from(&made)))
}

/// Search the events in memory, best match first.
///
/// Each hit contains the components of its score.
#[utoipa::path(post, path = "/v1/memory/search", tag = "memory", request_body = MemorySearchRequest,
    responses((status = 200, body = Vec<MemorySearchHit>)))]
pub(crate) async fn search_memory(
    caller: Caller,
    ApiJson(searching): ApiJson<MemorySearchRequest>,
) -> Result<Json<Vec<MemorySearchHit>>, ApiError> {
    let MemorySearchRequest { user, agent, session, run, now, text, limit: most } = searching;
    let most = resolve_limit(most)?;
    let scope = build_scope(&caller, user, agent, session, run)?;
    let asking = ContextQuery { message: Some(text), ..ContextQuery::default() };
    let request = asking.into_request(scope, resolve_now(&caller, now)?);
    let memory = require_memory(&caller)?;
    let found = memory.search_events(&embed_request_or_warn(&caller, request).await, most).await?;
    Ok(Json(found.iter().map(MemorySearchHit::from).collect()))
}

/// Explain a packet build.
///
/// Lists what the packet contains and by which rule, what was left out and why, and the cost of
/// each section.
#[utoipa::path(get, path = "/v1/memory/builds/{build}", tag = "memory",
    params(("build" = String, Path, description = "The id of the build. A build of a run has the id `RUN/ACTION`; encode the slash as `%2F`."), BuildOwnerQuery),
    responses((status = 200, body = BuildExplanation)))]
pub(crate) async fn explain_build(
    caller: Caller,
    ApiPath(id): ApiPath<String>,
    ApiQuery(BuildOwnerQuery { user, agent }): ApiQuery<BuildOwnerQuery>,
) -> Result<Json<BuildExplanation>, ApiError> {
    let (build, found) = load_build(&caller, user, agent, &id).await?;
    let packet = build
        .recompose(&found)
        .map_err(|error| ApiError::unprocessable("not_reproducible", error.to_string()))?;
    Ok(Json(BuildExplanation::from_build(&build, &packet)))
}

/// Replay a packet build.
///
/// Composes the packet again from the records of that time. Reports whether the bytes are the same,
/// or what another policy changes.
#[utoipa::path(post, path = "/v1/memory/builds/{build}/replay", tag = "memory", request_body = ReplayRequest,
    params(("build" = String, Path, description = "The id of the build.")),
    responses((status = 200, body = BuildReplay)))]
pub(crate) async fn replay_build(
    caller: Caller,
    ApiPath(id): ApiPath<String>,
    ApiJson(ReplayRequest { user, agent, policy: other }): ApiJson<ReplayRequest>,
) -> Result<Json<BuildReplay>, ApiError> {
    let other = other.as_deref().map(find_policy).transpose()?;
    let (build, found) = load_build(&caller, user, agent, &id).await?;
    let again = |error: &dyn std::error::Error| {
        ApiError::unprocessable("not_reproducible", error.to_string())
    };
    let packet = build.recompose(&found).map_err(|error| again(&error))?;
    if compute_packet_digest(&packet) != build.digest {
        return Ok(Json(BuildReplay::new_changed(&build, compute_packet_digest(&packet))));
    }
    let Some(other) = other else {
        let bytes = serde_json::to_string(&packet).map_or(0, |text| text.len());
        return Ok(Json(BuildReplay::new_identical(&build, bytes)));
    };
    let named = format!("{} {}", other.id, other.version);
    let after = build.recompose_with_policy(&other, &found).map_err(|error| again(&error))?;
    let compared = BuildReplay::new_under_policy(&build, &packet, &after, &named);
    Ok(Json(compared.map_err(|error| again(&error))?))
}

/// Erase the memory of a user.
///
/// Erases it with one agent or with all: rows, index entries, builds, and their bytes on disk.
#[utoipa::path(post, path = "/v1/memory/forget", tag = "memory", request_body = ForgetRequest,
    responses((status = 200, body = ForgetResponse)))]
pub(crate) async fn forget_user(
    caller: Caller,
    ApiJson(ForgetRequest { user, agent, dry_run }): ApiJson<ForgetRequest>,
) -> Result<Json<ForgetResponse>, ApiError> {
    let every = agent.is_none();
    let subject =
        build_scope(&caller, user, agent.unwrap_or_else(|| "any".to_owned()), None, None)?
            .subject();
    let whom = if every {
        EraseTarget::User { tenant: subject.tenant, user: subject.user }
    } else {
        EraseTarget::Subject(subject)
    };
    let memory = require_memory(&caller)?;
    let erased = if dry_run {
        memory.preview_forget(whom).await?
    } else {
        memory.forget(whom, caller.runtime.engine.clock().now()).await?
    };
    Ok(Json(ForgetResponse::from(erased)))
}

/// Adds the vector of the query text if the server has an embedder that responds. Otherwise ranking
/// uses words alone, and the observer gets a warning with the reason.
async fn embed_request_or_warn(caller: &Caller, request: PacketRequest) -> PacketRequest {
    let Some(recall) = caller.runtime.engine.memory_recorder() else { return request };
    let embedder = recall.embedder().map(|embedder| &**embedder);
    let (request, away) = try_add_vector(&**recall.memory(), embedder, request).await;
    if let Some(error) = away {
        let watch = caller.runtime.engine.observer();
        watch
            .on_warning(request.scope.run(), &format!("memory search uses keywords only: {error}"));
    }
    request
}

/// The memory of the server; an error if it has none.
pub(super) fn require_memory(caller: &Caller) -> Result<&dyn Memory, ApiError> {
    let recall = caller.runtime.engine.memory_recorder();
    recall.map(|recall| &**recall.memory()).ok_or_else(|| {
        let detail =
            "memory is not available: the server was started with `--no-memory`, or the memory cannot be opened";
        ApiError::new(StatusCode::NOT_IMPLEMENTED, "no_memory", detail)
    })
}

pub(super) fn build_scope(
    caller: &Caller,
    user: String,
    agent: String,
    session: Option<String>,
    run: Option<String>,
) -> Result<MemoryScope, ApiError> {
    let usual = || "default".to_owned();
    let (session, run) = (session.unwrap_or_else(usual), run.unwrap_or_else(usual));
    MemoryScope::new(caller.tenant(), user, agent, session, run)
        .map_err(|error| ApiError::unprocessable("scope", error.to_string()))
}

pub(super) fn resolve_now(caller: &Caller, at: Option<String>) -> Result<Timestamp, ApiError> {
    match at {
        Some(text) => parse_time_field("now", &text),
        None => Ok(caller.runtime.engine.clock().now()),
    }
}

fn parse_time_field(name: &str, text: &str) -> Result<Timestamp, ApiError> {
    parse_time(name, text).map_err(|said| ApiError::unprocessable("bad_body", said))
}

fn find_policy(name: &str) -> Result<MemoryPolicy, ApiError> {
    MemoryPolicy::load_shipped(name).ok_or_else(|| {
        let detail = format!("unknown policy `{name}`; expected `default` or `recall`");
        ApiError::unprocessable("bad_body", detail)
    })
}

fn build_memory_request(
    caller: &Caller,
    composing: ComposeRequest,
) -> Result<PacketRequest, ApiError> {
    let purpose = match composing.purpose.as_deref() {
        None | Some("planner") => PacketPurpose::Planner,
        Some("tool") => PacketPurpose::Tool,
        Some("responder") => PacketPurpose::Responder,
        Some(other) => {
            let detail = format!("unknown purpose `{other}`; expected planner, tool or responder");
            return Err(ApiError::unprocessable("bad_body", detail));
        }
    };
    let at = |name: &str, text: Option<String>| {
        text.map(|text| parse_time_field(name, &text)).transpose()
    };
    let asking = ContextQuery {
        purpose: Some(purpose),
        message: composing.message,
        keywords: composing.keywords,
        entities: composing.entities,
        tags: composing.tags,
        since: at("since", composing.since)?,
        until: at("until", composing.until)?,
        task_type: composing.task_type,
        tokens: composing.tokens,
        sections: parse_section_budgets(composing.per_section).map_err(|error| {
            ApiError::unprocessable("bad_body", format!("`per_section`: {error}"))
        })?,
    };
    let ComposeRequest { user, agent, session, run, now: at, .. } = ComposeRequest {
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
    Ok(asking
        .into_request(build_scope(caller, user, agent, session, run)?, resolve_now(caller, at)?))
}

async fn load_build(
    caller: &Caller,
    user: String,
    agent: String,
    id: &str,
) -> Result<(PacketBuild, Candidates), ApiError> {
    let subject = build_scope(caller, user, agent, None, None)?.subject();
    let build = require_memory(caller)?.load_build(&subject, id).await?;
    build.ok_or_else(|| {
        let detail =
            format!("no build `{id}` for user `{}` and agent `{}`", subject.user, subject.agent);
        ApiError::not_found("unknown_build", detail)
    })
}
