//! Agents as prompts use them: merged with their base agent, with the texts of their rules.

use std::sync::Arc;

use super::{AgentSkill, FileOrigin, Localized, McpToolSelector, SkillDefinition};

/// An agent merged with its base.
#[derive(Debug)]
pub struct ResolvedAgent {
    /// Unique in the protocol.
    pub id: String,
    /// What the agent does, for people.
    pub description: String,
    /// The base's prompt and the agent's own prompt, merged.
    pub prompt: Localized<String>,
    /// Model that the agent asks for, as its file names it; `None` leaves the choice to the caller
    /// or the index. See [`super::Protocol::resolve_model_name`].
    pub model: Option<String>,
    /// Sampling temperature; the provider's default if absent.
    pub temperature: Option<f64>,
    /// Maximum length of a reply in tokens; the provider's default if absent.
    pub max_tokens: Option<u32>,
    /// Workspace tools that the agent may use; empty if it may use none.
    pub tools: Vec<AgentTool>,
    /// Tools of MCP servers that the agent may use; empty if it may use none.
    pub mcp_tools: Vec<McpToolSelector>,
    /// Tools that Countersign does not have. A coding agent that does the work of this agent may
    /// have them.
    pub foreign_tools: Vec<String>,
    /// Skills, which the prompt lists with their descriptions.
    pub skills: Vec<AgentSkill>,
    /// Rules added to the agent's prompts, as name and text.
    pub rules: Vec<(String, Arc<Localized<String>>)>,
    /// Where the file defines the agent; `None` for a built-in agent.
    pub origin: Option<FileOrigin>,
}

impl ResolvedAgent {
    /// Finds a skill of the agent whose text the protocol has.
    #[must_use]
    pub fn find_skill(&self, name: &str) -> Option<&Arc<SkillDefinition>> {
        self.skills.iter().find(|skill| skill.name == name)?.definition.as_ref()
    }

    /// Lists the names of the skills whose text the protocol has.
    pub fn list_readable_skills(&self) -> impl Iterator<Item = &str> {
        let readable = self.skills.iter().filter(|skill| skill.definition.is_some());
        readable.map(|skill| skill.name.as_str())
    }
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
