//! A known way of doing a kind of task.

use countersign_contracts::JsonObject;
use countersign_core::run::Timestamp;
use serde::{Deserialize, Serialize};

/// A revision of a procedure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryProcedure {
    /// Unique within its subject.
    pub id: String,
    /// From 1.
    pub revision: u32,
    /// The kind of task.
    pub task_type: String,
    /// Steps, preferred tools, output format.
    pub content: JsonObject,
    /// The highest comes first.
    pub priority: i64,
    /// How often it was used; decides between equal priorities.
    pub usage: u64,
    /// The events it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// When it applies: tags, entities, purposes.
    #[serde(default)]
    pub applicability: JsonObject,
    /// When this revision was written down.
    pub recorded_at: Timestamp,
}
