//! The built-in agents that other agents can extend. Their prompts ship with Countersign and fit
//! any process.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{AgentTool, Localized, ResolvedAgent};

/// The definition of a built-in agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct BuiltinAgent {
    pub(super) id: &'static str,
    pub(super) prompt: &'static str,
    pub(super) tools: &'static [AgentTool],
    description: &'static str,
}

/// Every built-in agent, in the order of the specification.
pub(super) const BUILTIN_AGENTS: [BuiltinAgent; 6] = [
    BuiltinAgent {
        id: "orchestrator",
        description: "Plans the work, splits it and keeps it moving.",
        prompt: include_str!("../builtin_agents/orchestrator.md"),
        tools: &[],
    },
    BuiltinAgent {
        id: "oracle",
        description: "Judges and advises on hard questions.",
        prompt: include_str!("../builtin_agents/oracle.md"),
        tools: &[],
    },
    BuiltinAgent {
        id: "librarian",
        description: "Finds sources and reports what they say.",
        prompt: include_str!("../builtin_agents/librarian.md"),
        tools: &[AgentTool::Read, AgentTool::List, AgentTool::Search],
    },
    BuiltinAgent {
        id: "explorer",
        description: "Explores the material and maps what is there.",
        prompt: include_str!("../builtin_agents/explorer.md"),
        tools: &[AgentTool::Read, AgentTool::List, AgentTool::Search],
    },
    BuiltinAgent {
        id: "designer",
        description: "Designs a solution before it is built.",
        prompt: include_str!("../builtin_agents/designer.md"),
        tools: &[],
    },
    BuiltinAgent {
        id: "fixer",
        description: "Makes the requested change and nothing else.",
        prompt: include_str!("../builtin_agents/fixer.md"),
        tools: &AgentTool::ALL,
    },
];

/// Finds a built-in agent by its id.
pub(super) fn find_builtin_agent(id: &str) -> Option<&'static BuiltinAgent> {
    BUILTIN_AGENTS.iter().find(|base| base.id == id)
}

/// Converts the built-in agents to the form that phases use.
pub(super) fn resolve_builtin_agents() -> BTreeMap<String, Arc<ResolvedAgent>> {
    let agent = |base: &BuiltinAgent| ResolvedAgent {
        id: base.id.to_owned(),
        description: base.description.to_owned(),
        prompt: Localized::from_plain(base.prompt.trim().to_owned()),
        model: None,
        temperature: None,
        max_tokens: None,
        tools: base.tools.to_vec(),
        mcp_tools: Vec::new(),
        foreign_tools: Vec::new(),
        skills: Vec::new(),
        rules: Vec::new(),
        origin: None,
    };
    BUILTIN_AGENTS.iter().map(|base| (base.id.to_owned(), Arc::new(agent(base)))).collect()
}
