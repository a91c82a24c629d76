//! The working memory of a run.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::short_term::{OpenLoop, WorkingState};
use serde::{Deserialize, Serialize};

/// The working state of a run.
///
/// Its `state_version` is the revision. A writer names the version it read; of two writers that
/// read the same version, the second gets a conflict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkingMemory {
    /// The working state, in the form the packet uses.
    pub state: WorkingState,
    /// Questions and tasks that are still open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_loops: Vec<OpenLoop>,
    /// The timestamp at which this version was recorded.
    pub recorded_at: Timestamp,
}
