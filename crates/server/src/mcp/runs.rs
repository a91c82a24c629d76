//! Tools about runs: starting, looking, taking the model's place.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::stand::{PATIENCE, Stand};
use super::tool::{Effect, Told, Tool};
use crate::access::Caller;
use crate::http::extract::Asked;
use crate::http::given::{Patience, taken};
use crate::http::inputs::{Along, handed};
use crate::http::start::{NewRun, begun};
use crate::http::{ApiError, App, runs};
use crate::wire::{NextStep, Page, RunRow, RunStatus};

/// What asks whoever is outside, instead of a model that has an address.
const YOU: &str = "human";

/// What leaves the choice to the protocol and the server.
const AUTO: &str = "auto";

/// What a run is started with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Starting {
    /// The protocol by name; that of the folder of work where absent.
    protocol: Option<String>,
    /// The workflow by id; the protocol's default where absent.
    workflow: Option<String>,
    /// What it is given, as `show_protocol` says that its workflow wants it.
    input: Option<Value>,
    /// An object that is merged into its first document.
    #[schema(value_type = Option<Object>)]
    document: Option<Value>,
    /// Who writes the replies. Absent or `human`: you do, by `next_step` and `submit_reply`. `auto`: whatever models
    /// the protocol and the server name. Or one model: `openai:NAME`, `anthropic:NAME`, ….
    model: Option<String>,
    /// A word of your own: the same key twice starts one run, so that a call can be repeated safely.
    key: Option<String>,
    /// How many seconds to wait for it to rest: 10 where absent, 25 at most.
    wait_seconds: Option<u64>,
}

/// Which runs.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Listing {
    /// Only with this status: `running`, `waiting`, `halted`, `completed`, `failed`.
    status: Option<String>,
    /// Only of this workflow.
    workflow: Option<String>,
    /// Where to go on: the `next` of the page before.
    cursor: Option<String>,
    /// How many at most: from 1 to 500, 50 where absent.
    limit: Option<usize>,
}

/// Which run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Looking {
    /// The id of the run.
    run: String,
    /// At which version; as it is now where absent.
    at: Option<u64>,
}

/// Which part of which document.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Reading {
    /// The id of the run.
    run: String,
    /// At which version; as it is now where absent.
    at: Option<u64>,
    /// A JSON Pointer such as `/tasks/0`; the whole document where absent.
    pointer: Option<String>,
}

/// Which run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct OfRun {
    /// The id of the run.
    run: String,
}

/// A reply. Either `reply` or `text`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Submitting {
    /// The id of the run.
    run: String,
    /// The order that it answers: the `action` that `next_step` gave. Absent where `next_step` asked for a patch.
    action: Option<String>,
    /// The reply as a JSON value. The easy way.
    reply: Option<Value>,
    /// The reply as text, with whatever stands around it; the contract says what may.
    text: Option<String>,
    /// The `version` that `next_step` gave: a run that has gone on since refuses the reply.
    version: Option<u64>,
    /// A word of your own: the same key twice is one reply, so that a call can be repeated safely.
    key: Option<String>,
    /// How many seconds to wait for the run to rest: 10 where absent, 25 at most.
    wait_seconds: Option<u64>,
}

/// A part of the list of runs.
#[derive(Debug, Serialize, ToSchema)]
struct Runs {
    /// The newest first.
    items: Vec<RunRow>,
    /// Where the rest begins: hand it in as `cursor`. Null at the end.
    next: Option<String>,
}

/// A place of a document.
#[derive(Debug, Serialize, ToSchema)]
struct Document {
    /// The run.
    run: String,
    /// The version it is of.
    version: u64,
    /// The place.
    pointer: String,
    /// What stands there.
    value: Value,
}

/// The tools.
pub(super) fn tools() -> Vec<Tool> {
    let told = |name, title, route, effect, says| Told { name, title, route, effect, says };
    vec![
        Tool::new(
            told(
                "start_run",
                "Start a run",
                ("POST", "/v1/runs"),
                Effect::Adds,
                "Starts a run of a protocol, in which you write the replies unless `model` says otherwise. Comes back with its id, where it stands, and in `next` what to do. Next: next_step. A workflow with an input refuses to start without one: show_protocol has its schema.",
            ),
            start,
        ),
        Tool::new(
            told(
                "list_runs",
                "List runs",
                ("GET", "/v1/runs"),
                Effect::Looks,
                "Lists runs, the newest first, with status, phase and a line on why each stands where it stands. Use it to find a run that somebody speaks of, or one to go on with.",
            ),
            list,
        ),
        Tool::new(
            told(
                "look_at_run",
                "Look at a run",
                ("GET", "/v1/runs/{run}"),
                Effect::Looks,
                "Says where a run stands and why: status, phase, what it waits for, which gates are closed and for what reason, budgets, how it ended, what it made. Changes nothing. Use it to report on a run, or while something else works on it.",
            ),
            look,
        ),
        Tool::new(
            told(
                "read_document",
                "Read the document of a run",
                ("GET", "/v1/runs/{run}/document"),
                Effect::Looks,
                "Reads the document that a run works on, or one place of it, now or at an earlier version. Replies change it only through their contract.",
            ),
            document,
        ),
        Tool::new(
            told(
                "next_step",
                "What a run asks for",
                ("GET", "/v1/runs/{run}/next"),
                Effect::Looks,
                "Gives everything you need to take the model's place in a run: `asks` says what is wanted (`reply`, `patch`, or null: nothing now), `system` and `turns` are the prompt to follow, `packet` what of the document you are shown, `contract` the JSON Schema and rules that your reply must satisfy, `action` the order it answers. Read all of it, write the reply, then submit_reply with that `action`. Where `asks` is null, `waits` says for whom it waits.",
            ),
            next,
        ),
        Tool::new(
            told(
                "submit_reply",
                "Hand in a reply",
                ("POST", "/v1/runs/{run}/submit"),
                Effect::Adds,
                "Hands in the reply that next_step asked for, or a patch. It is held against the contract: `accepted` says the verdict. A refused reply changes nothing in the document, but counts as a try: `violations` has every fault with its place, what was expected and what was found. Mend them all and hand in again under the new `action`; after too many tries the run stops or asks a person. Never make up facts to get past a rule.",
            ),
            submit,
        ),
    ]
}

async fn start(app: App, caller: Caller, asked: Starting) -> Result<Stand, ApiError> {
    let Starting { protocol, workflow, input, document, model, key, wait_seconds } = asked;
    let model = match model {
        None => Some(YOU.to_owned()),
        Some(word) if word == AUTO => None,
        Some(named) => Some(named),
    };
    let new = NewRun { protocol, workflow, input, document, model };
    let run = begun(&app, &caller, new, key).await?;
    let patience = Patience::seconds(wait_seconds.unwrap_or(PATIENCE));
    let stands = taken(&app, &caller, &run, None, patience, None).await?;
    Stand::of(&caller, stands, false).await
}

async fn list(_: App, caller: Caller, asked: Listing) -> Result<Runs, ApiError> {
    let Listing { status, workflow, cursor, limit } = asked;
    let which = runs::Which { status, workflow, phase: None, protocol: None, cursor, limit };
    let Page { items, next } = runs::list(caller, Asked(which)).await?.0;
    Ok(Runs { items, next })
}

async fn look(
    app: App,
    caller: Caller,
    Looking { run, at }: Looking,
) -> Result<RunStatus, ApiError> {
    runs::standing(&app, &caller.desk.engine, &run, at).await
}

async fn document(_: App, caller: Caller, asked: Reading) -> Result<Document, ApiError> {
    let Reading { run, at, pointer } = asked;
    let pointer = pointer.unwrap_or_default();
    let state = runs::seen(&caller.desk.engine, &run, at).await?.state;
    let value = crate::http::looks::place_of(&state.document, &pointer)?;
    Ok(Document { run, version: state.version, pointer, value })
}

async fn next(_: App, caller: Caller, OfRun { run }: OfRun) -> Result<NextStep, ApiError> {
    let engine = &caller.desk.engine;
    Ok(NextStep::of(engine, &engine.at(&run, None).await?).await)
}

async fn submit(app: App, caller: Caller, asked: Submitting) -> Result<Stand, ApiError> {
    let Submitting { run, action, reply, text, version, key, wait_seconds } = asked;
    let text = match (reply, text) {
        (Some(reply), None) => reply.to_string(),
        (None, Some(text)) => text,
        _ => return Err(ApiError::wrong("bad_arguments", "give either `reply` or `text`")),
    };
    let patience = Patience::seconds(wait_seconds.unwrap_or(PATIENCE));
    let along = Along { run, key, at: version, patience };
    let stands = handed(&app, &caller, along, text, action).await?;
    Stand::of(&caller, stands, true).await
}
