//! What a run asks for, for whoever takes the model's place.

use countersign_core::contract::Contract;
use countersign_core::run::{
    ClosedGate, PendingAction, PromptMessage, PromptRole, RunState, WaitKind,
    manual_patch_contract, render_prompt,
};
use countersign_runtime::engine::{Engine, LiveRun};
use countersign_runtime::memory_recorder::{PromptWithMemory, add_memory_to_prompt};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::WaitView;

/// What a run asks for. Members that do not belong to what is asked for are null.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct NextStep {
    /// The run.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// Its version: `If-Match` when something is handed in.
    pub version: u64,
    /// `running`, `waiting`, `halted`, `completed` or `failed`.
    pub status: String,
    /// The phase it stands in.
    pub phase: String,
    /// What it waits for.
    pub waits: Vec<WaitView>,
    /// Which gates are closed, and why.
    #[schema(value_type = Vec<Object>)]
    pub closed_gates: Vec<ClosedGate>,
    /// The build of memory that the prompt shows.
    pub build: Option<String>,
    /// `reply`: a model is asked. `patch`: whatever opens a way may be handed in. Null: nothing is asked for.
    pub asks: Option<String>,
    /// The order that a reply answers.
    pub action: Option<String>,
    /// The agent that is asked.
    pub agent: Option<String>,
    /// Which try it is.
    pub attempt: Option<u32>,
    /// The model that is meant; null where nobody names one.
    pub model: Option<String>,
    /// Which packet it gets.
    pub purpose: Option<String>,
    /// What the reply must satisfy.
    pub contract: Option<StepContract>,
    /// Tools the reply may ask for instead.
    pub tools: Option<Vec<String>>,
    /// What of the document is shown.
    pub packet: Option<Value>,
    /// Agent, packet, rules and contract, as the model reads them.
    pub system: Option<String>,
    /// What is asked, and what was said since: `{"role", "text"}`.
    #[schema(value_type = Option<Vec<Object>>)]
    pub turns: Option<Vec<PromptMessage>>,
}

/// The contract of a step.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct StepContract {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Its digest.
    pub digest: String,
    /// What may stand around the object.
    pub intake: String,
    /// The JSON Schema.
    pub schema: Value,
    /// What must hold beyond the schema.
    pub rules: Vec<StepRule>,
}

/// A rule, as far as somebody must know it who wants to satisfy it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StepRule {
    /// Its id.
    pub id: String,
    /// What it says.
    pub says: String,
}

impl NextStep {
    /// What a run asks for now. A model that is asked is reminded first.
    pub async fn load(engine: &Engine, live: &LiveRun) -> Self {
        let state = &live.state;
        match render_prompt(&live.protocol, state) {
            Some(prompt) => {
                Self::for_reply(state, add_memory_to_prompt(engine, live, prompt).await)
            }
            None if is_patch_open(state) => Self {
                asks: Some("patch".to_owned()),
                contract: Some(StepContract::from_contract(manual_patch_contract())),
                packet: Some((*state.document).clone()),
                ..Self::without_request(state)
            },
            None => Self::without_request(state),
        }
    }

    fn for_reply(state: &RunState, reminded: PromptWithMemory) -> Self {
        let PromptWithMemory { prompt, build } = reminded;
        Self {
            build,
            asks: Some("reply".to_owned()),
            contract: Some(StepContract::from_contract(&prompt.contract)),
            action: Some(prompt.action),
            agent: Some(prompt.agent),
            attempt: Some(prompt.attempt),
            model: prompt.model,
            purpose: Some(prompt.purpose.as_str().to_owned()),
            tools: Some(prompt.tools.iter().map(|tool| tool.as_str().to_owned()).collect()),
            packet: Some(prompt.packet),
            system: Some(prompt.system),
            turns: Some(prompt.messages),
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
            closed_gates: state.closed.clone(),
            build: None,
            asks: None,
            action: None,
            agent: None,
            attempt: None,
            model: None,
            purpose: None,
            contract: None,
            tools: None,
            packet: None,
            system: None,
            turns: None,
        }
    }

    /// The same as a person reads it.
    #[must_use]
    pub fn render_text(&self) -> String {
        let Self { run, status, phase, .. } = self;
        let head = format!("run {run} is {status} in phase {phase}\n");
        match (self.asks.as_deref(), &self.contract) {
            (Some("reply"), Some(contract)) => head + &self.render_reply_text(contract),
            (Some(_), Some(contract)) => {
                let mut text = format!("{head}It asks for a patch that opens a way.\n\n");
                for gate in &self.closed_gates {
                    text.push_str(&format!("  → {}: {}\n", gate.to, gate.reason));
                }
                let schema = countersign_core::json::to_canonical_json(&contract.schema);
                let id = &contract.id;
                text + &format!(
                    "\nContract {id}:\n{schema}\n\nHand it in with: countersign submit {run} FILE\n"
                )
            }
            _ if self.waits.is_empty() => format!("{head}It asks for nothing.\n"),
            _ => {
                let mut text = format!("{head}It waits for a person:\n");
                for WaitView { id, kind, question, .. } in &self.waits {
                    text.push_str(&format!("  {run}/{id}  {}  {question}\n", kind.as_str()));
                }
                text
            }
        }
    }

    fn render_reply_text(&self, contract: &StepContract) -> String {
        let mut text = format!(
            "It asks for a reply under contract {} (order {}, try {}).\n\n{}\n",
            contract.id,
            self.action.as_deref().unwrap_or_default(),
            self.attempt.unwrap_or_default(),
            self.system.as_deref().unwrap_or_default(),
        );
        for turn in self.turns.iter().flatten() {
            let who = match turn.role {
                PromptRole::User => "Asked",
                PromptRole::Assistant => "Replied",
            };
            text.push_str(&format!("\n── {who}\n{}\n", turn.text.trim_end()));
        }
        text + &format!("\nHand it in with: countersign submit {} FILE\n", self.run)
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

/// What somebody outside may hand in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedInput {
    /// A reply in a model's place.
    Reply {
        /// To which order.
        action: String,
    },
    /// A patch that opens a way.
    Patch,
}

/// What somebody outside may hand in now; `Empty` where that is nothing.
#[must_use]
pub fn find_expected_input(state: &RunState) -> Option<ExpectedInput> {
    let mut orders = state.pending.iter();
    match orders.find(|(_, order)| matches!(order, PendingAction::Model { .. })) {
        Some((action, _)) => Some(ExpectedInput::Reply { action: action.clone() }),
        None => is_patch_open(state).then_some(ExpectedInput::Patch),
    }
}

/// Whether a change by hand is all that a run asks for. Where somebody is asked for more, that comes first.
fn is_patch_open(state: &RunState) -> bool {
    let by_hand = |kind: WaitKind| matches!(kind, WaitKind::Work | WaitKind::Trouble);
    let idle = state.pending.is_empty() && state.end.is_none();
    idle && !state.closed.is_empty() && state.waits.values().all(|wait| by_hand(wait.kind))
}
