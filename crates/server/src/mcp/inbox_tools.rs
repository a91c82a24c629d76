//! MCP tools for waits in the inbox.

use countersign_contract::json::sha256_hex;
use countersign_run::InputKind;
use countersign_runtime::workspace::IncomingDocument;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::run_update::{DEFAULT_WAIT_SECONDS, McpRunUpdate};
use super::tool::{McpTool, McpToolEffect, McpToolSpec};
use crate::access::Caller;
use crate::http::extract::ApiQuery;
use crate::http::inputs::{SubmitOptions, submit_input};
use crate::http::prefer_wait::PreferWait;
use crate::http::uploads::answer_with_document;
use crate::http::{ApiError, HttpState, inbox};
use countersign_view::wire::{CursorPage, InboxRow};

/// The filter of the inbox.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct InboxParams {
    /// Only waits of this run.
    run: Option<String>,
    /// Only waits of this kind: `question`, `document`, `approval`, `budget`, `work`, `incident`.
    kind: Option<String>,
    /// Only waits that you may answer: those assigned to the user you act as, and those without an
    /// assignee. Default: false.
    #[serde(default)]
    mine: bool,
    /// The `next_cursor` value of the previous page.
    cursor: Option<String>,
    /// Maximum number of items, from 1 to 500. Default: 50.
    limit: Option<usize>,
}

/// An answer. Set either `value` or `document`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AnswerParams {
    /// The id of the run.
    run: String,
    /// The id of the wait, such as `w1`.
    wait: String,
    /// The answer, in the `answer_shape` of the wait. For a choice: its id.
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schema(value_type = Option<Value>)]
    value: Option<Value>,
    /// A document to save in the workspace, for a wait of kind `document`.
    document: Option<AnswerDocumentParams>,
    /// An idempotency key of your choice: calls with the same key count as one answer.
    idempotency_key: Option<String>,
}

/// Accepts null as an answer, but not an absent member.
fn deserialize_present<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// A document that answers a wait.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AnswerDocumentParams {
    /// The file name without folders. Its extension determines the document type.
    name: String,
    /// The contents of the document.
    text: String,
}

/// An approval or a denial.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct DecideParams {
    /// The id of the run.
    run: String,
    /// The id of the wait, such as `w1`.
    wait: String,
    /// The reason, in the words of the person.
    note: Option<String>,
    /// The `subject.digest` of the wait that you showed to the person. Required to approve a wait
    /// that has a `subject`.
    subject: Option<String>,
    /// An idempotency key of your choice: calls with the same key count as one decision.
    idempotency_key: Option<String>,
}

/// A page of the inbox.
#[derive(Debug, Serialize, ToSchema)]
struct InboxResult {
    /// The waits, nearest deadline first.
    items: Vec<InboxRow>,
    /// The cursor of the next page: pass it as `cursor`. Null on the last page.
    next_cursor: Option<String>,
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
                "inbox",
                "List open waits",
                ("GET", "/v1/inbox"),
                McpToolEffect::ReadOnly,
                "Lists the open waits of all runs: questions, documents, approvals, budgets, manual work and incidents; the nearest deadline first. `who` is the assignee (absent: anyone may answer), and `answer_shape` and `answer_hint` describe the expected answer. Use it to tell the person what needs their attention.",
            ),
            list_inbox,
        ),
        McpTool::new(
            tool_spec(
                "answer",
                "Answer a question",
                ("POST", "/v1/runs/{run}/waits/{wait}/answer"),
                McpToolEffect::Additive,
                "Answers a wait of kind `question` with `value`, or a wait of kind `document` with the text of a file. A wait accepts exactly one answer, and the answer is recorded under the name of the user you act as: send what the person said, or answer yourself only if the person left the answer to you. If the answer does not have the expected shape, the call returns the violations and the wait stays open.",
            ),
            answer_wait,
        ),
        McpTool::new(
            tool_spec(
                "approve",
                "Approve on behalf of a person",
                ("POST", "/v1/runs/{run}/waits/{wait}/approve"),
                McpToolEffect::Irreversible,
                "Approves a wait of kind `approval`, `budget` or `incident`. The decision is recorded under the name of the user you act as and cannot be undone. Approvals exist so that a person checks: call this tool only after the person approved this particular wait, never by your own judgement. First show the person the `subject` of the wait, and pass its `digest` as `subject`: if the subject has changed since, the call is refused with code `subject_changed`. A wait that is assigned to another user is refused with code `not_assignee`.",
            ),
            approve_wait,
        ),
        McpTool::new(
            tool_spec(
                "deny",
                "Deny on behalf of a person",
                ("POST", "/v1/runs/{run}/waits/{wait}/deny"),
                McpToolEffect::Irreversible,
                "Denies a wait of kind `approval`, `budget` or `incident`. The decision is recorded under the name of the user you act as and cannot be undone. Call this tool only after the person denied this particular wait, with their reason as `note`.",
            ),
            deny_wait,
        ),
    ]
}

async fn list_inbox(
    _: HttpState,
    caller: Caller,
    params: InboxParams,
) -> Result<InboxResult, ApiError> {
    let InboxParams { run, kind, mine, cursor, limit } = params;
    let who = mine.then(|| "me".to_owned());
    let which = inbox::InboxQuery { run, kind, who, cursor, limit };
    let CursorPage { items, next_cursor: next } =
        inbox::list_inbox(caller, ApiQuery(which)).await?.0;
    Ok(InboxResult { items, next_cursor: next })
}

async fn answer_wait(
    app: HttpState,
    caller: Caller,
    params: AnswerParams,
) -> Result<McpRunUpdate, ApiError> {
    let AnswerParams { run, wait, value, document, idempotency_key: key } = params;
    let along = SubmitOptions {
        run,
        idempotency_key: key,
        expected_version: None,
        prefer_wait: PreferWait::from_seconds(DEFAULT_WAIT_SECONDS),
    };
    let stands = match (value, document) {
        (Some(value), None) => {
            let by = caller.user.clone();
            submit_input(&app, &caller, along, InputKind::Answered { wait, value, by }).await?
        }
        (None, Some(AnswerDocumentParams { name, text })) => {
            let bytes = std::io::Cursor::new(text.into_bytes());
            let sha256 = sha256_hex(&[bytes.get_ref()]);
            let length = bytes.get_ref().len() as u64;
            let document = IncomingDocument { name, bytes: length, sha256, content: bytes };
            answer_with_document(&app, &caller, along, wait, document).await?
        }
        _ => {
            return Err(ApiError::unprocessable(
                "bad_arguments",
                "set either `value` or `document`",
            ));
        }
    };
    McpRunUpdate::from_input_response(&caller, stands, false).await
}

async fn approve_wait(
    app: HttpState,
    caller: Caller,
    params: DecideParams,
) -> Result<McpRunUpdate, ApiError> {
    decide_wait(app, caller, params, true).await
}

async fn deny_wait(
    app: HttpState,
    caller: Caller,
    params: DecideParams,
) -> Result<McpRunUpdate, ApiError> {
    decide_wait(app, caller, params, false).await
}

async fn decide_wait(
    app: HttpState,
    caller: Caller,
    params: DecideParams,
    approve: bool,
) -> Result<McpRunUpdate, ApiError> {
    let DecideParams { run, wait, note, subject, idempotency_key: key } = params;
    let along = SubmitOptions {
        run,
        idempotency_key: key,
        expected_version: None,
        prefer_wait: PreferWait::from_seconds(DEFAULT_WAIT_SECONDS),
    };
    let by = caller.user.clone();
    let decided = InputKind::ApprovalDecided { wait, approve, by, note, subject };
    let stands = submit_input(&app, &caller, along, decided).await?;
    McpRunUpdate::from_input_response(&caller, stands, false).await
}
