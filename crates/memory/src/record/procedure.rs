//! A known way of doing a kind of task.

use countersign_contracts::Object;
use countersign_core::run::Time;
use serde::{Deserialize, Serialize};

/// A revision of a procedure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Procedure {
    /// Unique within its subject.
    pub id: String,
    /// From 1.
    pub revision: u32,
    /// The kind of task.
    pub task_type: String,
    /// Steps, preferred tools, output format.
    pub content: Object,
    /// The highest comes first.
    pub priority: i64,
    /// How often it was used; decides between equal priorities.
    pub usage: u64,
    /// The events it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// When it applies: tags, entities, purposes.
    #[serde(default)]
    pub applicability: Object,
    /// When this revision was written down.
    pub recorded_at: Time,
}
