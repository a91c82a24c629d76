//! The inbox: the open waits of all runs.

use std::collections::BTreeMap;

use axum::Json;
use countersign_run::{RunWait, WaitKind};
use countersign_store::{StoreError, WaitCursor, WaitFilter, WaitRow};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use super::ApiError;
use super::cursor::{decode_cursor, encode_cursor, resolve_limit};
use super::extract::ApiQuery;
use crate::access::Caller;
use countersign_runtime::engine::Engine;
use countersign_view::wire::{CursorPage, InboxRow};

/// Every kind of wait, for parsing the query.
const WAIT_KINDS: [WaitKind; 6] = [
    WaitKind::Question,
    WaitKind::Document,
    WaitKind::Approval,
    WaitKind::Budget,
    WaitKind::Work,
    WaitKind::Incident,
];

/// The filter of the inbox.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct InboxQuery {
    /// Only waits of this run.
    pub(crate) run: Option<String>,
    /// Only waits of this kind: `question`, `document`, `approval`, `budget`, `work`, `incident`.
    pub(crate) kind: Option<String>,
    /// Only waits that this user may answer: those assigned to the user, and those without an
    /// assignee. `me` stands for the caller, with the caller's groups and roles.
    pub(crate) who: Option<String>,
    /// The `next_cursor` value of the previous page.
    pub(crate) cursor: Option<String>,
    /// Maximum number of items, from 1 to 500. Default: 50.
    pub(crate) limit: Option<usize>,
}

#[derive(Serialize, Deserialize)]
struct InboxPageCursor {
    deadline: i64,
    opened_at: i64,
    run: String,
    id: String,
}

/// List the open waits.
///
/// Waits with the nearest deadline come first, then those without a deadline, each by age.
#[utoipa::path(get, path = "/v1/inbox", tag = "inbox", params(InboxQuery), responses((status = 200, body = CursorPage<InboxRow>)))]
pub(crate) async fn list_inbox(
    caller: Caller,
    ApiQuery(which): ApiQuery<InboxQuery>,
) -> Result<Json<CursorPage<InboxRow>>, ApiError> {
    let InboxQuery { run, kind, who, cursor: after, limit: most } = which;
    if let Some(word) = kind.as_ref()
        && !WAIT_KINDS.iter().any(|one| one.as_str() == word)
    {
        let all = WAIT_KINDS.map(WaitKind::as_str).join(", ");
        return Err(ApiError::bad_request(
            "bad_query",
            format!("unknown kind of wait `{word}`; expected one of: {all}"),
        ));
    }
    let chosen = ("inbox", &run, &kind, &who);
    let after =
        after.map(|cursor| decode_cursor::<InboxPageCursor>(&chosen, &cursor)).transpose()?;
    let most = resolve_limit(most)?;
    let engine = &caller.runtime.engine;
    let mut filter = WaitFilter::all(engine.tenant().clone(), most + 1);
    filter.after = after.map(|InboxPageCursor { deadline, opened_at, run, id }| WaitCursor {
        deadline,
        opened_at,
        run,
        id,
    });
    filter.run.clone_from(&run);
    filter.kind.clone_from(&kind);
    filter.who = match who.as_deref() {
        Some("me") => caller.assignee_names(),
        named => named.map(str::to_owned).into_iter().collect(),
    };
    let mut rows = engine.store().list_waits(&filter).await?;
    let more = rows.len() > most;
    rows.truncate(most);
    let last = rows.last().filter(|_| more).map(WaitRow::to_cursor);
    let next_cursor = last.map(|WaitCursor { deadline, opened_at, run, id }| {
        encode_cursor(&chosen, InboxPageCursor { deadline, opened_at, run, id })
    });
    let mut items = Vec::with_capacity(rows.len());
    let mut titles: BTreeMap<String, String> = BTreeMap::new();
    for row in &rows {
        let (wait, mut item) = parse_wait_row(row, &caller)?;
        item.preview = engine.preview_wait(&row.run.id, &wait).await;
        item.title = match titles.get(&item.run) {
            Some(title) => title.clone(),
            None => load_title(engine, &item.run).await?,
        };
        titles.insert(item.run.clone(), item.title.clone());
        items.push(item);
    }
    Ok(Json(CursorPage { items, next_cursor }))
}

/// The title of a run, or its workflow if it has none; empty if there is no such run.
pub(crate) async fn load_title(engine: &Engine, run: &str) -> Result<String, StoreError> {
    let head = engine.store().load_head(&engine.run_id(run)).await?;
    Ok(head.map_or_else(String::new, |head| {
        if head.title.is_empty() { head.workflow } else { head.title }
    }))
}

/// Decodes a stored wait, and the row that is sent of it.
pub(crate) fn parse_wait_row(
    row: &WaitRow,
    caller: &Caller,
) -> Result<(RunWait, InboxRow), StoreError> {
    let wait: RunWait = serde_json::from_str(&row.body).map_err(|error| {
        let what = format!("wait {} of run {} cannot be read: {error}", row.id, row.run.id);
        StoreError::Corrupt { reason: what }
    })?;
    let refusal = caller.find_refusal(&wait);
    let may_answer = Some(refusal.is_none());
    let item = InboxRow { may_answer, refusal, ..InboxRow::from_wait(&row.run.id, &wait) };
    Ok((wait, item))
}
