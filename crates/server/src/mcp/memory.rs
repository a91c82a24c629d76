//! Tools about what is remembered.

use serde::Serialize;
use utoipa::ToSchema;

use super::tool::{Effect, Told, Tool};
use crate::access::Caller;
use crate::http::extract::Body;
use crate::http::memory::{self, Composing, Searching, Telling};
use crate::http::{ApiError, App};
use crate::wire::{Hit, Packet, Remembered};

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
struct Hits {
    /// Events, the best first.
    items: Vec<Hit>,
}

/// The tools.
pub(super) fn tools() -> Vec<Tool> {
    let told = |name, title, route, effect, says| Told { name, title, route, effect, says };
    vec![
        Tool::new(
            told(
                "remember",
                "Remember",
                ("POST", "/v1/memory/remember"),
                Effect::Adds,
                "Keeps things about a user, for one agent: first what was said, such as {\"event\": \"I am vegetarian\", \"id\": \"e1\"}, then what follows from it, such as {\"fact\": \"diet\", \"value\": \"vegetarian\", \"sources\": [\"e1\"], \"quote\": \"vegetarian\"}: a fact names the events it comes from. Each is kept or refused by itself: `kept` and `refused` say which and why. Use it when the person says something that should still be known later; remember what was said, not what you guess.",
            ),
            remember,
        ),
        Tool::new(
            told(
                "compose_packet",
                "Compose what is remembered for a prompt",
                ("POST", "/v1/memory/compose"),
                Effect::Adds,
                "Composes a packet of what is remembered of a user for the task at hand, within a budget of tokens: `text` goes into a prompt, `packet` is the same as data, `build` names it for explanations. Use it at the beginning of a task, with what is being said now as `message`.",
            ),
            compose,
        ),
        Tool::new(
            told(
                "search_memory",
                "Search what is remembered",
                ("POST", "/v1/memory/search"),
                Effect::Looks,
                "Looks for events that are remembered of a user, best first, each with who said it, when, and what its score is made of. Use it to look one thing up; for what belongs into a prompt use compose_packet.",
            ),
            search,
        ),
    ]
}

async fn remember(_: App, caller: Caller, asked: Telling) -> Result<Remembered, ApiError> {
    Ok(memory::remember(caller, Body(asked)).await?.0)
}

async fn compose(_: App, caller: Caller, asked: Composing) -> Result<Packet, ApiError> {
    Ok(memory::compose(caller, Body(asked)).await?.0)
}

async fn search(_: App, caller: Caller, asked: Searching) -> Result<Hits, ApiError> {
    Ok(Hits { items: memory::search(caller, Body(asked)).await?.0 })
}
