//! Effects and tool calls with every template filled in.
//!
//! The core records them and the runtime executes them. They are stored in the log: fields may be
//! added, and existing fields keep their meaning.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An effect for the runtime to execute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum EffectCall {
    /// Writes a file inside the workspace.
    Write {
        /// Path of the file inside the workspace.
        path: String,
        /// The full text of the file.
        content: String,
        /// Whether to leave an existing file with different content unchanged. The default is
        /// `false`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        once: bool,
    },
    /// Copies a file inside the workspace.
    Copy {
        /// Path of the file to copy, inside the workspace.
        from: String,
        /// Path of the copy, inside the workspace.
        to: String,
        /// Whether to leave an existing file with different content unchanged. The default is
        /// `false`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        once: bool,
    },
    /// Runs a program that the policy declares.
    Run {
        /// Name of the program in the policy.
        program: String,
        /// Arguments appended to the declared ones.
        args: Vec<String>,
        /// Value passed on standard input; absent if the program gets none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
    },
    /// Sends a request to a host that the policy allows.
    Http {
        /// The HTTP method.
        method: String,
        /// The absolute URL.
        url: String,
        /// The request body; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
    },
    /// Queries a source that the policy declares.
    Retrieve {
        /// Name of the source in the policy.
        source: String,
        /// The query, in the form that the source expects.
        query: Value,
    },
}

/// One tool call by an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolCall {
    /// Reads a file of the workspace.
    Read {
        /// Path of the file inside the workspace.
        path: String,
    },
    /// Writes a file of the workspace.
    Write {
        /// Path of the file inside the workspace.
        path: String,
        /// The full text of the file.
        content: String,
    },
    /// Lists a folder of the workspace.
    List {
        /// Path of the folder; the workspace root if empty.
        #[serde(default)]
        path: String,
    },
    /// Searches files of the workspace for a text.
    Search {
        /// The text to search for.
        query: String,
        /// Folder to search; the whole workspace if empty.
        #[serde(default)]
        path: String,
    },
}

impl ToolCall {
    /// The tool's name, as it appears in tool calls and agent files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::Write { .. } => "write",
            Self::List { .. } => "list",
            Self::Search { .. } => "search",
        }
    }
}
