//! The inbox: what waits for a person.

use axum::Json;
use countersign_core::run::{Wait, WaitKind};
use countersign_store::{StoreError, WaitCursor, WaitFilter, WaitRow};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use super::ApiError;
use super::cursor::{cursor, limit, place};
use super::extract::Asked;
use crate::access::Caller;
use crate::wire::{InboxRow, Page};

/// Every kind of wait.
const KINDS: [WaitKind; 6] = [
    WaitKind::Question,
    WaitKind::Document,
    WaitKind::Approval,
    WaitKind::Budget,
    WaitKind::Work,
    WaitKind::Trouble,
];

/// Which waits.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    /// Only of this run.
    pub(crate) run: Option<String>,
    /// Only of this kind: `question`, `document`, `approval`, `budget`, `work`, `trouble`.
    pub(crate) kind: Option<String>,
    /// Only those this one may answer: addressed to them, or to nobody in particular.
    pub(crate) who: Option<String>,
    /// Where to go on: the `next` of the page before.
    pub(crate) cursor: Option<String>,
    /// How many at most: from 1 to 500, 50 where absent.
    pub(crate) limit: Option<usize>,
}

#[derive(Serialize, Deserialize)]
struct Place {
    deadline: i64,
    opened_at: i64,
    run: String,
    id: String,
}

/// What waits for a person: the nearest deadline first, those without one last, then by age.
#[utoipa::path(get, path = "/v1/inbox", tag = "inbox", params(Which), responses((status = 200, body = Page<InboxRow>)))]
pub(crate) async fn list(
    caller: Caller,
    Asked(which): Asked<Which>,
) -> Result<Json<Page<InboxRow>>, ApiError> {
    let Which { run, kind, who, cursor: after, limit: most } = which;
    if let Some(word) = kind.as_ref()
        && !KINDS.iter().any(|one| one.as_str() == word)
    {
        let all = KINDS.map(WaitKind::as_str).join(", ");
        return Err(ApiError::bad(
            "bad_query",
            format!("no kind of wait `{word}`; there are {all}"),
        ));
    }
    let chosen = ("inbox", &run, &kind, &who);
    let after = after.map(|cursor| place::<Place>(&chosen, &cursor)).transpose()?;
    let most = limit(most)?;
    let engine = &caller.desk.engine;
    let mut filter = WaitFilter::all(engine.tenant().clone(), most + 1);
    filter.after = after.map(|Place { deadline, opened_at, run, id }| WaitCursor {
        deadline,
        opened_at,
        run,
        id,
    });
    filter.run.clone_from(&run);
    filter.kind.clone_from(&kind);
    filter.who.clone_from(&who);
    let mut rows = engine.store().waits(&filter).await?;
    let more = rows.len() > most;
    rows.truncate(most);
    let last = rows.last().filter(|_| more).map(WaitRow::cursor);
    let next = last.map(|WaitCursor { deadline, opened_at, run, id }| {
        cursor(&chosen, Place { deadline, opened_at, run, id })
    });
    Ok(Json(Page { items: rows.iter().map(listed).collect::<Result<_, _>>()?, next }))
}

/// A wait as it is sent.
pub(crate) fn listed(row: &WaitRow) -> Result<InboxRow, StoreError> {
    let wait: Wait = serde_json::from_str(&row.body).map_err(|error| {
        let what = format!("wait {} of run {} cannot be read: {error}", row.id, row.run.id);
        StoreError::Corrupt { what }
    })?;
    Ok(InboxRow::of(&row.run.id, &wait))
}
