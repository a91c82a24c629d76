//! Agents as prompts use them: merged with their base agent, with the texts of their rules.

use std::sync::Arc;

use super::{FileOrigin, Localized, McpToolSelector};

/// An agent merged with its base.
#[derive(Debug)]
pub struct ResolvedAgent {
    /// Unique in the protocol.
    pub id: String,
    /// What the agent does, for people.
    pub description: String,
    /// The base's prompt and the agent's own prompt, merged.
    pub prompt: Localized<String>,
    /// Model that the agent asks for; `None` leaves the choice to the caller or the index.
    pub model: Option<String>,
    /// Sampling temperature; the provider's default if absent.
    pub temperature: Option<f64>,
    /// Maximum length of a reply in tokens; the provider's default if absent.
    pub max_tokens: Option<u32>,
    /// Workspace tools that the agent may use; empty if it may use none.
    pub tools: Vec<AgentTool>,
    /// Tools of MCP servers that the agent may use; empty if it may use none.
    pub mcp_tools: Vec<McpToolSelector>,
    /// Names of skills, which the prompt lists.
    pub skills: Vec<String>,
    /// Rules added to the agent's prompts, as name and text.
    pub rules: Vec<(String, Arc<Localized<String>>)>,
    /// Where the file defines the agent; `None` for a built-in agent.
    pub origin: Option<FileOrigin>,
}

/// A tool that an agent may use before it replies, always inside the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentTool {
    /// Reads a file.
    Read,
    /// Writes a file.
    Write,
    /// Lists a folder.
    List,
    /// Searches files for a text.
    Search,
}

impl AgentTool {
    /// Every tool, in the order of declaration.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::List, Self::Search];

    /// The name in agent files and in tool calls.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::List => "list",
            Self::Search => "search",
        }
    }

    /// Finds a tool by its name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }
}
