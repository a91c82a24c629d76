//! What a run asks for, for a client that replies in place of a model.

use countersign_contract::contract::Contract;
use countersign_run::{
    ClosedGate, PendingAction, PromptMessage, PromptRole, RunState, WaitKind,
    manual_patch_contract, render_prompt,
};
use countersign_runtime::engine::{Engine, LiveRun};
use countersign_runtime::memory_recorder::{PromptWithMemory, add_memory_to_prompt};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::WaitView;

/// What a run asks for. Members that do not apply are null.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct NextStep {
    /// The id of the run.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// The version of the run: send it as `If-Match` with your input.
    pub version: u64,
    /// `running`, `waiting`, `halted`, `completed` or `failed`.
    pub status: String,
    /// The id of the current phase.
    pub phase: String,
    /// The open waits of the run.
    pub waits: Vec<WaitView>,
    /// The closed gates and their reasons.
    #[schema(value_type = Vec<Object>)]
    pub closed_gates: Vec<ClosedGate>,
    /// The id of the memory build that the prompt contains.
    pub packet_build: Option<String>,
    /// `reply`: the run asks for a model's reply. `patch`: the run accepts a patch that opens a
    /// transition. Null: the run asks for nothing.
    pub expects: Option<String>,
    /// The action that a reply answers.
    pub action: Option<String>,
    /// The id of the agent that the prompt is for.
    pub agent: Option<String>,
    /// The number of the attempt, starting at 1.
    pub attempt: Option<u32>,
    /// The model that the protocol or the run names. Null if none is named.
    pub model: Option<String>,
    /// The kind of memory packet in the prompt.
    pub purpose: Option<String>,
    /// The contract that the reply must satisfy.
    pub contract: Option<StepContract>,
    /// The tools that a reply may call instead.
    pub tools: Option<Vec<String>>,
    /// The part of the document that the prompt shows.
    pub packet: Option<Value>,
    /// The system prompt: agent, packet, rules and contract.
    pub system: Option<String>,
    /// The messages of the conversation so far: `{"role", "text"}`.
    #[schema(value_type = Option<Vec<Object>>)]
    pub messages: Option<Vec<PromptMessage>>,
}

/// The contract of a step.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct StepContract {
    /// The id of the contract.
    pub id: String,
    /// The version of the contract.
    pub version: String,
    /// The digest of everything that affects verdicts.
    pub digest: String,
    /// What may surround the JSON object in a reply: `strict`, `fenced`, `tolerant`.
    pub intake: String,
    /// The JSON Schema of accepted replies.
    pub schema: Value,
    /// The rules that a reply must satisfy in addition to the schema.
    pub rules: Vec<StepRule>,
}

/// A rule, as far as the author of a reply needs to know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StepRule {
    /// The id of the rule.
    pub id: String,
    /// The message of a violation.
    pub says: String,
}

impl NextStep {
    /// Loads what a run asks for now. Adds memory to the prompt of a model.
    pub async fn load(engine: &Engine, live: &LiveRun) -> Self {
        let state = &live.state;
        match render_prompt(&live.protocol, state) {
            Some(prompt) => {
                Self::for_reply(state, add_memory_to_prompt(engine, live, prompt).await)
            }
            None if is_patch_open(state) => Self {
                expects: Some("patch".to_owned()),
                contract: Some(StepContract::from_contract(manual_patch_contract())),
                packet: Some((*state.document).clone()),
                ..Self::without_request(state)
            },
            None => Self::without_request(state),
        }
    }

    fn for_reply(state: &RunState, reminded: PromptWithMemory) -> Self {
        let PromptWithMemory { prompt, build: packet_build } = reminded;
        Self {
            packet_build,
            expects: Some("reply".to_owned()),
            contract: Some(StepContract::from_contract(&prompt.contract)),
            action: Some(prompt.action),
            agent: Some(prompt.agent),
            attempt: Some(prompt.attempt),
            model: prompt.model,
            purpose: Some(prompt.purpose.as_str().to_owned()),
            tools: Some(prompt.tools),
            packet: Some(prompt.packet),
            system: Some(prompt.system),
            messages: Some(prompt.messages),
            ..Self::without_request(state)
        }
    }

    fn without_request(state: &RunState) -> Self {
        Self {
            run: state.run.clone(),
            version: state.version,
            status: state.status().as_str().to_owned(),
            phase: state.phase.clone(),
            waits: state.waits.values().map(WaitView::from).collect(),
            closed_gates: state.closed_gates.clone(),
            packet_build: None,
            expects: None,
            action: None,
            agent: None,
            attempt: None,
            model: None,
            purpose: None,
            contract: None,
            tools: None,
            packet: None,
            system: None,
            messages: None,
        }
    }

    /// Renders the step as text for a person.
    #[must_use]
    pub fn render_text(&self) -> String {
        let Self { run, status, phase, .. } = self;
        let head = format!("run {run} is {status} in phase {phase}\n");
        match (self.expects.as_deref(), &self.contract) {
            (Some("reply"), Some(contract)) => head + &self.render_reply_text(contract),
            (Some(_), Some(contract)) => {
                let mut text =
                    format!("{head}The run expects a patch that opens a transition.\n\n");
                for gate in &self.closed_gates {
                    text.push_str(&format!("  → {}: {}\n", gate.to, gate.reason));
                }
                let schema = countersign_contract::json::to_canonical_json(&contract.schema);
                let id = &contract.id;
                text + &format!(
                    "\nContract {id}:\n{schema}\n\nSubmit it with: countersign submit {run} FILE\n"
                )
            }
            _ if self.waits.is_empty() => format!("{head}The run expects nothing.\n"),
            _ => {
                let mut text = format!("{head}The run waits for a person:\n");
                for WaitView { id, kind, question, .. } in &self.waits {
                    text.push_str(&format!("  {run}/{id}  {}  {question}\n", kind.as_str()));
                }
                text
            }
        }
    }

    fn render_reply_text(&self, contract: &StepContract) -> String {
        let mut text = format!(
            "The run expects a reply under contract {} (action {}, attempt {}).\n\n{}\n",
            contract.id,
            self.action.as_deref().unwrap_or_default(),
            self.attempt.unwrap_or_default(),
            self.system.as_deref().unwrap_or_default(),
        );
        for turn in self.messages.iter().flatten() {
            let who = match turn.role {
                PromptRole::User => "User message",
                PromptRole::Assistant => "Model reply",
            };
            text.push_str(&format!("\n── {who}\n{}\n", turn.text.trim_end()));
        }
        text + &format!("\nSubmit it with: countersign submit {} FILE\n", self.run)
    }
}

impl StepContract {
    fn from_contract(contract: &Contract) -> Self {
        let rules = contract.rules.iter();
        let rules = rules.map(|rule| StepRule { id: rule.id.clone(), says: rule.says.clone() });
        Self {
            id: contract.id.clone(),
            version: contract.version.clone(),
            digest: contract.digest.clone(),
            intake: contract.intake.as_str().to_owned(),
            schema: contract.schema.source().clone(),
            rules: rules.collect(),
        }
    }
}

/// An input that a client outside may submit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedInput {
    /// A reply in place of a model.
    Reply {
        /// The action that the reply answers.
        action: String,
    },
    /// A patch that opens a transition.
    Patch,
}

/// Returns what a client may submit now; `None` if the run expects nothing.
#[must_use]
pub fn find_expected_input(state: &RunState) -> Option<ExpectedInput> {
    let mut orders = state.pending.iter();
    match orders.find(|(_, order)| matches!(order, PendingAction::Model { .. })) {
        Some((action, _)) => Some(ExpectedInput::Reply { action: action.clone() }),
        None => is_patch_open(state).then_some(ExpectedInput::Patch),
    }
}

/// Whether the run expects nothing but a manual patch. Other waits have precedence.
fn is_patch_open(state: &RunState) -> bool {
    let by_hand = |kind: WaitKind| matches!(kind, WaitKind::Work | WaitKind::Incident);
    let idle = state.pending.is_empty() && state.end.is_none();
    idle && !state.closed_gates.is_empty() && state.waits.values().all(|wait| by_hand(wait.kind))
}
