//! A run in a list, as the API sends it.

use countersign_run::{ExecutionStatus, Timestamp};
use countersign_runtime::engine::{Engine, EngineError};
use countersign_store::RunHead;
use serde::Serialize;
use utoipa::ToSchema;

use crate::show::{describe_parking, describe_waiting_child, find_waiting_children};

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunRow {
    /// The id of the run.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// The title of the run, in one line: from the `title` of the workflow, or an excerpt of the
    /// input. Empty if neither gives one.
    #[schema(example = "A shop for handmade lamps")]
    pub title: String,
    /// The id of the workflow.
    pub workflow: String,
    /// The id of the current phase.
    pub phase: String,
    /// `running`, `waiting`, `halted`, `completed` or `failed`.
    #[schema(example = "waiting")]
    pub status: String,
    /// The version of the run: the number of inputs it has accepted.
    pub version: u64,
    /// The number of events in the log.
    pub events: u64,
    /// When the run was created, in Unix milliseconds.
    pub created_at: i64,
    /// When the run last changed, in Unix milliseconds.
    pub updated_at: i64,
    /// When the run continues without an input, in Unix milliseconds. Null if no timer is set.
    pub wake_at: Option<i64>,
    /// The reason for the current status, in one line.
    pub summary: String,
    /// Whom the open waits of the run ask: users, `group:NAME` and `role:NAME`, separated by
    /// commas. Empty if they ask nobody in particular.
    pub asks: String,
    /// The child run that waits for a person while this run waits for it. Null if there is none.
    pub waiting_child: Option<WaitingChildView>,
    /// The user who started the run. Null if nobody is named.
    pub started_by: Option<String>,
    /// The id of the parent run. Null if the run is not a child.
    pub parent: Option<String>,
    /// When the run ended, in Unix milliseconds. Null while it has not.
    pub ended_at: Option<i64>,
    /// The time from the creation of the run to its end, or until now, in milliseconds.
    pub duration_ms: i64,
    /// The number of tokens sent to models.
    pub input_tokens: u64,
    /// The number of tokens received from models.
    pub output_tokens: u64,
    /// The cost of all model calls, in millionths of the currency.
    pub cost: u64,
    /// The version in the index of the run's protocol.
    pub protocol_version: String,
    /// Whether the run is parked: no worker takes it, because three workers died while working on
    /// this version.
    pub parked: bool,
    /// The digest of the run's protocol.
    pub protocol: String,
    /// The last hash of the run's log.
    pub hash: String,
}

impl RunRow {
    /// Builds the row from the head of a run at the time `now`.
    #[must_use]
    pub fn new(head: RunHead, now: Timestamp) -> Self {
        let parking = describe_parking(&head, now);
        let end = head.ended_at.unwrap_or(now.0);
        Self {
            title: head.title,
            asks: head.asks,
            waiting_child: None,
            started_by: head.started_by,
            parent: head.parent,
            ended_at: head.ended_at,
            duration_ms: end.saturating_sub(head.created_at).max(0),
            input_tokens: head.input_tokens,
            output_tokens: head.output_tokens,
            cost: head.cost,
            protocol_version: head.protocol_version,
            parked: parking.is_some(),
            summary: parking.unwrap_or(head.summary),
            run: head.run.id,
            workflow: head.workflow,
            phase: head.phase,
            status: head.status,
            version: head.version,
            events: head.seq,
            created_at: head.created_at,
            updated_at: head.updated_at,
            wake_at: head.wake_at,
            protocol: head.protocol,
            hash: head.hash,
        }
    }

    /// Adds the child that waits for a person; the summary says so if it is empty.
    #[must_use]
    pub fn with_waiting_child(mut self, child: Option<&RunHead>) -> Self {
        if let Some(child) = child {
            if self.summary.is_empty() {
                self.summary = describe_waiting_child(child);
            }
            self.waiting_child = Some(WaitingChildView::new(child));
        }
        self
    }
}

/// Builds the rows of a list. A run that is not waiting itself shows the child that waits for a
/// person.
pub async fn build_run_rows(
    engine: &Engine,
    heads: Vec<RunHead>,
    now: Timestamp,
) -> Result<Vec<RunRow>, EngineError> {
    let running = heads.iter().filter(|head| head.status == ExecutionStatus::Running.as_str());
    let running = running.map(|head| head.run.id.clone()).collect();
    let waiting = find_waiting_children(engine, running).await?;
    let rows = heads.into_iter().map(|head| {
        let child = waiting.get(&head.run.id);
        RunRow::new(head, now).with_waiting_child(child)
    });
    Ok(rows.collect())
}

/// A child run, or a child of a child, that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WaitingChildView {
    /// The id of the child run.
    pub run: String,
    /// The title of the child run; empty if it has none.
    pub title: String,
    /// Whom the child asks: users, `group:NAME` and `role:NAME`, separated by commas. Empty if it
    /// asks nobody in particular.
    pub asks: String,
    /// What the child asks, in one line.
    pub question: String,
}

impl WaitingChildView {
    /// Builds the view from the head of the child.
    #[must_use]
    pub fn new(child: &RunHead) -> Self {
        Self {
            run: child.run.id.clone(),
            title: child.title.clone(),
            asks: child.asks.clone(),
            question: child.summary.clone(),
        }
    }
}
