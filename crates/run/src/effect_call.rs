//! Effects and tool calls with every template filled in.
//!
//! The core records them and the runtime executes them. They are stored in the log: fields may be
//! added, and existing fields keep their meaning.

use std::borrow::Cow;

use countersign_protocol::WriteFormat;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
        /// The format that the content, which is Markdown, is converted to; written as it is if
        /// absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<WriteFormat>,
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
        /// Digest that the file must have, as `sha256:` and hexadecimal digits: what it contained
        /// when the copy was requested. Set by the engine if the policy may want an approval of
        /// copies, so that the content is signed; absent otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
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
///
/// The log names its kind under `tool`. A model names a tool of an MCP server as `SERVER.TOOL`
/// instead: see [`ToolCall::from_model_value`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolCall {
    /// Reads the text of a file of the workspace, which may be a document.
    Read {
        /// Path of the file inside the workspace.
        path: String,
        /// Number of the page, slide or sheet to read, from 1; the whole file if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        page: Option<u64>,
        /// Name of the sheet to read, for a workbook.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sheet: Option<String>,
        /// Number of the first line to read, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
        /// Maximum number of lines to read; as many as fit if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
        /// Whether to read the source of an HTML page or a mail instead of its text. The default
        /// is `false`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        raw: bool,
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
    /// Reads the whole text of a skill of the agent.
    Skill {
        /// Name of the skill.
        name: String,
    },
    /// Calls a tool of an MCP server that the policy declares.
    Mcp {
        /// Name of the server in the policy.
        server: String,
        /// Name of the tool, as the server lists it.
        name: String,
        /// The arguments, which satisfy the pinned input schema.
        arguments: Value,
    },
}

/// The tool with which an agent reads the whole text of a skill.
pub const SKILL_TOOL: &str = "skill";

impl ToolCall {
    /// A call that reads a whole file.
    #[must_use]
    pub fn read_file(path: impl Into<String>) -> Self {
        let path = path.into();
        Self::Read { path, page: None, sheet: None, offset: None, limit: None, raw: false }
    }

    /// The tool's name, as it appears in tool calls and agent files: a workspace tool by its name,
    /// a tool of an MCP server as `SERVER.TOOL`.
    #[must_use]
    pub fn name(&self) -> Cow<'static, str> {
        match self {
            Self::Read { .. } => "read".into(),
            Self::Write { .. } => "write".into(),
            Self::List { .. } => "list".into(),
            Self::Search { .. } => "search".into(),
            Self::Skill { .. } => SKILL_TOOL.into(),
            Self::Mcp { server, name, .. } => format!("{server}.{name}").into(),
        }
    }

    /// Reads a call as a model writes it; `None` if it is not a call.
    #[must_use]
    pub fn from_model_value(call: &Value) -> Option<Self> {
        let tool = call.get("tool")?.as_str()?;
        match tool.split_once('.') {
            None => serde_json::from_value(call.clone()).ok(),
            Some((server, name)) => Some(Self::Mcp {
                server: server.to_owned(),
                name: name.to_owned(),
                arguments: call.get("arguments")?.clone(),
            }),
        }
    }

    /// The call as a model writes it, as JSON.
    #[must_use]
    pub fn to_model_json(&self) -> String {
        match self {
            Self::Mcp { arguments, .. } => {
                json!({ "tool": self.name(), "arguments": arguments }).to_string()
            }
            other => serde_json::to_string(other).expect("tool calls serialize to JSON"),
        }
    }
}
