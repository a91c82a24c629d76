//! Renders the prompt of a model step: agent, packet, rules, the contract and the part of the
//! document's contract that the reply can change, then the task. The
//! function is pure: the same run at the same version gives the same bytes.

use std::sync::Arc;

use countersign_contract::contract::Contract;
use countersign_contract::json;
use countersign_contract::reply::IntakeMode;
use countersign_protocol::{
    AgentPurpose, AgentSkill, AgentTool, AgentWork, PhaseWork, Protocol, ResolvedAgent,
    WorkflowPhase,
};
use serde_json::{Map, Value};

use super::apply_event::set_at_pointer;
use super::build_run_value;
use super::document_terms::render_document_terms;
use super::effect_call::SKILL_TOOL;
use super::mcp_tools::McpToolDefinition;
use super::state::{PromptMessage, PromptRole, RunState};

/// Everything that a model, or a person in its place, needs for one step.
#[derive(Debug, Clone)]
pub struct StepPrompt {
    /// Id of the action that the reply answers.
    pub action: String,
    /// Id of the phase.
    pub phase: String,
    /// Id of the agent.
    pub agent: String,
    /// Number of the attempt in the step, from 1. Rounds of tool use do not raise it.
    pub attempt: u32,
    /// The requested model; `None` if run, agent and index name none.
    pub model: Option<String>,
    /// Sampling temperature; the provider's default if absent.
    pub temperature: Option<f64>,
    /// Maximum length of the reply in tokens; the provider's default if absent.
    pub max_tokens: Option<u32>,
    /// The contract that the reply must satisfy.
    pub contract: Arc<Contract>,
    /// Names of the tools that the reply may call instead of answering; empty if there are none.
    pub tools: Vec<String>,
    /// The kind of memory packet that the model receives.
    pub purpose: AgentPurpose,
    /// The part of the document that the model sees.
    pub packet: Value,
    /// The system message: agent prompt, packet, rules, the contract, and what the document must
    /// satisfy.
    pub system: String,
    /// The task, followed by the messages exchanged since.
    pub messages: Vec<PromptMessage>,
}

/// Resolves the model to call: the run's override, then the agent's model, then the index's
/// default. A name that the index maps to a model is replaced by it.
#[must_use]
pub fn resolve_model(
    protocol: &Protocol,
    state: &RunState,
    agent: &ResolvedAgent,
) -> Option<String> {
    let named = state.model.as_ref().or(agent.model.as_ref());
    let named = named.or(protocol.default_model.as_ref())?;
    Some(protocol.resolve_model_name(named).to_owned())
}

/// Renders the prompt of the pending model action, or returns `None` if no model action is pending.
#[must_use]
pub fn render_prompt(protocol: &Protocol, state: &RunState) -> Option<StepPrompt> {
    let is_model =
        |order: &super::PendingAction| matches!(order, super::PendingAction::Model { .. });
    let action = state.pending.iter().find(|(_, order)| is_model(order))?.0.clone();
    let phase = protocol.workflows.get(&state.workflow)?.find_phase(&state.phase)?;
    let PhaseWork::Agent(work) = &phase.work else { return None };
    let step = state.step.clone().unwrap_or_default();
    let packet = select_packet(&state.document, work.reads.as_deref());
    let language = protocol.language.as_ref();
    let language =
        language.and_then(|_| protocol.resolve_language(&state.document, &build_run_value(state)));
    let language = language.as_deref();
    let mut turns = vec![PromptMessage {
        role: PromptRole::User,
        text: render_task(phase, work, state, language),
    }];
    turns.extend(step.messages);
    Some(StepPrompt {
        action,
        phase: phase.id.clone(),
        agent: work.agent.id.clone(),
        attempt: step.attempt,
        model: resolve_model(protocol, state, &work.agent),
        temperature: work.agent.temperature,
        max_tokens: work.agent.max_tokens,
        contract: Arc::clone(&work.contract),
        tools: list_tool_names(&work.agent, state),
        purpose: work.purpose,
        system: render_system((protocol, phase, work), state, &packet, language),
        packet,
        messages: turns,
    })
}

/// Copies the parts of the document that the phase may read.
fn select_packet(document: &Value, reads: Option<&[String]>) -> Value {
    let Some(reads) = reads else { return document.clone() };
    let mut shown = Value::Object(Map::new());
    for pointer in reads {
        if let Some(value) = document.pointer(pointer) {
            set_at_pointer(&mut shown, pointer, value);
        }
    }
    shown
}

/// Lists the tools that an agent may use in this run.
fn list_tool_names(agent: &ResolvedAgent, state: &RunState) -> Vec<String> {
    let own = agent.tools.iter().map(|tool| tool.as_str().to_owned());
    let skill = agent.list_readable_skills().next().map(|_| SKILL_TOOL.to_owned());
    let mcp = state.list_mcp_tools(agent).map(|(server, tool)| format!("{server}.{}", tool.name));
    own.chain(skill).chain(mcp).collect()
}

fn render_system(
    (protocol, phase, work): (&Protocol, &WorkflowPhase, &AgentWork),
    state: &RunState,
    packet: &Value,
    language: Option<&str>,
) -> String {
    let agent = &work.agent;
    let mut text = agent.prompt.version_for(language).trim_end().to_owned();
    text.push_str(&format!("\n\n## State\n\n```json\n{packet:#}\n```"));
    if !agent.skills.is_empty() {
        text.push_str("\n\n");
        text.push_str(&render_skills(&agent.skills));
    }
    for (name, rule) in &agent.rules {
        let rule = rule.version_for(language).trim_end();
        text.push_str(&format!("\n\n## Rule: {name}\n\n{rule}"));
    }
    text.push_str("\n\n");
    text.push_str(&render_contract_terms(&work.contract));
    let workflow = protocol.workflows.get(&state.workflow);
    let document = workflow.map(|workflow| protocol.document_for(workflow));
    if let Some(terms) = document.and_then(|document| render_document_terms(document, phase, work))
    {
        text.push_str("\n\n");
        text.push_str(&terms);
    }
    let mcp_tools: Vec<_> = state.list_mcp_tools(agent).collect();
    let has_skills = agent.list_readable_skills().next().is_some();
    if !agent.tools.is_empty() || has_skills || !mcp_tools.is_empty() {
        text.push_str("\n\n");
        text.push_str(&render_tools(&agent.tools, has_skills, &mcp_tools));
    }
    text
}

/// Lists the skills of an agent with what each is for; their texts are read on demand.
fn render_skills(skills: &[AgentSkill]) -> String {
    let mut text = "## Skills\n".to_owned();
    for skill in skills {
        match &skill.definition {
            Some(definition) => {
                let description = definition.description.replace('\n', " ");
                text.push_str(&format!("\n- `{}`: {description}", skill.name));
            }
            None => text.push_str(&format!("\n- `{}`", skill.name)),
        }
    }
    if skills.iter().any(|skill| skill.definition.is_some()) {
        text.push_str("\n\nRead the whole text of a skill with the tool `skill` before you do what it is for.");
    }
    text
}

/// Describes the contract in words that a model can follow.
#[must_use]
pub fn render_contract_terms(contract: &Contract) -> String {
    let envelope = match contract.intake {
        IntakeMode::Strict => {
            "Reply with one JSON object and nothing else: no prose, no code fence."
        }
        IntakeMode::Fenced => "Reply with one JSON object, alone or in one code fence.",
        IntakeMode::Tolerant => "Reply with exactly one JSON object; do not quote another.",
    };
    let mut text = format!("## Contract: {}\n\n{envelope}\n\n", contract.id);
    text.push_str(&format!("```json\n{}\n```", json::to_canonical_json(contract.schema.source())));
    if !contract.rules.is_empty() {
        text.push_str("\n\nBeyond the schema, these must hold:\n");
        for rule in &contract.rules {
            text.push_str(&format!("\n- {}", rule.says));
        }
    }
    text
}

/// Describes the workspace tools with one example each, which is shorter than their schema, and the
/// tools of MCP servers with their descriptions and schemas.
fn render_tools(
    tools: &[AgentTool],
    has_skills: bool,
    mcp_tools: &[(&str, &McpToolDefinition)],
) -> String {
    let example = |tool: &AgentTool| match tool {
        AgentTool::Read => r#"{"tool": "read", "path": "FILE"}"#,
        AgentTool::Write => r#"{"tool": "write", "path": "FILE", "content": "TEXT"}"#,
        AgentTool::List => r#"{"tool": "list", "path": "FOLDER, or empty for all"}"#,
        AgentTool::Search => {
            r#"{"tool": "search", "query": "TEXT", "path": "FOLDER, or empty for all"}"#
        }
    };
    let own = tools.iter().map(|tool| format!("- `{}`", example(tool)));
    let skill = has_skills.then(|| format!(r#"- `{{"tool": "{SKILL_TOOL}", "name": "SKILL"}}`"#));
    let mcp = mcp_tools.iter().map(|(server, tool)| render_mcp_tool(server, tool));
    let lines: Vec<String> = own.chain(skill).chain(mcp).collect();
    format!(
        "## Tools\n\nBefore you reply you may use these, up to eight at once:\n\n{}\n\nTo do so, send `{{\"tool_calls\": [ … ]}}` instead of your reply. The results come back, and you go on.",
        lines.join("\n")
    )
}

/// Describes a tool of an MCP server: how it is called, what its server says about it, and the
/// schema of its arguments.
fn render_mcp_tool(server: &str, tool: &McpToolDefinition) -> String {
    let mut text = format!(r#"- `{{"tool": "{server}.{}", "arguments": OBJECT}}`"#, tool.name);
    if !tool.description.trim().is_empty() {
        text.push_str(&format!(": {}", tool.description.trim().replace('\n', "\n  ")));
    }
    let schema = json::to_canonical_json(&tool.input_schema);
    text.push_str(&format!("\n  `arguments` must satisfy this schema: `{schema}`"));
    text
}

/// Renders the task: the phase's own prompt, or its name and description.
fn render_task(
    phase: &WorkflowPhase,
    work: &AgentWork,
    state: &RunState,
    language: Option<&str>,
) -> String {
    if let Some(prompt) = &work.prompt {
        let prompt = prompt.version_for(language);
        let run = build_run_value(state);
        match prompt.render(&[Some(&state.document), Some(&run)]) {
            Ok(text) => return text,
            // The message reports the unfilled placeholder; the contract still decides on the
            // reply.
            Err(error) => return format!("{}\n\n({})", prompt.source(), error.message),
        }
    }
    let name = phase.name.as_ref().unwrap_or(&phase.id);
    match &phase.description {
        Some(description) => format!("{name}: {description}"),
        None => format!("Do the work of phase `{name}`."),
    }
}
