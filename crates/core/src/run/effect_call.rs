//! Orders to the world outside: effects and tool calls, with every place filled in.
//!
//! The core writes them down; the runtime carries them out. Stored in the log: a field may be added,
//! one that is there keeps its meaning.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum EffectCall {
    /// Write a file inside the workspace.
    Write {
        /// Where.
        path: String,
        /// What.
        content: String,
        /// Whether a file that holds something else is left alone.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        once: bool,
    },
    /// Copy a file inside the workspace.
    Copy {
        /// Which.
        from: String,
        /// Where to.
        to: String,
        /// Whether a file that holds something else is left alone.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        once: bool,
    },
    /// Run a program that the policy declares.
    Run {
        /// Its name in the policy.
        program: String,
        /// Arguments behind the declared ones.
        args: Vec<String>,
        /// What it gets on standard input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
    },
    /// Call a host that the policy allows.
    Http {
        /// The method.
        method: String,
        /// The address.
        url: String,
        /// The body.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
    },
    /// Look something up in a declared source.
    Retrieve {
        /// Its name in the policy.
        source: String,
        /// The question.
        query: Value,
    },
}

/// One use of a tool by an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolCall {
    /// Read a file.
    Read {
        /// Which.
        path: String,
    },
    /// Write a file.
    Write {
        /// Which.
        path: String,
        /// What it will hold.
        content: String,
    },
    /// List a folder.
    List {
        /// Which; the workspace itself when empty.
        #[serde(default)]
        path: String,
    },
    /// Find a text in files.
    Search {
        /// The text.
        query: String,
        /// In which folder; everywhere when empty.
        #[serde(default)]
        path: String,
    },
}

impl ToolCall {
    /// The tool's name.
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
