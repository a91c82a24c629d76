//! MCP tools for runs: start, inspect, and reply in place of a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::run_update::{DEFAULT_WAIT_SECONDS, McpRunUpdate};
use super::tool::{McpTool, McpToolEffect, McpToolSpec};
use crate::access::Caller;
use crate::http::extract::ApiQuery;
use crate::http::inputs::{SubmitOptions, submit_reply_text};
use crate::http::prefer_wait::{PreferWait, await_input_response};
use crate::http::start::{StartRunRequest, begin_run};
use crate::http::{ApiError, HttpState, runs};
use countersign_view::wire::{CursorPage, NextStep, RunRow, RunStatusView};

/// The model name that asks the client for replies instead of calling a model.
const HUMAN_MODEL: &str = "human";

/// The model name that leaves the choice to the protocol and the server.
const AUTO_MODEL: &str = "auto";

/// The properties of a new run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct StartRunParams {
    /// The name of the protocol. Default: the protocol of the workspace.
    protocol: Option<String>,
    /// The id of the workflow. Default: the protocol's default workflow.
    workflow: Option<String>,
    /// The input of the run, as `show_protocol` describes it for the workflow.
    input: Option<Value>,
    /// An object to merge into the initial document.
    #[schema(value_type = Option<Object>)]
    document: Option<Value>,
    /// The id of an earlier run whose conversation this one continues, such as for a follow-up
    /// question: memory shows it what was said there.
    continues: Option<String>,
    /// Who writes the replies. `human`: you do, with `next_step` and `submit_reply`. `auto`: the
    /// models that the protocol and the server name. Or one model: `openai:NAME`, `anthropic:NAME`,
    /// …. Default: `human`.
    model: Option<String>,
    /// An idempotency key of your choice: calls with the same key start one run, so that you can
    /// repeat a call safely.
    idempotency_key: Option<String>,
    /// How many seconds to wait for the run to pause, at most 25. Default: 10.
    wait_seconds: Option<u64>,
}

/// The filter of the list of runs.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ListRunsParams {
    /// Only runs with all of these words in the title, the input or the document, in any script.
    q: Option<String>,
    /// Only runs with this status: `running`, `waiting`, `halted`, `completed`, `failed`.
    status: Option<String>,
    /// Only runs of this workflow.
    workflow: Option<String>,
    /// Only runs of this version of their protocol, such as `1.2.0`.
    version: Option<String>,
    /// Only runs that were created at this time or later (RFC 3339).
    since: Option<String>,
    /// Only runs that were created before this time (RFC 3339).
    until: Option<String>,
    /// Only runs that this user started.
    started_by: Option<String>,
    /// The `next_cursor` value of the previous page.
    cursor: Option<String>,
    /// Maximum number of items, from 1 to 500. Default: 50.
    limit: Option<usize>,
}

/// Selects a run and a version.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LookAtRunParams {
    /// The id of the run.
    run: String,
    /// The version of the run. Default: the newest.
    version: Option<u64>,
}

/// Selects a part of a run's document.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReadDocumentParams {
    /// The id of the run.
    run: String,
    /// The version of the run. Default: the newest.
    version: Option<u64>,
    /// A JSON Pointer such as `/tasks/0`. Default: the whole document.
    pointer: Option<String>,
}

/// Selects a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NextStepParams {
    /// The id of the run.
    run: String,
}

/// A reply. Set either `reply` or `text`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SubmitReplyParams {
    /// The id of the run.
    run: String,
    /// The action that the reply answers: the `action` from `next_step`. Leave it out if
    /// `next_step` asked for a patch.
    action: Option<String>,
    /// The reply as a JSON value. Prefer this over `text`.
    reply: Option<Value>,
    /// The reply as text, including everything around the JSON object; the contract's intake mode
    /// determines what is allowed.
    text: Option<String>,
    /// The `version` from `next_step`. The run refuses the reply if it has a newer version.
    version: Option<u64>,
    /// An idempotency key of your choice: calls with the same key count as one reply, so that you
    /// can repeat a call safely.
    idempotency_key: Option<String>,
    /// How many seconds to wait for the run to pause, at most 25. Default: 10.
    wait_seconds: Option<u64>,
}

/// A page of the list of runs.
#[derive(Debug, Serialize, ToSchema)]
struct ListRunsResult {
    /// The runs, newest first.
    items: Vec<RunRow>,
    /// The cursor of the next page: pass it as `cursor`. Null on the last page.
    next_cursor: Option<String>,
}

/// A part of a run's document.
#[derive(Debug, Serialize, ToSchema)]
struct ReadDocumentResult {
    /// The id of the run.
    run: String,
    /// The version that the value is from.
    version: u64,
    /// The JSON Pointer of the value; empty for the whole document.
    pointer: String,
    /// The value at the pointer.
    value: Value,
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
                "start_run",
                "Start a run",
                ("POST", "/v1/runs"),
                McpToolEffect::Additive,
                "Starts a run of a protocol. You write the replies unless `model` names another author. Returns the id of the run, its status, and in `next_step` what to do. Next: call next_step. A workflow that declares an input does not start without one; show_protocol returns its schema.",
            ),
            start_run,
        ),
        McpTool::new(
            tool_spec(
                "list_runs",
                "List runs",
                ("GET", "/v1/runs"),
                McpToolEffect::ReadOnly,
                "Lists runs, newest first, with title, status, phase and the reason for the status in one line; `q` searches titles, inputs and documents. Use it to find a run that the person mentions, or a run to continue.",
            ),
            list_runs,
        ),
        McpTool::new(
            tool_spec(
                "show_run",
                "Show a run",
                ("GET", "/v1/runs/{run}"),
                McpToolEffect::ReadOnly,
                "Returns the status of a run and its reasons: phase, open waits, closed gates and why they are closed, budgets, how the run ended, and its output. Changes nothing. Use it to report on a run, or to follow a run that a model or a worker is processing.",
            ),
            show_run,
        ),
        McpTool::new(
            tool_spec(
                "read_document",
                "Read the document of a run",
                ("GET", "/v1/runs/{run}/document"),
                McpToolEffect::ReadOnly,
                "Reads the document of a run, or the value at a JSON Pointer in it, at the newest or an earlier version. Replies change the document only through their contract.",
            ),
            read_document,
        ),
        McpTool::new(
            tool_spec(
                "next_step",
                "Get the next step",
                ("GET", "/v1/runs/{run}/next"),
                McpToolEffect::ReadOnly,
                "Returns everything you need to reply in place of the model of a run: `expects` says what the run expects (`reply`, `patch`, or null for nothing), `system` and `messages` are the prompt to follow, `packet` is the part of the document that you are shown, `contract` has the JSON Schema and the rules that your reply must satisfy, and `action` is the action that the reply answers. Read all of it, write the reply, then call submit_reply with that `action`. If `expects` is null, `waits` says whom the run waits for.",
            ),
            next_step,
        ),
        McpTool::new(
            tool_spec(
                "submit_reply",
                "Submit a reply",
                ("POST", "/v1/runs/{run}/submit"),
                McpToolEffect::Additive,
                "Submits the reply that next_step asked for, or a patch. The reply is checked against the contract; `accepted` is the verdict. A refused reply does not change the document, but it counts as an attempt: `violations` lists every error with its pointer, what was expected and what was found. Fix all of them and submit again with the new `action`; after too many attempts, the run stops or asks a person. Never invent facts to satisfy a rule.",
            ),
            submit_reply,
        ),
    ]
}

async fn start_run(
    app: HttpState,
    caller: Caller,
    params: StartRunParams,
) -> Result<McpRunUpdate, ApiError> {
    let StartRunParams {
        protocol,
        workflow,
        input,
        document,
        continues,
        model,
        idempotency_key: key,
        wait_seconds,
    } = params;
    let model = match model {
        None => Some(HUMAN_MODEL.to_owned()),
        Some(word) if word == AUTO_MODEL => None,
        Some(named) => Some(named),
    };
    let new = StartRunRequest { protocol, workflow, input, document, continues, model };
    let run = begin_run(&app, &caller, new, key).await?;
    let patience = PreferWait::from_seconds(wait_seconds.unwrap_or(DEFAULT_WAIT_SECONDS));
    let stands = await_input_response(&app, &caller, &run, None, patience, None).await?;
    McpRunUpdate::from_input_response(&caller, stands, false).await
}

async fn list_runs(
    _: HttpState,
    caller: Caller,
    params: ListRunsParams,
) -> Result<ListRunsResult, ApiError> {
    let ListRunsParams { q, status, workflow, version, since, until, started_by, cursor, limit } =
        params;
    let which = runs::ListRunsQuery {
        q,
        status,
        workflow,
        phase: None,
        protocol: None,
        version,
        since,
        until,
        started_by,
        cursor,
        limit,
    };
    let CursorPage { items, next_cursor: next } = runs::list_runs(caller, ApiQuery(which)).await?.0;
    Ok(ListRunsResult { items, next_cursor: next })
}

async fn show_run(
    app: HttpState,
    caller: Caller,
    LookAtRunParams { run, version: at }: LookAtRunParams,
) -> Result<RunStatusView, ApiError> {
    runs::load_run_status(&app, &caller.runtime.engine, &run, at).await
}

async fn read_document(
    _: HttpState,
    caller: Caller,
    params: ReadDocumentParams,
) -> Result<ReadDocumentResult, ApiError> {
    let ReadDocumentParams { run, version: at, pointer } = params;
    let pointer = pointer.unwrap_or_default();
    let state = runs::load_run_at(&caller.runtime.engine, &run, at).await?.state;
    let value = crate::http::run_reads::read_pointer(&state.document, &pointer)?;
    Ok(ReadDocumentResult { run, version: state.version, pointer, value })
}

async fn next_step(
    _: HttpState,
    caller: Caller,
    NextStepParams { run }: NextStepParams,
) -> Result<NextStep, ApiError> {
    let engine = &caller.runtime.engine;
    Ok(NextStep::load(engine, &engine.load_version(&run, None).await?).await)
}

async fn submit_reply(
    app: HttpState,
    caller: Caller,
    params: SubmitReplyParams,
) -> Result<McpRunUpdate, ApiError> {
    let SubmitReplyParams { run, action, reply, text, version, idempotency_key: key, wait_seconds } =
        params;
    let text = match (reply, text) {
        (Some(reply), None) => reply.to_string(),
        (None, Some(text)) => text,
        _ => return Err(ApiError::unprocessable("bad_arguments", "set either `reply` or `text`")),
    };
    let patience = PreferWait::from_seconds(wait_seconds.unwrap_or(DEFAULT_WAIT_SECONDS));
    let along = SubmitOptions {
        run,
        idempotency_key: key,
        expected_version: version,
        prefer_wait: patience,
    };
    let stands = submit_reply_text(&app, &caller, along, text, action).await?;
    McpRunUpdate::from_input_response(&caller, stands, true).await
}
