//! MCP tools for decisions on what memory learns.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::tool::{McpTool, McpToolEffect, McpToolSpec};
use crate::access::Caller;
use crate::http::extract::{ApiJson, ApiPath, ApiQuery};
use crate::http::memory_decisions::{
    self as decisions, LearnRequest, ListCandidatesQuery, MemoryDecisionRequest,
    MemoryDecisionResponse, PromoteRequest, RefuseRequest,
};
use crate::http::{ApiError, HttpState};
use countersign_view::wire::MemoryCandidateView;

/// A candidate that the person decided on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct DecideCandidateParams {
    /// The user the candidate belongs to.
    user: String,
    /// The agent the candidate belongs to.
    agent: String,
    /// The id of the candidate, or a unique beginning of it.
    candidate: String,
    /// The reason for a refusal, in the words of the person.
    reason: Option<String>,
}

/// An insight that the person decided on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct DecideInsightParams {
    /// The user the insight belongs to.
    user: String,
    /// The agent the insight belongs to.
    agent: String,
    /// The id of the insight, or a unique beginning of it.
    insight: String,
}

/// What a validated insight becomes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LearnParams {
    /// The id of the insight, or a unique beginning of it.
    insight: String,
    /// The owner of the insight, and the fact or procedure that it becomes.
    learned: LearnRequest,
}

/// Candidates that wait for a decision.
#[derive(Debug, Serialize, ToSchema)]
struct CandidatesResult {
    /// The candidates, the latest first.
    items: Vec<MemoryCandidateView>,
}

/// Builds the tools of this file.
pub(super) fn build_tools() -> Vec<McpTool> {
    let tool_spec = |name, title, route, effect, says| McpToolSpec {
        name,
        title,
        route,
        effect,
        description: says,
    };
    vec![
        McpTool::new(
            tool_spec(
                "list_candidates",
                "List memory candidates",
                ("GET", "/v1/memory/candidates"),
                McpToolEffect::ReadOnly,
                "Lists claims about a user that wait for a decision, such as those that a model proposed: the claimed record, its evidence, and its origin; the latest first. They are not used as memory until someone promotes them. Use it to show the person what could be remembered.",
            ),
            list_candidates,
        ),
        McpTool::new(
            tool_spec(
                "promote_candidate",
                "Promote a candidate on behalf of a person",
                ("POST", "/v1/memory/candidates/{candidate}/promote"),
                McpToolEffect::Irreversible,
                "Makes a candidate memory, if the rules accept it as a claim; otherwise the refusal is recorded and the call returns the problem `refused` with the reason. Call this tool only after the person agreed to this particular candidate. It cannot confirm a fact: only a person can, with `countersign memory promote --confirmed`.",
            ),
            promote_candidate,
        ),
        McpTool::new(
            tool_spec(
                "refuse_candidate",
                "Refuse a candidate on behalf of a person",
                ("POST", "/v1/memory/candidates/{candidate}/refuse"),
                McpToolEffect::Irreversible,
                "Refuses a candidate: it does not become memory, and the refusal is recorded with its reason. Call this tool only after the person refused this particular candidate, with their reason as `reason`. A candidate is decided once.",
            ),
            refuse_candidate,
        ),
        McpTool::new(
            tool_spec(
                "validate_insight",
                "Validate an insight on behalf of a person",
                ("POST", "/v1/memory/insights/{insight}/validate"),
                McpToolEffect::Irreversible,
                "Records that an insight was tested and holds. Texts that were written after the insight can then reach responders, and something can be learned from it. Call this tool only after the person said that this particular insight holds, never by your own judgement.",
            ),
            validate_insight,
        ),
        McpTool::new(
            tool_spec(
                "reject_insight",
                "Reject an insight on behalf of a person",
                ("POST", "/v1/memory/insights/{insight}/reject"),
                McpToolEffect::Irreversible,
                "Records that an insight does not hold: packets no longer contain it, and texts that were written after it stay closed to responders. Call this tool only after the person said that this particular insight does not hold.",
            ),
            reject_insight,
        ),
        McpTool::new(
            tool_spec(
                "learn_insight",
                "Learn from a validated insight on behalf of a person",
                ("POST", "/v1/memory/insights/{insight}/learn"),
                McpToolEffect::Irreversible,
                "Stores the fact or procedure that a validated insight became, with the evidence of the insight. It counts as said by the person, so call this tool only after the person agreed to this wording. An insight that is not validated returns the problem `refused`: ask the person whether it holds first, and record the answer with validate_insight.",
            ),
            learn_insight,
        ),
    ]
}

async fn list_candidates(
    _: HttpState,
    caller: Caller,
    params: ListCandidatesQuery,
) -> Result<CandidatesResult, ApiError> {
    Ok(CandidatesResult {
        items: decisions::list_memory_candidates(caller, ApiQuery(params)).await?.0,
    })
}

async fn promote_candidate(
    _: HttpState,
    caller: Caller,
    params: DecideCandidateParams,
) -> Result<MemoryDecisionResponse, ApiError> {
    let DecideCandidateParams { user, agent, candidate, reason } = params;
    if reason.is_some() {
        let detail = "`reason` applies to refuse_candidate only";
        return Err(ApiError::unprocessable("bad_arguments", detail));
    }
    let request = PromoteRequest { user, agent, confirmed: false, now: None };
    let done =
        decisions::promote_memory_candidate(caller, ApiPath(candidate), ApiJson(request)).await?;
    Ok(done.0)
}

async fn refuse_candidate(
    _: HttpState,
    caller: Caller,
    params: DecideCandidateParams,
) -> Result<MemoryDecisionResponse, ApiError> {
    let DecideCandidateParams { user, agent, candidate, reason } = params;
    let request = RefuseRequest { user, agent, reason, now: None };
    let done =
        decisions::refuse_memory_candidate(caller, ApiPath(candidate), ApiJson(request)).await?;
    Ok(done.0)
}

async fn validate_insight(
    _: HttpState,
    caller: Caller,
    params: DecideInsightParams,
) -> Result<MemoryDecisionResponse, ApiError> {
    let DecideInsightParams { user, agent, insight } = params;
    let request = MemoryDecisionRequest { user, agent, now: None };
    Ok(decisions::validate_insight(caller, ApiPath(insight), ApiJson(request)).await?.0)
}

async fn reject_insight(
    _: HttpState,
    caller: Caller,
    params: DecideInsightParams,
) -> Result<MemoryDecisionResponse, ApiError> {
    let DecideInsightParams { user, agent, insight } = params;
    let request = MemoryDecisionRequest { user, agent, now: None };
    Ok(decisions::reject_insight(caller, ApiPath(insight), ApiJson(request)).await?.0)
}

async fn learn_insight(
    _: HttpState,
    caller: Caller,
    params: LearnParams,
) -> Result<MemoryDecisionResponse, ApiError> {
    let LearnParams { insight, learned } = params;
    Ok(decisions::learn_insight(caller, ApiPath(insight), ApiJson(learned)).await?.0)
}
