//! Tools about what waits for a person.

use countersign_core::json::sha256;
use countersign_core::run::Incoming;
use countersign_runtime::workspace::IncomingDocument;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::stand::{PATIENCE, Stand};
use super::tool::{Effect, Told, Tool};
use crate::access::Caller;
use crate::http::documents::bring_document;
use crate::http::extract::Asked;
use crate::http::given::Patience;
use crate::http::inputs::{Along, given};
use crate::http::{ApiError, App, inbox};
use crate::wire::{InboxRow, Page};

/// Which waits.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Listing {
    /// Only of this run.
    run: Option<String>,
    /// Only of this kind: `question`, `document`, `approval`, `budget`, `work`, `trouble`.
    kind: Option<String>,
    /// Only those that you may answer: addressed to whom you act as, or to nobody in particular.
    #[serde(default)]
    mine: bool,
    /// Where to go on: the `next` of the page before.
    cursor: Option<String>,
    /// How many at most: from 1 to 500, 50 where absent.
    limit: Option<usize>,
}

/// An answer. Either `value` or `document`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Answering {
    /// The id of the run.
    run: String,
    /// The id of the wait, such as `w1`.
    wait: String,
    /// The answer, in the `shape` that the wait has; the id of a choice.
    #[serde(default, deserialize_with = "there")]
    #[schema(value_type = Option<Value>)]
    value: Option<Value>,
    /// A document that is put into the folder of work, for a wait of kind `document`.
    document: Option<Brought>,
    /// A word of your own: the same key twice is one answer.
    key: Option<String>,
}

/// Null is an answer too, and an absent one is none.
fn there<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// A document.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Brought {
    /// The name of the file, without folders; its ending says what it is.
    name: String,
    /// What stands in it.
    text: String,
}

/// A yes or a no.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Deciding {
    /// The id of the run.
    run: String,
    /// The id of the wait, such as `w1`.
    wait: String,
    /// Why, in the person's words.
    note: Option<String>,
    /// A word of your own: the same key twice is one decision.
    key: Option<String>,
}

/// A part of the inbox.
#[derive(Debug, Serialize, ToSchema)]
struct Waiting {
    /// The nearest deadline first.
    items: Vec<InboxRow>,
    /// Where the rest begins: hand it in as `cursor`. Null at the end.
    next: Option<String>,
}

/// The tools.
pub(super) fn tools() -> Vec<Tool> {
    let told = |name, title, route, effect, says| Told { name, title, route, effect, says };
    vec![
        Tool::new(
            told(
                "inbox",
                "What waits for a person",
                ("GET", "/v1/inbox"),
                Effect::Looks,
                "Lists what waits for a person, over all runs: questions, documents, approvals, budgets, troubles; the nearest deadline first. `who` says whose it is (absent: anybody's), `shape` and `in_words` what an answer looks like. Use it to tell the person what needs them.",
            ),
            list,
        ),
        Tool::new(
            told(
                "answer",
                "Answer a question",
                ("POST", "/v1/runs/{run}/waits/{wait}/answer"),
                Effect::Adds,
                "Answers a wait of kind `question` with `value`, or one of kind `document` with the text of a file. One answer is taken, and it is on record as that of whom you act as: use it only with what the person said, or where the person left the answer to you. An answer of another shape comes back with its violations, and the wait stays open.",
            ),
            answer,
        ),
        Tool::new(
            told(
                "approve",
                "Say yes in a person's name",
                ("POST", "/v1/runs/{run}/waits/{wait}/approve"),
                Effect::Decides,
                "Says yes to a wait of kind `approval`, `budget` or `trouble`, on record as whom you act as. It cannot be taken back. Approvals are there so that a person looks: call it only after the person said yes to this very wait, never by your own judgement. One that is for somebody else is refused with code `not_yours`.",
            ),
            approve,
        ),
        Tool::new(
            told(
                "deny",
                "Say no in a person's name",
                ("POST", "/v1/runs/{run}/waits/{wait}/deny"),
                Effect::Decides,
                "Says no to a wait of kind `approval`, `budget` or `trouble`, on record as whom you act as. Call it only after the person said no to this very wait, with their reason as `note`.",
            ),
            deny,
        ),
    ]
}

async fn list(_: App, caller: Caller, asked: Listing) -> Result<Waiting, ApiError> {
    let Listing { run, kind, mine, cursor, limit } = asked;
    let who = mine.then(|| caller.user.clone());
    let which = inbox::Which { run, kind, who, cursor, limit };
    let Page { items, next } = inbox::list(caller, Asked(which)).await?.0;
    Ok(Waiting { items, next })
}

async fn answer(app: App, caller: Caller, asked: Answering) -> Result<Stand, ApiError> {
    let Answering { run, wait, value, document, key } = asked;
    let along = Along { run, key, at: None, patience: Patience::seconds(PATIENCE) };
    let stands = match (value, document) {
        (Some(value), None) => {
            let by = caller.user.clone();
            given(&app, &caller, along, Incoming::Answered { wait, value, by }).await?
        }
        (None, Some(Brought { name, text })) => {
            let bytes = std::io::Cursor::new(text.into_bytes());
            let sha256 = sha256(&[bytes.get_ref()]);
            let length = bytes.get_ref().len() as u64;
            let document = IncomingDocument { name, bytes: length, sha256, content: bytes };
            bring_document(&app, &caller, along, wait, document).await?
        }
        _ => return Err(ApiError::wrong("bad_arguments", "give either `value` or `document`")),
    };
    Stand::of(&caller, stands, false).await
}

async fn approve(app: App, caller: Caller, asked: Deciding) -> Result<Stand, ApiError> {
    decide(app, caller, asked, true).await
}

async fn deny(app: App, caller: Caller, asked: Deciding) -> Result<Stand, ApiError> {
    decide(app, caller, asked, false).await
}

async fn decide(
    app: App,
    caller: Caller,
    asked: Deciding,
    approve: bool,
) -> Result<Stand, ApiError> {
    let Deciding { run, wait, note, key } = asked;
    let along = Along { run, key, at: None, patience: Patience::seconds(PATIENCE) };
    let by = caller.user.clone();
    let decided = Incoming::Decided { wait, approve, by, note };
    let stands = given(&app, &caller, along, decided).await?;
    Stand::of(&caller, stands, false).await
}
