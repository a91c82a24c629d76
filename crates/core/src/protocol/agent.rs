//! Agents as prompts need them: resolved against their base, with their rules' texts.

use std::sync::Arc;

use super::{FileOrigin, Localized};

/// A resolved agent.
#[derive(Debug)]
pub struct ResolvedAgent {
    /// Its id.
    pub id: String,
    /// What it is for.
    pub description: String,
    /// The prompt, base and own put together.
    pub prompt: Localized<String>,
    /// The model it names; `Empty` is what the caller or the index says.
    pub model: Option<String>,
    /// How freely the model chooses.
    pub temperature: Option<f64>,
    /// How long a reply may be.
    pub max_tokens: Option<u32>,
    /// The tools it may use.
    pub tools: Vec<AgentTool>,
    /// Names of skills, told in the prompt.
    pub skills: Vec<String>,
    /// The rules injected into its prompts: name and text.
    pub rules: Vec<(String, Arc<Localized<String>>)>,
    /// Where it was said; `Empty` for a base.
    pub origin: Option<FileOrigin>,
}

/// What an agent may do beside replying, always inside the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentTool {
    /// Reads a file.
    Read,
    /// Writes a file.
    Write,
    /// Lists a folder.
    List,
    /// Finds a text in files.
    Search,
}

impl AgentTool {
    /// Every tool.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::List, Self::Search];

    /// The name in files and in tool calls.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::List => "list",
            Self::Search => "search",
        }
    }

    /// A tool by its name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }
}
