//! Tools about what is remembered.

use countersign_runtime::memory_context::InputAuthor;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::tool::{McpTool, McpToolEffect, McpToolSpec};
use crate::access::Caller;
use crate::http::extract::ApiJson;
use crate::http::memory::{self, ComposeRequest, MemorySearchRequest, RememberRequest};
use crate::http::{ApiError, HttpState};
use crate::wire::{MemorySearchHit, PacketView, RememberResponse};

/// What an agent would have remembered.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RememberParams {
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
    /// The things, in order: events before what rests on them.
    #[schema(value_type = Vec<RememberItemParams>)]
    things: Vec<Value>,
}

/// One thing: one of the first seven, and what is known of it. The rest is not for a model to say.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used; what comes is read by the names of `Told`")]
struct RememberItemParams {
    /// What was said or done, letter for letter.
    event: Option<String>,
    /// The key of a fact; `value` has what it is, `sources` and `quote` where it was said.
    fact: Option<String>,
    /// Something that happened, told as a whole.
    episode: Option<String>,
    /// A way of doing a kind of task: steps, tools, format.
    #[schema(value_type = Option<Object>)]
    procedure: Option<Value>,
    /// A guess.
    insight: Option<String>,
    /// What a run is doing: goal, slots, constraints, plan, decisions, risks.
    #[schema(value_type = Option<Object>)]
    working: Option<Value>,
    /// A session so far, in short.
    summary: Option<String>,
    /// What a fact is: any JSON.
    value: Option<Value>,
    /// The id of an event, a fact or a guess, by which others name it; made where absent.
    id: Option<String>,
    /// Who spoke: `user` (where absent), `assistant`, `tool`.
    role: Option<String>,
    /// What an event is: `message`, `tool_result`, `decision`, `state_patch`.
    kind: Option<String>,
    /// Where an event came from: `user`, `tool`, `web`, `model`, `imported`; by the role where absent. What you claim
    /// is `model`.
    origin: Option<String>,
    /// The name of whoever spoke.
    speaker: Option<String>,
    /// When it happened, RFC 3339.
    ts: Option<String>,
    /// By which cues find it.
    tags: Option<Vec<String>>,
    /// Whom and what it is about.
    entities: Option<Vec<String>>,
    /// The ids of events it rests on.
    sources: Option<Vec<String>>,
    /// Words that stand in the first source, letter for letter: a fact has them.
    quote: Option<String>,
    /// From 0 to 1.
    confidence: Option<f64>,
    /// Whether a fact is a preference.
    preference: Option<bool>,
    /// From when a fact holds.
    valid_from: Option<String>,
    /// Until when a fact holds.
    valid_to: Option<String>,
    /// When an episode began.
    start: Option<String>,
    /// When an episode ended.
    end: Option<String>,
    /// Points that matter in an episode.
    highlights: Option<Vec<String>>,
    /// The kind of task that a procedure is for.
    task_type: Option<String>,
    /// Of procedures, the highest comes first.
    priority: Option<i64>,
    /// What kind of guess: `hypothesis` (where absent), `strategy`, `pattern`.
    r#type: Option<String>,
    /// How far a guess was tested: `unvalidated` (where absent) or `testing`.
    validation: Option<String>,
    /// Until when an event or a guess may be seen: a moment, or `run_end`.
    expires: Option<String>,
    /// The `build` of the packet that the writer of an event was shown. Name it for what you write: what stood in
    /// the packet as a guess stays with you until it is validated.
    build: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
struct SearchMemoryResult {
    /// Events, the best first.
    items: Vec<MemorySearchHit>,
}

/// The tools.
pub(super) fn build_tools() -> Vec<McpTool> {
    let told = |name, title, route, effect, says| McpToolSpec {
        name,
        title,
        route,
        effect,
        description: says,
    };
    vec![
        McpTool::new(
            told(
                "remember",
                "Remember",
                ("POST", "/v1/memory/remember"),
                McpToolEffect::Additive,
                "Keeps things about a user, for one agent: first what was said, such as {\"event\": \"I am vegetarian\", \"id\": \"e1\"}, then what follows from it, such as {\"fact\": \"diet\", \"value\": \"vegetarian\", \"sources\": [\"e1\"], \"quote\": \"vegetarian\"}: what you claim counts as a model's, so a fact must quote an event letter for letter (`sources` and `quote`), and never takes the place of what the person said; only a person confirms. Each is kept or refused by itself: `kept` and `refused` say which and why. Use it when the person says something that should still be known later; remember what was said, not what you guess.",
            ),
            remember,
        ),
        McpTool::new(
            told(
                "compose_packet",
                "Compose what is remembered for a prompt",
                ("POST", "/v1/memory/compose"),
                McpToolEffect::Additive,
                "Composes a packet of what is remembered of a user for the task at hand, within a budget of tokens: `text` goes into a prompt, `packet` is the same as data, `build` names it for explanations. Use it at the beginning of a task, with what is being said now as `message`.",
            ),
            compose_packet,
        ),
        McpTool::new(
            told(
                "search_memory",
                "Search what is remembered",
                ("POST", "/v1/memory/search"),
                McpToolEffect::ReadOnly,
                "Looks for events that are remembered of a user, best first, each with who said it, when, and what its score is made of. Use it to look one thing up; for what belongs into a prompt use compose_packet.",
            ),
            search_memory,
        ),
    ]
}

async fn remember(
    _: HttpState,
    caller: Caller,
    asked: RememberParams,
) -> Result<RememberResponse, ApiError> {
    let RememberParams { user, agent, session, run, at, things } = asked;
    let telling = RememberRequest { user, agent, session, run, at, things };
    memory::remember_as(&caller, telling, InputAuthor::Model).await
}

async fn compose_packet(
    _: HttpState,
    caller: Caller,
    asked: ComposeRequest,
) -> Result<PacketView, ApiError> {
    Ok(memory::compose_memory_packet(caller, ApiJson(asked)).await?.0)
}

async fn search_memory(
    _: HttpState,
    caller: Caller,
    asked: MemorySearchRequest,
) -> Result<SearchMemoryResult, ApiError> {
    Ok(SearchMemoryResult { items: memory::search_memory(caller, ApiJson(asked)).await?.0 })
}
