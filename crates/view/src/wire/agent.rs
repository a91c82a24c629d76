//! Agents as they are resolved: merged with their base, with models, tools, skills and rules.

use std::collections::BTreeMap;

use countersign_protocol::{Localized, PhaseWork, Protocol, ResolvedAgent};
use serde::Serialize;
use utoipa::ToSchema;

/// An agent as the prompts of its phases use it. A coding agent can do its work by this view alone.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AgentView {
    /// The id of the agent.
    #[schema(example = "writer")]
    pub id: String,
    /// What the agent does, in short.
    pub description: String,
    /// The built-in agent that it extends. Null if it extends none or is built in.
    pub base: Option<String>,
    /// The prompt, merged with the prompt of its base.
    pub prompt: String,
    /// The prompt in other languages.
    pub translations: BTreeMap<String, String>,
    /// The model that is called if the caller names none. Null if neither the agent nor the index
    /// names one.
    #[schema(example = "openai:gpt-4.1")]
    pub model: Option<String>,
    /// The name that the agent's file has for the model. Null if it names none.
    pub model_name: Option<String>,
    /// The sampling temperature. Null for the provider's default.
    pub temperature: Option<f64>,
    /// The maximum length of a reply in tokens. Null for the provider's default.
    pub max_tokens: Option<u32>,
    /// Tools for files of the workspace: `read`, `write`, `list`, `search`.
    pub tools: Vec<String>,
    /// Tools of MCP servers: `SERVER.TOOL`, or `SERVER.*` for all of a server.
    pub mcp_tools: Vec<String>,
    /// Tools that Countersign does not have. A coding agent that does the work may have them.
    pub foreign_tools: Vec<String>,
    /// Skills, in the order of the agent's file.
    pub skills: Vec<AgentSkillView>,
    /// Rules, in the order of the agent's file.
    pub rules: Vec<AgentRuleView>,
    /// The phases that the agent works in: `WORKFLOW/PHASE`. Empty if no phase uses it.
    pub phases: Vec<String>,
}

/// A skill of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AgentSkillView {
    /// The name of the skill.
    pub name: String,
    /// What the skill is for and when to use it. Null if the protocol does not have the skill.
    pub description: Option<String>,
    /// The whole text. Null unless it was asked for.
    pub text: Option<String>,
}

/// A rule of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AgentRuleView {
    /// The name of the rule.
    pub name: String,
    /// The text of the rule.
    pub text: String,
    /// The text in other languages.
    pub translations: BTreeMap<String, String>,
}

impl AgentView {
    /// Builds the view of an agent of a protocol. `with_text` names the skill whose text is
    /// included.
    #[must_use]
    pub fn from_agent(protocol: &Protocol, agent: &ResolvedAgent, with_text: Option<&str>) -> Self {
        let named = agent.model.as_deref().or(protocol.default_model.as_deref());
        let skills = agent.skills.iter().map(|skill| {
            let definition = skill.definition.as_deref();
            let text = definition.filter(|_| with_text == Some(skill.name.as_str()));
            AgentSkillView {
                name: skill.name.clone(),
                description: definition.map(|skill| skill.description.clone()),
                text: text.map(|skill| skill.text.clone()),
            }
        });
        let rules = agent.rules.iter().map(|(name, rule)| AgentRuleView {
            name: name.clone(),
            text: rule.version_for(None).clone(),
            translations: list_translations(rule),
        });
        let base = agent.origin.as_ref().and_then(|origin| origin.tree.value["base"].as_str());
        Self {
            id: agent.id.clone(),
            description: agent.description.clone(),
            base: base.map(str::to_owned),
            prompt: agent.prompt.version_for(None).clone(),
            translations: list_translations(&agent.prompt),
            model: named.map(|name| protocol.resolve_model_name(name).to_owned()),
            model_name: agent.model.clone(),
            temperature: agent.temperature,
            max_tokens: agent.max_tokens,
            tools: agent.tools.iter().map(|tool| tool.as_str().to_owned()).collect(),
            mcp_tools: agent.mcp_tools.iter().map(ToString::to_string).collect(),
            foreign_tools: agent.foreign_tools.clone(),
            skills: skills.collect(),
            rules: rules.collect(),
            phases: list_phases(protocol, &agent.id),
        }
    }
}

/// Lists the versions of a text except the one for readers of no particular language.
fn list_translations(text: &Localized<String>) -> BTreeMap<String, String> {
    let tagged = text.versions().filter(|(language, _)| !language.is_empty());
    tagged.map(|(language, text)| (language.to_owned(), text.clone())).collect()
}

/// Lists the phases whose work an agent does.
fn list_phases(protocol: &Protocol, agent: &str) -> Vec<String> {
    let mut phases = Vec::new();
    for workflow in protocol.workflows.values() {
        for phase in &workflow.phases {
            if matches!(&phase.work, PhaseWork::Agent(work) if work.agent.id == agent) {
                phases.push(format!("{}/{}", workflow.id, phase.id));
            }
        }
    }
    phases
}
