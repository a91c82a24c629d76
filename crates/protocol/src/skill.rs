//! Skills: texts that an agent reads only when it needs them.

use std::sync::Arc;

/// A skill of a protocol: a folder `skills/NAME` with a `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDefinition {
    /// The name of the folder, which the header of the file repeats.
    pub name: String,
    /// What the skill is for and when to use it; this is all that a prompt contains of it.
    pub description: String,
    /// The text below the header, which an agent gets when it asks for it.
    pub text: String,
    /// Path of the file in the protocol folder.
    pub path: String,
}

/// A skill that an agent file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSkill {
    /// The name as the agent file has it.
    pub name: String,
    /// The skill of the protocol; `None` if the protocol has none of this name, so that only a
    /// coding agent with such a skill of its own can use it.
    pub definition: Option<Arc<SkillDefinition>>,
}
