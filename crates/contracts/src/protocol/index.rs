//! `protocol_index`: the front page of a protocol folder.
//!
//! Not the folder: finding and reading files is done elsewhere.

use serde::{Deserialize, Serialize};

use crate::JsonObject;

/// The front page of a protocol folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProtocolIndex {
    /// The unique name of the protocol.
    pub name: String,
    /// A semantic version.
    pub version: String,
    /// What the protocol is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The workflow a run starts with.
    pub default_workflow: String,
    /// How the state is laid out in files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<StateLayout>,
    /// Anything else worth keeping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// How the state of a run is laid out in files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateLayout {
    /// One file or several; `single` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StateLayoutFormat>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// One state file or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum StateLayoutFormat {
    Single,
    Multi,
}
