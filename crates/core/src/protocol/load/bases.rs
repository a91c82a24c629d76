//! The built-in agents that others derive from. Their prompts are ours and fit any process.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::protocol::{Agent, ByLanguage, Tool};

/// One built-in agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    pub(super) id: &'static str,
    pub(super) prompt: &'static str,
    pub(super) tools: &'static [Tool],
    description: &'static str,
}

/// Every one, in the order of the seed.
pub(super) const BASES: [Base; 6] = [
    Base {
        id: "orchestrator",
        description: "Plans the work, splits it and keeps it moving.",
        prompt: include_str!("../bases/orchestrator.md"),
        tools: &[],
    },
    Base {
        id: "oracle",
        description: "Judges and advises on hard questions.",
        prompt: include_str!("../bases/oracle.md"),
        tools: &[],
    },
    Base {
        id: "librarian",
        description: "Finds sources and reports what they say.",
        prompt: include_str!("../bases/librarian.md"),
        tools: &[Tool::Read, Tool::List, Tool::Search],
    },
    Base {
        id: "explorer",
        description: "Looks around and maps what is there.",
        prompt: include_str!("../bases/explorer.md"),
        tools: &[Tool::Read, Tool::List, Tool::Search],
    },
    Base {
        id: "designer",
        description: "Shapes a solution before it is built.",
        prompt: include_str!("../bases/designer.md"),
        tools: &[],
    },
    Base {
        id: "fixer",
        description: "Makes the change that is asked for, and only that.",
        prompt: include_str!("../bases/fixer.md"),
        tools: &Tool::ALL,
    },
];

/// A built-in agent by its id.
pub(super) fn base(id: &str) -> Option<&'static Base> {
    BASES.iter().find(|base| base.id == id)
}

/// The built-in agents as phases use them.
pub(super) fn agents() -> BTreeMap<String, Arc<Agent>> {
    let agent = |base: &Base| Agent {
        id: base.id.to_owned(),
        description: base.description.to_owned(),
        prompt: ByLanguage::plain(base.prompt.trim().to_owned()),
        model: None,
        temperature: None,
        max_tokens: None,
        tools: base.tools.to_vec(),
        skills: Vec::new(),
        rules: Vec::new(),
        origin: None,
    };
    BASES.iter().map(|base| (base.id.to_owned(), Arc::new(agent(base)))).collect()
}
