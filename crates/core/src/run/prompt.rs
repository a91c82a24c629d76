//! The prompt of a model's step: agent, packet, rules, contract, then what is asked. Pure: the same run
//! at the same version gives the same bytes.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::apply_event::set_at_pointer;
use super::build_run_value;
use super::state::{PromptMessage, PromptRole, RunState};
use crate::contract::Contract;
use crate::json;
use crate::protocol::{
    AgentPurpose, AgentTool, AgentWork, PhaseWork, Protocol, ResolvedAgent, WorkflowPhase,
};
use crate::reply::IntakeMode;

/// Everything a model, or whoever takes its place, needs for one step.
#[derive(Debug, Clone)]
pub struct StepPrompt {
    /// The order that the reply answers.
    pub action: String,
    /// The phase.
    pub phase: String,
    /// The agent.
    pub agent: String,
    /// Which try it is, and how often tools were used in it.
    pub attempt: u32,
    /// The model that is meant; `Empty` where nobody names one.
    pub model: Option<String>,
    /// How freely it chooses.
    pub temperature: Option<f64>,
    /// How long the reply may be.
    pub max_tokens: Option<u32>,
    /// What the reply must satisfy.
    pub contract: Arc<Contract>,
    /// Whether the reply may ask for tools instead.
    pub tools: Vec<AgentTool>,
    /// Which packet it gets.
    pub purpose: AgentPurpose,
    /// What of the document it is shown.
    pub packet: Value,
    /// Agent, packet, rules and contract.
    pub system: String,
    /// What is asked, and what was said since.
    pub messages: Vec<PromptMessage>,
}

/// The model that is asked: the caller's, the agent's, the index's, in this order.
#[must_use]
pub fn resolve_model(
    protocol: &Protocol,
    state: &RunState,
    agent: &ResolvedAgent,
) -> Option<String> {
    let named = state.model.as_ref().or(agent.model.as_ref());
    named.or(protocol.default_model.as_ref()).cloned()
}

/// The prompt of the step that is out, if a model is being asked.
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
    turns.extend(step.turns);
    Some(StepPrompt {
        action,
        phase: phase.id.clone(),
        agent: work.agent.id.clone(),
        attempt: step.attempt,
        model: resolve_model(protocol, state, &work.agent),
        temperature: work.agent.temperature,
        max_tokens: work.agent.max_tokens,
        contract: Arc::clone(&work.contract),
        tools: work.agent.tools.clone(),
        purpose: work.purpose,
        system: render_system(work, &packet, language),
        packet,
        messages: turns,
    })
}

/// The places of the document that a phase is shown.
fn select_packet(document: &Value, reads: Option<&[String]>) -> Value {
    let Some(reads) = reads else { return document.clone() };
    let mut shown = Value::Object(Map::new());
    for place in reads {
        if let Some(value) = document.pointer(place) {
            set_at_pointer(&mut shown, place, value);
        }
    }
    shown
}

fn render_system(work: &AgentWork, packet: &Value, language: Option<&str>) -> String {
    let agent = &work.agent;
    let mut text = agent.prompt.version_for(language).trim_end().to_owned();
    text.push_str(&format!("\n\n## State\n\n```json\n{packet:#}\n```"));
    if !agent.skills.is_empty() {
        text.push_str(&format!("\n\n## Skills\n\n{}", agent.skills.join(", ")));
    }
    for (name, rule) in &agent.rules {
        let rule = rule.version_for(language).trim_end();
        text.push_str(&format!("\n\n## Rule: {name}\n\n{rule}"));
    }
    text.push_str("\n\n");
    text.push_str(&render_contract_terms(&work.contract));
    if !agent.tools.is_empty() {
        text.push_str("\n\n");
        text.push_str(&render_tools(&agent.tools));
    }
    text
}

/// The contract in words a model can follow.
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

/// How an agent asks for its tools: one example of each, which is shorter than their schema.
fn render_tools(tools: &[AgentTool]) -> String {
    let example = |tool: &AgentTool| match tool {
        AgentTool::Read => r#"{"tool": "read", "path": "FILE"}"#,
        AgentTool::Write => r#"{"tool": "write", "path": "FILE", "content": "TEXT"}"#,
        AgentTool::List => r#"{"tool": "list", "path": "FOLDER, or empty for all"}"#,
        AgentTool::Search => {
            r#"{"tool": "search", "query": "TEXT", "path": "FOLDER, or empty for all"}"#
        }
    };
    let lines: Vec<String> = tools.iter().map(|tool| format!("- `{}`", example(tool))).collect();
    format!(
        "## Tools\n\nBefore you reply you may use these, up to eight at once:\n\n{}\n\nTo do so, send `{{\"tool_calls\": [ … ]}}` instead of your reply. The results come back, and you go on.",
        lines.join("\n")
    )
}

/// What is asked: the phase's own words, or its name and description.
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
            // A hole in the question is told; the contract still decides.
            Err(error) => return format!("{}\n\n({})", prompt.source(), error.message),
        }
    }
    let name = phase.name.as_ref().unwrap_or(&phase.id);
    match &phase.description {
        Some(description) => format!("{name}: {description}"),
        None => format!("Do the work of phase `{name}`."),
    }
}
