//! Server-sent events of a run and of the inbox. A client that reconnects continues after the event
//! in `Last-Event-ID`.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use countersign_run::ExecutionStatus;
use countersign_runtime::engine::{Engine, EngineError};
use countersign_store::{StoreError, WaitRow};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;
use utoipa::IntoParams;

use super::extract::{ApiPath, ApiQuery};
use super::inbox::{load_title, parse_wait_row};
use super::quota::QuotaShare;
use super::runs::load_run_head;
use super::{ApiError, HttpState};
use crate::access::Caller;
use crate::live::{InboxChange, InboxLog, RunSubscription};
use crate::shutdown::ShutdownSignal;
use countersign_view::wire::{InboxRow, VersionRow};

/// How often a stream polls the store, because another process may work on the run.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Number of versions that a stream reads at once; it bounds the memory that a client which does
/// not read can occupy.
const VERSIONS_PER_POLL: usize = 8;

/// How long a client waits before it reconnects.
const CLIENT_RETRY: Duration = Duration::from_secs(1);

/// The start of an event stream.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunStreamQuery {
    /// Send only versions after this one. `Last-Event-ID` takes precedence.
    after: Option<u64>,
}

/// Stream the events of a run.
///
/// Server-sent events: `version` contains an input and the resulting events, in the format of
/// `versions`; its event id is the version. `writing` contains text that a model is writing, as
/// `{"offset", "text"}`; the next `version` ends it. `end`: the run has ended. `bye`: the server
/// shuts down; reconnect. `problem` contains an error. A client that reconnects to a run that has
/// ended gets status 204, which stops a browser from reconnecting.
#[utoipa::path(get, path = "/v1/runs/{run}/stream", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), RunStreamQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "The last version that the client received.")),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 204, description = "The run has ended; there are no more events.")))]
pub(crate) async fn stream_run(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(RunStreamQuery { after }): ApiQuery<RunStreamQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let engine = Arc::clone(&caller.runtime.engine);
    let last = last_event_id(&headers).map(|id| {
        id.parse::<u64>().map_err(|_| {
            ApiError::bad_request(
                "bad_header",
                format!("`Last-Event-ID` must be a version, found `{id}`"),
            )
        })
    });
    let last = last.transpose()?;
    let head = load_run_head(&engine, &run).await?;
    let over = |version: u64| version >= head.version && is_terminal_status(&head.status);
    if last.is_some_and(over) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let share = acquire_stream_share(&app, &caller)?;
    let following = RunEventStream {
        _share: share,
        subscription: app.app_state.hub().subscribe(&engine.run_id(run.as_str())),
        engine,
        run,
        last_version: last.or(after).unwrap_or(0),
        seen_changes: 0,
        sent_bytes: 0,
        poll_at: Instant::now(),
        found_new: false,
        queue: VecDeque::from([Event::default().retry(CLIENT_RETRY)]),
        shutdown: app.shutdown.clone(),
        done: false,
    };
    Ok(sse_response(stream::unfold(following, |mut following| async {
        let event = following.next_event().await?;
        Some((Ok::<_, Infallible>(event), following))
    })))
}

/// The event stream of one run for one client.
struct RunEventStream {
    _share: QuotaShare,
    engine: Arc<Engine>,
    run: String,
    /// The last version that was sent.
    last_version: u64,
    subscription: RunSubscription,
    /// The number of changes seen. `sent_bytes` counts the bytes of the partial reply sent since.
    seen_changes: u64,
    sent_bytes: usize,
    poll_at: Instant,
    /// Whether the last poll found new versions.
    found_new: bool,
    queue: VecDeque<Event>,
    shutdown: ShutdownSignal,
    done: bool,
}

impl RunEventStream {
    async fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(event);
            }
            if self.done {
                return None;
            }
            if self.shutdown.is_triggered() {
                self.finish_with(sse_event("bye", &json!({})));
                continue;
            }
            let glimpse = self.subscription.preview();
            if glimpse.changes != self.seen_changes {
                (self.seen_changes, self.sent_bytes, self.poll_at) =
                    (glimpse.changes, 0, Instant::now());
            }
            if self.poll_at <= Instant::now() {
                self.poll_at = Instant::now() + POLL_INTERVAL;
                if let Err(error) = self.poll_store().await {
                    self.finish_with(sse_event("problem", ApiError::from(error).problem()));
                }
                continue;
            }
            // If the store has a version that the hub has not reported, the partial reply may
            // already be complete.
            let ended = self.found_new && glimpse.version < self.last_version;
            let more = glimpse
                .partial_reply
                .get(self.sent_bytes..)
                .filter(|text| !text.is_empty() && !ended);
            if let Some(text) = more {
                let event =
                    sse_event("writing", &json!({ "offset": self.sent_bytes, "text": text }));
                self.sent_bytes = glimpse.partial_reply.len();
                return Some(event);
            }
            tokio::select! {
                () = self.subscription.wait_for_change() => {}
                () = tokio::time::sleep_until(self.poll_at) => {}
                () = self.shutdown.wait() => {}
            }
        }
    }

    /// Queues the new versions from the store.
    async fn poll_store(&mut self) -> Result<(), EngineError> {
        let log =
            self.engine.read_log_after(&self.run, self.last_version, VERSIONS_PER_POLL).await?;
        let more = log.len() == VERSIONS_PER_POLL;
        self.found_new = !log.is_empty();
        for entry in log {
            let opened = entry.decode_events(&self.run);
            let events =
                opened.map_err(|source| EngineError::corrupt(self.run.as_str(), source))?;
            let event = sse_event("version", &VersionRow::from_entry(&entry, events));
            self.queue.push_back(event.id(entry.version.to_string()));
            self.last_version = entry.version;
        }
        if more {
            self.poll_at = Instant::now();
            return Ok(());
        }
        let head = self.engine.store().load_head(&self.engine.run_id(self.run.as_str())).await?;
        if let Some(head) = head
            .filter(|head| head.version <= self.last_version && is_terminal_status(&head.status))
        {
            self.finish_with(sse_event(
                "end",
                &json!({ "status": head.status, "version": head.version }),
            ));
        }
        Ok(())
    }

    fn finish_with(&mut self, last: Event) {
        self.queue.push_back(last);
        self.done = true;
    }
}

/// Stream the changes of the inbox.
///
/// Server-sent events: `reset` comes first, and again whenever changes were missed; read the inbox
/// when it arrives. `opened` contains a wait, in the format of the inbox. `closed` contains
/// `{"run", "id", "address"}`. `bye`: the server shuts down; reconnect.
#[utoipa::path(get, path = "/v1/inbox/stream", tag = "inbox",
    params(("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that the client received.")),
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub(crate) async fn stream_inbox(
    State(app): State<HttpState>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let share = acquire_stream_share(&app, &caller)?;
    let engine = &caller.runtime.engine;
    let (tenant, store) = (engine.tenant(), engine.store());
    let (log, ear) = app.inboxes.follow_tenant(tenant, store, app.app_state.hub()).await?;
    let mut ready = VecDeque::from([Event::default().retry(CLIENT_RETRY)]);
    let position = last_event_id(&headers).and_then(|id| log.parse_event_id(id));
    let after = position.unwrap_or_else(|| {
        let newest = *ear.borrow();
        ready.push_back(sse_event("reset", &json!({})).id(log.event_id(newest)));
        newest
    });
    let stopping = app.shutdown.clone();
    let listening = InboxEventStream {
        _share: share,
        log,
        newest: ear,
        last_number: after,
        queue: ready,
        shutdown: stopping,
        done: false,
        caller,
    };
    Ok(sse_response(stream::unfold(listening, |mut listening| async {
        let event = listening.next_event().await?;
        Some((Ok::<_, Infallible>(event), listening))
    })))
}

/// The event stream of one inbox for one client.
struct InboxEventStream {
    caller: Caller,
    _share: QuotaShare,
    log: Arc<InboxLog>,
    newest: watch::Receiver<u64>,
    last_number: u64,
    queue: VecDeque<Event>,
    shutdown: ShutdownSignal,
    done: bool,
}

impl InboxEventStream {
    async fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(event);
            }
            if self.done {
                return None;
            }
            if self.shutdown.is_triggered() {
                self.queue.push_back(sse_event("bye", &json!({})));
                self.done = true;
                continue;
            }
            let newest = *self.newest.borrow_and_update();
            if newest > self.last_number {
                self.queue_changes(newest).await;
                continue;
            }
            tokio::select! {
                changed = self.newest.changed() => self.done |= changed.is_err(),
                () = self.shutdown.wait() => {}
            }
        }
    }

    async fn queue_changes(&mut self, newest: u64) {
        let Some(changes) = self.log.changes_after(self.last_number) else {
            self.queue.push_back(sse_event("reset", &json!({})).id(self.log.event_id(newest)));
            self.last_number = newest;
            return;
        };
        for (number, change) in changes {
            let event = match change {
                InboxChange::Closed { run, id } => {
                    let address = format!("{run}/{id}");
                    sse_event("closed", &json!({ "run": run, "id": id, "address": address }))
                }
                InboxChange::Opened(row) => match self.load_row(&row).await {
                    Ok(listed) => sse_event("opened", &listed),
                    Err(error) => sse_event("problem", ApiError::from(error).problem()),
                },
            };
            self.queue.push_back(event.id(self.log.event_id(number)));
            self.last_number = number;
        }
    }

    /// A wait as the inbox lists it.
    async fn load_row(&self, row: &WaitRow) -> Result<InboxRow, StoreError> {
        let (_, mut listed) = parse_wait_row(row, &self.caller)?;
        listed.title = load_title(&self.caller.runtime.engine, &listed.run).await?;
        Ok(listed)
    }
}

/// Acquires one stream of the caller's quota, released when the stream ends.
fn acquire_stream_share(app: &HttpState, caller: &Caller) -> Result<QuotaShare, ApiError> {
    let mut share = app.quotas.streams.new_share(caller);
    share.acquire(1)?;
    Ok(share)
}

fn sse_response<S>(events: S) -> Response
where
    S: futures_util::Stream<Item = Result<Event, Infallible>> + Send + 'static,
{
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    // Proxies must forward each event without buffering.
    let headers = response.headers_mut();
    headers.insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    headers.insert("cache-control", axum::http::HeaderValue::from_static("no-store"));
    response
}

/// Builds an event with a name and JSON data, which is always a single line.
fn sse_event(name: &str, data: &impl Serialize) -> Event {
    Event::default()
        .event(name)
        .data(serde_json::to_string(data).expect("event data serializes to JSON"))
}

fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id")?.to_str().ok().filter(|id| !id.is_empty())
}

fn is_terminal_status(status: &str) -> bool {
    ExecutionStatus::ALL.into_iter().any(|one| one.is_ended() && one.as_str() == status)
}
