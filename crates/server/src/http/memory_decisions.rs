//! Decisions on what memory learns: listing, promoting and refusing candidates, validating and
//! rejecting insights, and learning from validated ones.

use axum::Json;
use countersign_memory::record::CandidateState;
use countersign_memory::rules::ClaimAssurance;
use countersign_runtime::memory_context::{
    InputAuthor, MemoryDecisionError, MemoryInput, MemoryWrite, decide_insight, learn_from_insight,
    promote_candidate, refuse_candidate, to_memory_write,
};
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_view::wire::{MemoryCandidateView, SavedMemoryRow};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::ApiError;
use super::cursor::resolve_limit;
use super::extract::{ApiJson, ApiPath, ApiQuery};
use super::memory::{build_scope, require_memory, resolve_now};
use crate::access::Caller;

/// The reason of a refusal for which the caller gives none.
const REFUSED_BY_HAND: &str = "refused by hand";

/// The candidates to list.
#[derive(Debug, Deserialize, ToSchema, IntoParams)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper" }))]
pub(crate) struct ListCandidatesQuery {
    /// The user the candidates belong to.
    pub(crate) user: String,
    /// The agent the candidates belong to.
    pub(crate) agent: String,
    /// Also list candidates that were already decided. Default: false.
    #[serde(default)]
    pub(crate) all: bool,
    /// Maximum number of items, from 1 to 500. Default: 50.
    pub(crate) limit: Option<usize>,
}

/// The owner of the record that a decision is about.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper" }))]
pub(crate) struct MemoryDecisionRequest {
    /// The user the record belongs to.
    pub(crate) user: String,
    /// The agent the record belongs to.
    pub(crate) agent: String,
    /// The timestamp to use as the current time, in RFC 3339 format. Default: now.
    pub(crate) now: Option<String>,
}

/// The promotion of a candidate.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper", "confirmed": true }))]
pub(crate) struct PromoteRequest {
    /// The user the candidate belongs to.
    pub(crate) user: String,
    /// The agent the candidate belongs to.
    pub(crate) agent: String,
    /// Whether a person confirms the candidate: it replaces everything that contradicts it.
    /// Default: false.
    #[serde(default)]
    pub(crate) confirmed: bool,
    /// The timestamp to use as the current time, in RFC 3339 format. Default: now.
    pub(crate) now: Option<String>,
}

/// The refusal of a candidate.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper", "reason": "She meant her brother." }))]
pub(crate) struct RefuseRequest {
    /// The user the candidate belongs to.
    pub(crate) user: String,
    /// The agent the candidate belongs to.
    pub(crate) agent: String,
    /// The reason, in one sentence. Default: `refused by hand`.
    pub(crate) reason: Option<String>,
    /// The timestamp to use as the current time, in RFC 3339 format. Default: now.
    pub(crate) now: Option<String>,
}

/// What a validated insight becomes. Set either `fact` with `value`, or `procedure`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "ann", "agent": "helper", "fact": "likes", "value": "tofu" }))]
pub(crate) struct LearnRequest {
    /// The user the insight belongs to.
    pub(crate) user: String,
    /// The agent the insight belongs to.
    pub(crate) agent: String,
    /// The timestamp to use as the current time, in RFC 3339 format. Default: now.
    pub(crate) now: Option<String>,
    /// The key of the fact.
    pub(crate) fact: Option<String>,
    /// The value of the fact: any JSON.
    pub(crate) value: Option<Value>,
    /// The content of the procedure: steps, tools, format.
    #[schema(value_type = Option<Object>)]
    pub(crate) procedure: Option<Value>,
    /// The id of the fact or procedure. Default: derived from content and time.
    pub(crate) id: Option<String>,
    /// The confidence of the fact, from 0 to 1. Default: 0.5.
    pub(crate) confidence: Option<f64>,
    /// Whether the fact is a preference. Default: false.
    #[serde(default)]
    pub(crate) preference: bool,
    /// A remark about the fact, for people.
    pub(crate) notes: Option<String>,
    /// When the fact becomes valid, in RFC 3339 format.
    pub(crate) valid_from: Option<String>,
    /// When the fact stops being valid, in RFC 3339 format.
    pub(crate) valid_to: Option<String>,
    /// The kind of task that the procedure is for. Default: `generic`.
    pub(crate) task_type: Option<String>,
    /// The priority of the procedure; the highest comes first. Default: 0.
    pub(crate) priority: Option<i64>,
    /// Tags that help to find the record.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// The people and things that the record is about.
    #[serde(default)]
    pub(crate) entities: Vec<String>,
}

/// A decision that was recorded.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MemoryDecisionResponse {
    /// The id of the candidate or the insight.
    pub(crate) decided: String,
    /// The record that the decision stored. Null if a candidate was refused.
    pub(crate) saved: Option<SavedMemoryRow>,
}

impl From<MemoryDecisionError> for ApiError {
    fn from(error: MemoryDecisionError) -> Self {
        match error {
            MemoryDecisionError::Memory(error) => error.into(),
            ambiguous @ MemoryDecisionError::Ambiguous { .. } => {
                Self::unprocessable("refused", ambiguous.to_string())
            }
        }
    }
}

/// List memory candidates.
///
/// Candidates are claims, such as those that a model proposed, that wait for a decision; the latest
/// first.
#[utoipa::path(get, path = "/v1/memory/candidates", tag = "memory", params(ListCandidatesQuery),
    responses((status = 200, body = Vec<MemoryCandidateView>)))]
pub(crate) async fn list_memory_candidates(
    caller: Caller,
    ApiQuery(ListCandidatesQuery { user, agent, all, limit }): ApiQuery<ListCandidatesQuery>,
) -> Result<Json<Vec<MemoryCandidateView>>, ApiError> {
    let most = resolve_limit(limit)?;
    let subject = build_scope(&caller, user, agent, None, None)?.subject();
    let mut found = require_memory(&caller)?.list_candidates(&subject, usize::MAX).await?;
    found.retain(|candidate| all || candidate.state == CandidateState::Proposed);
    Ok(Json(found.iter().take(most).map(MemoryCandidateView::from).collect()))
}

/// Promote a memory candidate.
///
/// The rules decide as they do for any claim. If they refuse it, the refusal is recorded with its
/// reason, and the response is the problem `refused`.
#[utoipa::path(post, path = "/v1/memory/candidates/{candidate}/promote", tag = "memory", request_body = PromoteRequest,
    params(("candidate" = String, Path, description = "The id of the candidate, or a unique beginning of it.")),
    responses((status = 200, body = MemoryDecisionResponse)))]
pub(crate) async fn promote_memory_candidate(
    caller: Caller,
    ApiPath(candidate): ApiPath<String>,
    ApiJson(PromoteRequest { user, agent, confirmed, now }): ApiJson<PromoteRequest>,
) -> Result<Json<MemoryDecisionResponse>, ApiError> {
    let scope = build_scope(&caller, user, agent, None, None)?;
    let now = resolve_now(&caller, now)?;
    let assurance = if confirmed { ClaimAssurance::Confirmed } else { ClaimAssurance::Claimed };
    let memory = require_memory(&caller)?;
    let (decided, item) = promote_candidate(memory, &scope, &candidate, assurance, now).await?;
    Ok(Json(MemoryDecisionResponse { decided, saved: Some(SavedMemoryRow::from(&item)) }))
}

/// Refuse a memory candidate.
///
/// The candidate is not stored as memory; the refusal is recorded with its reason.
#[utoipa::path(post, path = "/v1/memory/candidates/{candidate}/refuse", tag = "memory", request_body = RefuseRequest,
    params(("candidate" = String, Path, description = "The id of the candidate, or a unique beginning of it.")),
    responses((status = 200, body = MemoryDecisionResponse)))]
pub(crate) async fn refuse_memory_candidate(
    caller: Caller,
    ApiPath(candidate): ApiPath<String>,
    ApiJson(RefuseRequest { user, agent, reason, now }): ApiJson<RefuseRequest>,
) -> Result<Json<MemoryDecisionResponse>, ApiError> {
    let scope = build_scope(&caller, user, agent, None, None)?;
    let now = resolve_now(&caller, now)?;
    let reason = reason.as_deref().unwrap_or(REFUSED_BY_HAND);
    let memory = require_memory(&caller)?;
    let decided = refuse_candidate(memory, &scope, &candidate, reason, now).await?;
    Ok(Json(MemoryDecisionResponse { decided, saved: None }))
}

/// Validate an insight.
///
/// Records that the insight was tested and holds. It stays an insight until something is learned
/// from it.
#[utoipa::path(post, path = "/v1/memory/insights/{insight}/validate", tag = "memory", request_body = MemoryDecisionRequest,
    params(("insight" = String, Path, description = "The id of the insight, or a unique beginning of it.")),
    responses((status = 200, body = MemoryDecisionResponse)))]
pub(crate) async fn validate_insight(
    caller: Caller,
    ApiPath(insight): ApiPath<String>,
    ApiJson(request): ApiJson<MemoryDecisionRequest>,
) -> Result<Json<MemoryDecisionResponse>, ApiError> {
    set_validation(caller, insight, request, InsightValidationState::Validated).await
}

/// Reject an insight.
///
/// Records that the insight does not hold. Packets no longer contain it.
#[utoipa::path(post, path = "/v1/memory/insights/{insight}/reject", tag = "memory", request_body = MemoryDecisionRequest,
    params(("insight" = String, Path, description = "The id of the insight, or a unique beginning of it.")),
    responses((status = 200, body = MemoryDecisionResponse)))]
pub(crate) async fn reject_insight(
    caller: Caller,
    ApiPath(insight): ApiPath<String>,
    ApiJson(request): ApiJson<MemoryDecisionRequest>,
) -> Result<Json<MemoryDecisionResponse>, ApiError> {
    set_validation(caller, insight, request, InsightValidationState::Rejected).await
}

/// Learn from a validated insight.
///
/// Stores the fact or procedure that the insight became, with the evidence of the insight. An
/// insight that is not validated gives the problem `refused`.
#[utoipa::path(post, path = "/v1/memory/insights/{insight}/learn", tag = "memory", request_body = LearnRequest,
    params(("insight" = String, Path, description = "The id of the insight, or a unique beginning of it.")),
    responses((status = 200, body = MemoryDecisionResponse)))]
pub(crate) async fn learn_insight(
    caller: Caller,
    ApiPath(insight): ApiPath<String>,
    ApiJson(request): ApiJson<LearnRequest>,
) -> Result<Json<MemoryDecisionResponse>, ApiError> {
    let unprocessable = |said: String| ApiError::unprocessable("bad_body", said);
    let scope = build_scope(&caller, request.user, request.agent, None, None)?;
    let now = resolve_now(&caller, request.now)?;
    if request.fact.is_some() == request.procedure.is_some() {
        return Err(unprocessable("set either `fact` with `value`, or `procedure`".to_owned()));
    }
    let procedure = match request.procedure {
        None => None,
        Some(Value::Object(content)) => Some(content),
        Some(_) => return Err(unprocessable("`procedure` must be an object".to_owned())),
    };
    let input = MemoryInput {
        fact: request.fact,
        value: request.value,
        procedure,
        id: request.id,
        confidence: request.confidence,
        preference: request.preference,
        notes: request.notes,
        valid_from: request.valid_from,
        valid_to: request.valid_to,
        task_type: request.task_type,
        priority: request.priority,
        tags: request.tags,
        entities: request.entities,
        ..MemoryInput::default()
    };
    let write = to_memory_write(input, InputAuthor::Person, &scope, now).map_err(unprocessable)?;
    let MemoryWrite::Claim { claim, origin, .. } = write else {
        return Err(unprocessable("set either `fact` with `value`, or `procedure`".to_owned()));
    };
    let memory = require_memory(&caller)?;
    let (decided, item) = learn_from_insight(memory, &scope, &insight, claim, origin, now).await?;
    Ok(Json(MemoryDecisionResponse { decided, saved: Some(SavedMemoryRow::from(&item)) }))
}

async fn set_validation(
    caller: Caller,
    insight: String,
    MemoryDecisionRequest { user, agent, now }: MemoryDecisionRequest,
    validation: InsightValidationState,
) -> Result<Json<MemoryDecisionResponse>, ApiError> {
    let scope = build_scope(&caller, user, agent, None, None)?;
    let now = resolve_now(&caller, now)?;
    let memory = require_memory(&caller)?;
    let (decided, item) = decide_insight(memory, &scope, &insight, validation, now).await?;
    Ok(Json(MemoryDecisionResponse { decided, saved: Some(SavedMemoryRow::from(&item)) }))
}
