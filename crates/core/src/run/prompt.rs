//! The prompt of a model's step: agent, packet, rules, contract, then what is asked. Pure: the same run
//! at the same version gives the same bytes.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::apply::stamp;
use super::state::{Role, State, Turn};
use super::view;
use crate::contract::Contract;
use crate::json;
use crate::protocol::{Agent, AgentWork, Phase, Protocol, Purpose, Tool, Work};
use crate::reply::Intake;

/// Everything a model, or whoever takes its place, needs for one step.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The order that the reply answers.
    pub action: String,
    /// The phase.
    pub phase: String,
    /// The agent.
    pub agent: String,
    /// Which try it is, and how often tools were used in it.
    pub attempt: u32,
    /// The model that is meant; `None` where nobody names one.
    pub model: Option<String>,
    /// How freely it chooses.
    pub temperature: Option<f64>,
    /// How long the reply may be.
    pub max_tokens: Option<u32>,
    /// What the reply must satisfy.
    pub contract: Arc<Contract>,
    /// Whether the reply may ask for tools instead.
    pub tools: Vec<Tool>,
    /// Which packet it gets.
    pub purpose: Purpose,
    /// What of the document it is shown.
    pub packet: Value,
    /// Agent, packet, rules and contract.
    pub system: String,
    /// What is asked, and what was said since.
    pub turns: Vec<Turn>,
}

/// The model that is asked: the caller's, the agent's, the index's, in this order.
#[must_use]
pub fn model_of(protocol: &Protocol, state: &State, agent: &Agent) -> Option<String> {
    let named = state.model.as_ref().or(agent.model.as_ref());
    named.or(protocol.default_model.as_ref()).cloned()
}

/// The prompt of the step that is out, if a model is being asked.
#[must_use]
pub fn prompt(protocol: &Protocol, state: &State) -> Option<Prompt> {
    let is_model = |order: &super::Pending| matches!(order, super::Pending::Model { .. });
    let action = state.pending.iter().find(|(_, order)| is_model(order))?.0.clone();
    let phase = protocol.workflows.get(&state.workflow)?.phase(&state.phase)?;
    let Work::Agent(work) = &phase.work else { return None };
    let step = state.step.clone().unwrap_or_default();
    let packet = packet(&state.document, work.reads.as_deref());
    let language = protocol.language.as_ref();
    let language = language.and_then(|_| protocol.language(&state.document, &view(state)));
    let language = language.as_deref();
    let mut turns = vec![Turn { role: Role::User, text: asked(phase, work, state, language) }];
    turns.extend(step.turns);
    Some(Prompt {
        action,
        phase: phase.id.clone(),
        agent: work.agent.id.clone(),
        attempt: step.attempt,
        model: model_of(protocol, state, &work.agent),
        temperature: work.agent.temperature,
        max_tokens: work.agent.max_tokens,
        contract: Arc::clone(&work.contract),
        tools: work.agent.tools.clone(),
        purpose: work.purpose,
        system: system(work, &packet, language),
        packet,
        turns,
    })
}

/// The places of the document that a phase is shown.
fn packet(document: &Value, reads: Option<&[String]>) -> Value {
    let Some(reads) = reads else { return document.clone() };
    let mut shown = Value::Object(Map::new());
    for place in reads {
        if let Some(value) = document.pointer(place) {
            stamp(&mut shown, place, value);
        }
    }
    shown
}

fn system(work: &AgentWork, packet: &Value, language: Option<&str>) -> String {
    let agent = &work.agent;
    let mut text = agent.prompt.in_language(language).trim_end().to_owned();
    text.push_str(&format!("\n\n## State\n\n```json\n{packet:#}\n```"));
    if !agent.skills.is_empty() {
        text.push_str(&format!("\n\n## Skills\n\n{}", agent.skills.join(", ")));
    }
    for (name, rule) in &agent.rules {
        let rule = rule.in_language(language).trim_end();
        text.push_str(&format!("\n\n## Rule: {name}\n\n{rule}"));
    }
    text.push_str("\n\n");
    text.push_str(&terms(&work.contract));
    if !agent.tools.is_empty() {
        text.push_str("\n\n");
        text.push_str(&tools(&agent.tools));
    }
    text
}

/// The contract in words a model can follow.
#[must_use]
pub fn terms(contract: &Contract) -> String {
    let envelope = match contract.intake {
        Intake::Strict => "Reply with one JSON object and nothing else: no prose, no code fence.",
        Intake::Fenced => "Reply with one JSON object, alone or in one code fence.",
        Intake::Tolerant => "Reply with exactly one JSON object; do not quote another.",
    };
    let mut text = format!("## Contract: {}\n\n{envelope}\n\n", contract.id);
    text.push_str(&format!("```json\n{}\n```", json::canonical(contract.schema.source())));
    if !contract.rules.is_empty() {
        text.push_str("\n\nBeyond the schema, these must hold:\n");
        for rule in &contract.rules {
            text.push_str(&format!("\n- {}", rule.says));
        }
    }
    text
}

/// How an agent asks for its tools: one example of each, which is shorter than their schema.
fn tools(tools: &[Tool]) -> String {
    let example = |tool: &Tool| match tool {
        Tool::Read => r#"{"tool": "read", "path": "FILE"}"#,
        Tool::Write => r#"{"tool": "write", "path": "FILE", "content": "TEXT"}"#,
        Tool::List => r#"{"tool": "list", "path": "FOLDER, or empty for all"}"#,
        Tool::Search => {
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
fn asked(phase: &Phase, work: &AgentWork, state: &State, language: Option<&str>) -> String {
    if let Some(prompt) = &work.prompt {
        let prompt = prompt.in_language(language);
        let run = view(state);
        match prompt.fill(&[Some(&state.document), Some(&run)]) {
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
