//! Procedures: known methods for a type of task.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::JsonObject;
use serde::{Deserialize, Serialize};

/// A revision of a procedure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryProcedure {
    /// The procedure id, unique within its subject.
    pub id: String,
    /// The revision number, starting at 1.
    pub revision: u32,
    /// The task type that selects the procedure.
    pub task_type: String,
    /// The content as JSON: steps, preferred tools, output format.
    pub content: JsonObject,
    /// The priority; a packet lists the highest first.
    pub priority: i64,
    /// How often the procedure was used; breaks ties between equal priorities.
    pub usage: u64,
    /// The ids of the events that the procedure is based on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// When the procedure applies: tags, entities, purposes.
    #[serde(default)]
    pub applicability: JsonObject,
    /// The timestamp at which this revision was recorded.
    pub recorded_at: Timestamp,
}
