//! A run in a list, as the API sends it.

use countersign_run::Timestamp;
use countersign_store::RunHead;
use serde::Serialize;
use utoipa::ToSchema;

use crate::show::describe_parking;

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunRow {
    /// The id of the run.
    #[schema(example = "k7mw2p")]
    pub run: String,
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
        Self {
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
}
