//! `protocol_index`: the index file of a protocol folder.
//!
//! This module does not find or read files.

use serde::{Deserialize, Serialize};

use crate::JsonObject;

/// The index file of a protocol folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProtocolIndex {
    /// The unique name of the protocol.
    pub name: String,
    /// The semantic version of the protocol.
    pub version: String,
    /// The purpose of the protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The id of the workflow that a run starts with.
    pub default_workflow: String,
    /// How state files are laid out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<StateLayout>,
    /// Additional information about the protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// How the state of a run is laid out in files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateLayout {
    /// Whether the state is one file or several; `single` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StateLayoutFormat>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// Whether the state of a run is one file or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum StateLayoutFormat {
    Single,
    Multi,
}
