//! MCP tools for memory.

use countersign_runtime::memory_context::InputAuthor;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::tool::{McpTool, McpToolEffect, McpToolSpec};
use crate::access::Caller;
use crate::http::extract::ApiJson;
use crate::http::memory::{self, ComposeRequest, MemorySearchRequest, RememberRequest};
use crate::http::{ApiError, HttpState};
use countersign_view::wire::{MemorySearchHit, PacketView, RememberResponse};

/// Records that an agent adds to memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RememberParams {
    /// The user the records belong to.
    user: String,
    /// The agent the records belong to.
    agent: String,
    /// The session the records belong to. Default: `default`.
    session: Option<String>,
    /// The run the records belong to. Default: `default`.
    run: Option<String>,
    /// The timestamp to use as the current time, in RFC 3339 format. Default: now.
    now: Option<String>,
    /// The records in order: events before the records that cite them.
    #[schema(value_type = Vec<RememberItemParams>)]
    items: Vec<Value>,
}

/// One record. Set exactly one of the first seven members, and the details that apply to it. A
/// model cannot set other members.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "only the schema of this type is used; requests are parsed as `MemoryInput`"
)]
struct RememberItemParams {
    /// The exact text of what was said or done.
    event: Option<String>,
    /// The key of a fact. `value` contains the fact, `sources` and `quote` the evidence.
    fact: Option<String>,
    /// A summary of something that happened.
    episode: Option<String>,
    /// How to do a kind of task: steps, tools, format.
    #[schema(value_type = Option<Object>)]
    procedure: Option<Value>,
    /// A conclusion that is not verified.
    insight: Option<String>,
    /// The working state of a run: goal, slots, constraints, plan, decisions, risks.
    #[schema(value_type = Option<Object>)]
    working_memory: Option<Value>,
    /// A short summary of the session so far.
    summary: Option<String>,
    /// The value of a fact: any JSON.
    value: Option<Value>,
    /// The id of an event, fact or insight, which other records use to refer to it. Default:
    /// generated.
    id: Option<String>,
    /// Who spoke: `user`, `assistant` or `tool`. Default: `user`.
    role: Option<String>,
    /// The kind of event: `message`, `tool_result`, `decision`, `state_patch`.
    kind: Option<String>,
    /// The origin of an event: `user`, `tool`, `web`, `model`, `imported`. Default: derived from
    /// the role. Use `model` for your own claims.
    origin: Option<String>,
    /// The name of the speaker.
    speaker: Option<String>,
    /// When it happened, in RFC 3339 format.
    ts: Option<String>,
    /// Tags that help to find the record.
    tags: Option<Vec<String>>,
    /// The people and things that the record is about.
    entities: Option<Vec<String>>,
    /// The ids of the events that the record is based on.
    sources: Option<Vec<String>>,
    /// Exact words from the first source. Required for a fact.
    quote: Option<String>,
    /// The confidence, from 0 to 1.
    confidence: Option<f64>,
    /// Whether a fact is a preference.
    preference: Option<bool>,
    /// A remark about a fact, for people.
    notes: Option<String>,
    /// When a fact becomes valid, in RFC 3339 format.
    valid_from: Option<String>,
    /// When a fact stops being valid, in RFC 3339 format.
    valid_to: Option<String>,
    /// When an episode began, in RFC 3339 format.
    start: Option<String>,
    /// When an episode ended, in RFC 3339 format.
    end: Option<String>,
    /// The important points of an episode.
    highlights: Option<Vec<String>>,
    /// How far an episode is condensed already: `raw`, `phase_summary` or `milestone`. Default:
    /// `raw`.
    compression_level: Option<String>,
    /// The kind of task that a procedure is for.
    task_type: Option<String>,
    /// The priority of a procedure; the highest comes first.
    priority: Option<i64>,
    /// Further conditions under which a procedure applies.
    #[schema(value_type = Option<Object>)]
    applicability: Option<Value>,
    /// What prompted an insight: `conflict`, `failure`, `synthesis` or `analogy`. Default:
    /// `synthesis`.
    trigger: Option<String>,
    /// Suggestions for testing an insight.
    tests_suggested: Option<Vec<String>>,
    /// The type of insight: `hypothesis`, `strategy` or `pattern`. Default: `hypothesis`.
    r#type: Option<String>,
    /// How far an insight is validated: `unvalidated` or `testing`. Default: `unvalidated`.
    validation: Option<String>,
    /// When an event or insight expires: a timestamp in RFC 3339 format, or `run_end`.
    expires: Option<String>,
    /// The `build` of the packet that the author of an event was shown. Set it for what you write:
    /// insights from the packet stay private to you until they are validated.
    build: Option<String>,
}

/// The result of a search.
#[derive(Debug, Serialize, ToSchema)]
struct SearchMemoryResult {
    /// The events, best match first.
    items: Vec<MemorySearchHit>,
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
                "remember",
                "Add to memory",
                ("POST", "/v1/memory/remember"),
                McpToolEffect::Additive,
                "Stores records about a user for one agent. Send first what was said, such as {\"event\": \"I am vegetarian\", \"id\": \"e1\"}, then what follows from it, such as {\"fact\": \"diet\", \"value\": \"vegetarian\", \"sources\": [\"e1\"], \"quote\": \"vegetarian\"}. Your claims count as those of a model: a fact must quote an event exactly (`sources` and `quote`), and it never replaces what the person said; only a person can confirm a fact. Each record is accepted or refused separately: `saved` lists the stored records, `refused` the others with the reason. Use it when the person says something that should still be known later. Store what was said, not what you assume.",
            ),
            remember,
        ),
        McpTool::new(
            tool_spec(
                "compose_packet",
                "Compose a memory packet",
                ("POST", "/v1/memory/compose"),
                McpToolEffect::Additive,
                "Composes a packet from the memory of a user for the current task, within a token budget: `text` is for the prompt, `packet` contains the same as structured data, and `build` is the id with which the packet can be explained. Use it at the start of a task, with the current message as `message`.",
            ),
            compose_packet,
        ),
        McpTool::new(
            tool_spec(
                "search_memory",
                "Search memory",
                ("POST", "/v1/memory/search"),
                McpToolEffect::ReadOnly,
                "Searches the remembered events of a user and returns the best match first; each hit says who spoke, when, and how its score is computed. Use it to look up one thing. To get memory for a prompt, use compose_packet.",
            ),
            search_memory,
        ),
    ]
}

async fn remember(
    _: HttpState,
    caller: Caller,
    params: RememberParams,
) -> Result<RememberResponse, ApiError> {
    let RememberParams { user, agent, session, run, now: at, items: things } = params;
    let telling = RememberRequest { user, agent, session, run, now: at, items: things };
    memory::remember_as(&caller, telling, InputAuthor::Model).await
}

async fn compose_packet(
    _: HttpState,
    caller: Caller,
    params: ComposeRequest,
) -> Result<PacketView, ApiError> {
    Ok(memory::compose_memory_packet(caller, ApiJson(params)).await?.0)
}

async fn search_memory(
    _: HttpState,
    caller: Caller,
    params: MemorySearchRequest,
) -> Result<SearchMemoryResult, ApiError> {
    Ok(SearchMemoryResult { items: memory::search_memory(caller, ApiJson(params)).await?.0 })
}
