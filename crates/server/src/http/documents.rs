//! Documents that a run waits for: the wait is looked at first, then the file is spooled, then it is put into the
//! folder of work and the wait is answered.

use std::io::Read;

use axum::extract::{Request, State};
use axum::response::Response;
use countersign_core::run::{Incoming, Rejection, Wait, WaitKind};
use countersign_runtime::workspace::{IncomingDocument, bring};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use super::extract::{Asked, At};
use super::idempotency::Once;
use super::inputs::{Along, Matching, given_as, tagged};
use super::spool::spool_document;
use super::{ApiError, App};
use crate::access::Caller;
use crate::wire::Taken;

/// The path of uploads, whose bodies are spooled to the disk.
pub(super) const UPLOAD_PATH: &str = "/v1/runs/{run}/waits/{wait}/document";

/// What a document is called.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Called {
    /// The name of the file, without folders; its ending says what it is.
    name: String,
}

/// Brings a document: the body is the file, as it is. It is put into the folder of work, and the wait answered.
#[utoipa::path(put, path = "/v1/runs/{run}/waits/{wait}/document", tag = "inbox",
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    params(("run" = String, Path, description = "The id of the run."),
        ("wait" = String, Path, description = "The id of the wait."), Called,
        ("Idempotency-Key" = Option<String>, Header, description = "The same key twice is one input.")),
    responses((status = 200, body = Taken)))]
pub(crate) async fn document(
    State(app): State<App>,
    caller: Caller,
    At((run, wait)): At<(String, String)>,
    Asked(Called { name }): Asked<Called>,
    Once(key): Once,
    request: Request,
) -> Result<Response, ApiError> {
    let along = Along::of(run, key, request.headers())?;
    check_upload(&caller, &along, &wait, &name).await?;
    let mut slot = app.quotas.uploads.share(&caller);
    slot.grow(1)?;
    let (parts, body) = request.into_parts();
    let (document, share) = spool_document(&app, &caller, name, &parts.headers, body).await?;
    let taken = bring_document(&app, &caller, along, wait, document).await;
    drop((slot, share));
    Ok(tagged(taken?))
}

/// Whether a document would be taken, before any byte of it is read: the wait is open, asks for a document of this
/// type, and for one of this person. A key that was used before passes: what it brought is compared afterwards.
async fn check_upload(
    caller: &Caller,
    along: &Along,
    wait: &str,
    name: &str,
) -> Result<(), ApiError> {
    check_name(name)?;
    let engine = &caller.desk.engine;
    let Along { run, key, at, .. } = along;
    if let Some(key) = key
        && engine.store().keyed(&engine.run_id(run.as_str()), key).await?.is_some()
    {
        return Ok(());
    }
    let sample = IncomingDocument::from_bytes(name, &b"-"[..]);
    let open = open_wait(caller, run, wait).await?;
    let value = sample.to_answer(open.as_ref());
    let by = caller.user.clone();
    let answered = Incoming::Answered { wait: wait.to_owned(), value, by };
    Ok(engine.check_input(run, answered, *at).await?)
}

/// Puts a document into the folder of work, and answers the wait that asks for it.
pub(crate) async fn bring_document<R: Read + Send + 'static>(
    app: &App,
    caller: &Caller,
    along: Along,
    wait: String,
    document: IncomingDocument<R>,
) -> Result<Taken, ApiError> {
    check_name(&document.name)?;
    let engine = &caller.desk.engine;
    let by = caller.user.clone();
    let kept = KeptDocument { wait: wait.clone(), by: by.clone(), about: document.to_answer(None) };
    let matching: Matching = Box::new(move |input| kept.is_same(input));
    let repeated = match &along.key {
        Some(key) => engine.find_repeated(&along.run, key, &matching).await?.is_some(),
        None => false,
    };
    let open = open_wait(caller, &along.run, &wait).await;
    let value = if repeated {
        document.to_answer(None)
    } else {
        let open = open?;
        let answered = Incoming::Answered {
            wait: wait.clone(),
            value: document.to_answer(open.as_ref()),
            by: by.clone(),
        };
        engine.check_input(&along.run, answered, along.at).await?;
        let protocol = engine.look(&along.run).await?.protocol;
        let workspace = caller.desk.workspace.with_policy(&protocol.policy);
        let put = move || bring(&workspace, open.as_ref(), document);
        let put = tokio::task::spawn_blocking(put).await;
        put.map_err(|_| ApiError::ours("broke_down", "writing the document broke down"))??
    };
    given_as(app, caller, along, Incoming::Answered { wait, value, by }, &matching).await
}

/// What was brought under a key, to be compared with what is brought again.
struct KeptDocument {
    wait: String,
    by: String,
    about: Value,
}

impl KeptDocument {
    fn is_same(&self, input: &Incoming) -> bool {
        let Incoming::Answered { wait, value, by } = input else { return false };
        let same = |name: &str| value.get(name) == self.about.get(name);
        *wait == self.wait && *by == self.by && same("name") && same("bytes") && same("sha256")
    }
}

/// The open wait of this id, which must ask for a document; `None` where there is none, and the run says why.
async fn open_wait(caller: &Caller, run: &str, wait: &str) -> Result<Option<Wait>, ApiError> {
    let state = caller.desk.engine.look(run).await?.state;
    let Some(open) = state.waits.get(wait) else { return Ok(None) };
    if open.kind != WaitKind::Document {
        let (wait, kind) = (wait.to_owned(), open.kind.as_str());
        let expected = "it asks for no document";
        return Err(Rejection::WrongKind { wait, kind, expected }.into());
    }
    Ok(Some(open.clone()))
}

fn check_name(name: &str) -> Result<(), ApiError> {
    if name.contains(['/', '\\']) || name.is_empty() {
        let detail = format!("`name` must be the name of a file without folders, found `{name}`");
        return Err(ApiError::bad("bad_query", detail));
    }
    Ok(())
}
