//! Server-sent events: a run as it goes on, the inbox as it changes. A client that comes back goes on where it
//! was, by `Last-Event-ID`.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use countersign_core::run::Status;
use countersign_runtime::engine::{Engine, EngineError};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;
use utoipa::IntoParams;

use super::extract::{Asked, At};
use super::inbox::listed;
use super::quota::QuotaShare;
use super::runs::head;
use super::{ApiError, App};
use crate::access::Caller;
use crate::live::{Change, InboxLog, Watched};
use crate::stop::Stopping;
use crate::wire::VersionRow;

/// How often the store is asked: another process may work on the run.
const LOOK: Duration = Duration::from_secs(2);

/// How many versions are read at once: a client that does not read holds so many.
const PAGE: usize = 8;

/// How long a client waits before it comes back.
const RETRY: Duration = Duration::from_secs(1);

/// From where on.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct From {
    /// Only what came after this version; `Last-Event-ID` has the last word.
    after: Option<u64>,
}

/// A run as it goes on. `version`: what came in and what became true, as `versions` has it, its id is the
/// version. `writing`: what a model writes, `{"from", "text"}`; the next `version` ends it. `end`: the run is over.
/// `bye`: the server ends, come back. `problem`: what went wrong. Whoever comes back to a run that is over is told
/// 204, which ends it for a browser.
#[utoipa::path(get, path = "/v1/runs/{run}/stream", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), From,
        ("Last-Event-ID" = Option<String>, Header, description = "The last version that was seen.")),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 204, description = "Nothing comes any more.")))]
pub(crate) async fn run(
    State(app): State<App>,
    caller: Caller,
    At(run): At<String>,
    Asked(From { after }): Asked<From>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let engine = Arc::clone(&caller.desk.engine);
    let last = last_seen(&headers).map(|id| {
        id.parse::<u64>().map_err(|_| {
            ApiError::bad("bad_header", format!("`Last-Event-ID` must be a version, found `{id}`"))
        })
    });
    let last = last.transpose()?;
    let head = head(&engine, &run).await?;
    let over = |version: u64| version >= head.version && is_over(&head.status);
    if last.is_some_and(over) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let share = stream_share(&app, &caller)?;
    let following = Following {
        _share: share,
        watched: app.house.hub().watch(&engine.run_id(run.as_str())),
        engine,
        run,
        after: last.or(after).unwrap_or(0),
        changes: 0,
        sent: 0,
        look_at: Instant::now(),
        fresh: false,
        ready: VecDeque::from([Event::default().retry(RETRY)]),
        stopping: app.stopping.clone(),
        done: false,
    };
    Ok(streamed(stream::unfold(following, |mut following| async {
        let event = following.next().await?;
        Some((Ok::<_, Infallible>(event), following))
    })))
}

/// Follows one run for one client.
struct Following {
    _share: QuotaShare,
    engine: Arc<Engine>,
    run: String,
    /// The last version that was sent.
    after: u64,
    watched: Watched,
    /// How many changes were seen, and how much of the reply was sent since.
    changes: u64,
    sent: usize,
    look_at: Instant,
    /// Whether the last look found something.
    fresh: bool,
    ready: VecDeque<Event>,
    stopping: Stopping,
    done: bool,
}

impl Following {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.done {
                return None;
            }
            if self.stopping.is_said() {
                self.end(told("bye", &json!({})));
                continue;
            }
            let glimpse = self.watched.glimpse();
            if glimpse.changes != self.changes {
                (self.changes, self.sent, self.look_at) = (glimpse.changes, 0, Instant::now());
            }
            if self.look_at <= Instant::now() {
                self.look_at = Instant::now() + LOOK;
                if let Err(error) = self.look().await {
                    self.end(told("problem", ApiError::from(error).problem()));
                }
                continue;
            }
            // A version that the store has and the hub has not heard of may have ended what was written.
            let ended = self.fresh && glimpse.version < self.after;
            let more = glimpse.written.get(self.sent..).filter(|text| !text.is_empty() && !ended);
            if let Some(text) = more {
                let event = told("writing", &json!({ "from": self.sent, "text": text }));
                self.sent = glimpse.written.len();
                return Some(event);
            }
            tokio::select! {
                () = self.watched.changed() => {}
                () = tokio::time::sleep_until(self.look_at) => {}
                () = self.stopping.said() => {}
            }
        }
    }

    /// Makes ready what the store has.
    async fn look(&mut self) -> Result<(), EngineError> {
        let log = self.engine.log_after(&self.run, self.after, PAGE).await?;
        let more = log.len() == PAGE;
        self.fresh = !log.is_empty();
        for entry in log {
            let opened = entry.open(&self.run);
            let events =
                opened.map_err(|source| EngineError::corrupt(self.run.as_str(), source))?;
            let event = told("version", &VersionRow::of(&entry, events));
            self.ready.push_back(event.id(entry.version.to_string()));
            self.after = entry.version;
        }
        if more {
            self.look_at = Instant::now();
            return Ok(());
        }
        let head = self.engine.store().head(&self.engine.run_id(self.run.as_str())).await?;
        if let Some(head) = head.filter(|head| head.version <= self.after && is_over(&head.status))
        {
            self.end(told("end", &json!({ "status": head.status, "version": head.version })));
        }
        Ok(())
    }

    fn end(&mut self, last: Event) {
        self.ready.push_back(last);
        self.done = true;
    }
}

/// The inbox as it changes. `reset` comes first, and whenever changes were missed: read the inbox now. `opened`: a
/// wait, as the inbox has it. `closed`: `{"run", "id", "address"}`. `bye`: the server ends, come back.
#[utoipa::path(get, path = "/v1/inbox/stream", tag = "inbox",
    params(("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was seen.")),
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub(crate) async fn inbox(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let share = stream_share(&app, &caller)?;
    let engine = &caller.desk.engine;
    let (tenant, store) = (engine.tenant(), engine.store());
    let (log, ear) = app.inboxes.follow(tenant, store, app.house.hub()).await?;
    let mut ready = VecDeque::from([Event::default().retry(RETRY)]);
    let place = last_seen(&headers).and_then(|id| log.place(id));
    let after = place.unwrap_or_else(|| {
        let newest = *ear.borrow();
        ready.push_back(told("reset", &json!({})).id(log.name(newest)));
        newest
    });
    let stopping = app.stopping.clone();
    let listening = Listening { _share: share, log, ear, after, ready, stopping, done: false };
    Ok(streamed(stream::unfold(listening, |mut listening| async {
        let event = listening.next().await?;
        Some((Ok::<_, Infallible>(event), listening))
    })))
}

/// Listens to one inbox for one client.
struct Listening {
    _share: QuotaShare,
    log: Arc<InboxLog>,
    ear: watch::Receiver<u64>,
    after: u64,
    ready: VecDeque<Event>,
    stopping: Stopping,
    done: bool,
}

impl Listening {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.done {
                return None;
            }
            if self.stopping.is_said() {
                self.ready.push_back(told("bye", &json!({})));
                self.done = true;
                continue;
            }
            let newest = *self.ear.borrow_and_update();
            if newest > self.after {
                self.look(newest);
                continue;
            }
            tokio::select! {
                changed = self.ear.changed() => self.done |= changed.is_err(),
                () = self.stopping.said() => {}
            }
        }
    }

    fn look(&mut self, newest: u64) {
        let Some(changes) = self.log.after(self.after) else {
            self.ready.push_back(told("reset", &json!({})).id(self.log.name(newest)));
            self.after = newest;
            return;
        };
        for (number, change) in changes {
            let event = match change {
                Change::Closed { run, id } => {
                    let address = format!("{run}/{id}");
                    told("closed", &json!({ "run": run, "id": id, "address": address }))
                }
                Change::Opened(row) => match listed(&row) {
                    Ok(listed) => told("opened", &listed),
                    Err(error) => told("problem", ApiError::from(error).problem()),
                },
            };
            self.ready.push_back(event.id(self.log.name(number)));
            self.after = number;
        }
    }
}

/// One stream of a caller, counted until it ends.
fn stream_share(app: &App, caller: &Caller) -> Result<QuotaShare, ApiError> {
    let mut share = app.quotas.streams.share(caller);
    share.grow(1)?;
    Ok(share)
}

fn streamed<S>(events: S) -> Response
where
    S: futures_util::Stream<Item = Result<Event, Infallible>> + Send + 'static,
{
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    // Whatever stands in between must hand on every event as it comes.
    let headers = response.headers_mut();
    headers.insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    headers.insert("cache-control", axum::http::HeaderValue::from_static("no-store"));
    response
}

/// An event with a name and data, which is JSON and so on one line.
fn told(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(data).expect("what is sent is JSON"))
}

fn last_seen(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id")?.to_str().ok().filter(|id| !id.is_empty())
}

fn is_over(status: &str) -> bool {
    Status::ALL.into_iter().any(|one| one.ended() && one.as_str() == status)
}
