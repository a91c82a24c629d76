//! A run in a list.

use countersign_core::run::Timestamp;
use countersign_store::RunHead;
use serde::Serialize;
use utoipa::ToSchema;

use crate::show::describe_parking;

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunRow {
    /// Its id.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// Its workflow.
    pub workflow: String,
    /// The phase it stands in.
    pub phase: String,
    /// `running`, `waiting`, `halted`, `completed` or `failed`.
    #[schema(example = "waiting")]
    pub status: String,
    /// How many inputs it has taken.
    pub version: u64,
    /// How many events it has.
    pub events: u64,
    /// When it began.
    pub created_at: i64,
    /// When it last changed.
    pub updated_at: i64,
    /// When it goes on by itself.
    pub wake_at: Option<i64>,
    /// Why it stands where it stands, in a line.
    pub summary: String,
    /// Whether nobody works on it, because three workers ended while working on this version.
    pub parked: bool,
    /// The digest of its protocol.
    pub protocol: String,
    /// The last hash of its log.
    pub hash: String,
}

impl RunRow {
    /// A run as a list shows it at a time.
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
