//! What a run is doing.

use countersign_contracts::memory::short_term::{OpenLoop, WorkingState};
use countersign_core::run::Timestamp;
use serde::{Deserialize, Serialize};

/// The working state of a run. Its `state_version` is the revision: who writes names the one they
/// read, and one of two who read the same one is told so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkingMemory {
    /// As the packet has it.
    pub state: WorkingState,
    /// What is unfinished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_loops: Vec<OpenLoop>,
    /// When this version was written down.
    pub recorded_at: Timestamp,
}
