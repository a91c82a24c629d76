//! Doing one order: ask a model, have an effect, use a tool, run a hook.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::json::{MAX_KEPT_DEPTH, nesting};
use countersign_core::protocol::Protocol;
use countersign_core::reply::Finish;
use countersign_core::run::{
    Exchange, HookAnswer, Incoming, ModelReply, Pending, Prompt, Role, State, Usage, prompt, view,
};
use countersign_models::{Answer, Ask, ModelError, Position, Price, cost};
use countersign_store::Blob;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::models::Models;
use crate::effect::{self, EffectError, Journal, Sources, World};
use crate::engine::{Engine, EngineError, Live};
use crate::hook::{self, HookResult};
use crate::tool;
use crate::workspace::Workspace;

/// What orders are done with.
pub struct Hands {
    workspace: Workspace,
    /// The workspace as agents see it: without the engine's own folder and the protocol's.
    shown: Workspace,
    journal: Journal,
    folder: PathBuf,
}

/// What came of an order, and the bytes it speaks of; nothing where somebody else must do it.
pub(super) type Done = Option<(Incoming, Vec<Blob>)>;

impl Hands {
    /// Hands that work in a folder and keep their notes in another.
    #[must_use]
    pub fn new(workspace: Workspace, shown: Workspace, journal: Journal, folder: &Path) -> Self {
        Self { workspace, shown, journal, folder: folder.to_owned() }
    }

    /// Does an order of a run.
    pub(super) async fn perform(
        &self,
        engine: &Engine,
        models: &dyn Models,
        live: &Live,
        action: &str,
        order: &Pending,
    ) -> Result<Done, EngineError> {
        let Live { state, protocol, .. } = live;
        let id = format!("{}/{action}", state.run);
        Ok(match order {
            Pending::Model { .. } => ask(engine, models, protocol, state, action).await,
            Pending::Effect { effect, .. } => {
                let sources = Sources::open(&protocol.policy, &self.folder);
                let world = World {
                    policy: &protocol.policy,
                    workspace: &self.workspace,
                    sources: &sources,
                    journal: &self.journal,
                };
                let result = effect::perform(effect, &id, world).await;
                Some((finished(action, result), Vec::new()))
            }
            Pending::Tool { call } => {
                let (shown, call) = (self.shown.clone(), call.clone());
                let used = tokio::task::spawn_blocking(move || tool::perform(&shown, &call)).await;
                let (ok, output) = match used {
                    Ok(outcome) => (outcome.ok, outcome.output),
                    Err(error) => (false, format!("the tool broke down: {error}")),
                };
                let action = action.to_owned();
                Some((Incoming::ToolFinished { action, ok, output }, Vec::new()))
            }
            Pending::Hook { hook, way } => {
                let answer = self.hook(protocol, state, hook, *way, &id).await;
                let action = action.to_owned();
                Some((Incoming::HookFinished { action, answer }, Vec::new()))
            }
            Pending::Child { .. } | Pending::Tell { .. } => None,
        })
    }

    async fn hook(
        &self,
        protocol: &Protocol,
        state: &State,
        name: &str,
        way: Option<usize>,
        id: &str,
    ) -> HookAnswer {
        let Some(declared) = protocol.hooks.get(name) else {
            return HookAnswer::Abort { reason: format!("no hook `{name}` is declared") };
        };
        let workflow = protocol.workflows.get(&state.workflow);
        let to = way.and_then(|way| workflow?.transitions.get(way)).map(|way| way.to.as_str());
        let context = json!({
            "hook": name,
            "at": if way.is_some() { "exit" } else { "enter" },
            "to": to,
            "state": &*state.document,
            "run": view(state),
        });
        match hook::perform(declared, &context, id, &protocol.policy, &self.workspace).await {
            HookResult::Ok => HookAnswer::Ok,
            HookResult::Abort { reason } => HookAnswer::Abort { reason },
            HookResult::Patch { ops } => HookAnswer::Patch { ops },
            HookResult::Redirect { to } => HookAnswer::Redirect { to },
        }
    }
}

/// Asks the model of the step that is out.
async fn ask(
    engine: &Engine,
    models: &dyn Models,
    protocol: &Protocol,
    state: &State,
    action: &str,
) -> Done {
    let prompt = prompt(protocol, state)?;
    let name = prompt.model.clone()?;
    let model = match models.find(&name) {
        Ok(Some(model)) => model,
        Ok(None) => return None,
        Err(message) => {
            let (action, failure) = (action.to_owned(), "no_model".to_owned());
            let what = Incoming::ModelFailed {
                action,
                failure,
                message,
                retryable: false,
                retry_after: None,
                exchange: None,
            };
            return Some((what, Vec::new()));
        }
    };
    let asked = asked(&prompt, state);
    let (watch, run) = (Arc::clone(engine.watch()), state.run.clone());
    let mut live = move |text: &str| watch.writing(&run, text);
    match model.complete(&asked, &mut live).await {
        Ok(answer) => Some(replied(protocol, &name, action, answer)),
        Err(error) => Some(failed(action, &error)),
    }
}

fn asked(prompt: &Prompt, state: &State) -> Ask {
    let turns = prompt.turns.iter().map(|turn| countersign_models::Turn {
        role: match turn.role {
            Role::User => countersign_models::Role::User,
            Role::Assistant => countersign_models::Role::Assistant,
        },
        text: turn.text.clone(),
    });
    // A reply may ask for tools instead, which the contract alone does not know.
    let contract = prompt.tools.is_empty().then(|| Arc::clone(&prompt.contract));
    let before = |count: u64| count.saturating_sub(1) as usize;
    let under_label = before(state.spent_of(&format!("calls@{}", state.phase)));
    Ask {
        system: prompt.system.clone(),
        turns: turns.collect(),
        contract,
        temperature: prompt.temperature,
        max_tokens: prompt.max_tokens,
        label: Some(prompt.phase.clone()),
        position: Some(Position { in_run: before(state.calls), under_label }),
    }
}

fn replied(protocol: &Protocol, name: &str, action: &str, answer: Answer) -> (Incoming, Vec<Blob>) {
    let usage = answer.usage.unwrap_or_default();
    let price = protocol.policy.prices.get(name).map(|(input, output)| Price {
        input_per_million: *input,
        output_per_million: *output,
        cached_per_million: None,
    });
    let (exchange, blobs) = kept(&answer.exchange);
    let reply = ModelReply {
        action: action.to_owned(),
        text: answer.text,
        finish: answer.finish,
        by: answer.model,
        usage: Usage {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost: price.map_or(0, |price| cost(usage, price)),
        },
        exchange,
    };
    (Incoming::ModelReplied(Box::new(reply)), blobs)
}

fn failed(action: &str, error: &ModelError) -> (Incoming, Vec<Blob>) {
    let (exchange, blobs) = error.exchange.as_deref().map(kept).unwrap_or_default();
    let wait = error.retry_after().map(|wait| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX));
    let what = Incoming::ModelFailed {
        action: action.to_owned(),
        failure: error.kind().to_owned(),
        message: error.to_string(),
        retryable: error.retryable(),
        retry_after: wait,
        exchange,
    };
    (what, blobs)
}

/// The bytes of an exchange as blobs, and what the log says of them.
fn kept(exchange: &countersign_models::Exchange) -> (Option<Exchange>, Vec<Blob>) {
    if exchange.request.is_empty() && exchange.response.is_empty() {
        return (None, Vec::new());
    }
    let blob = |bytes: &[u8]| {
        let digest: String =
            Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Blob { digest, bytes: bytes.to_vec() }
    };
    let (request, response) = (blob(&exchange.request), blob(&exchange.response));
    let told = Exchange { request: request.digest.clone(), response: response.digest.clone() };
    (Some(told), vec![request, response])
}

fn finished(action: &str, result: Result<serde_json::Value, EffectError>) -> Incoming {
    let action = action.to_owned();
    match result {
        Ok(result) if nesting(&result) > MAX_KEPT_DEPTH => Incoming::EffectFailed {
            action,
            failure: "too_deep".to_owned(),
            message: format!("its result nests deeper than {MAX_KEPT_DEPTH} levels"),
            retryable: false,
        },
        Ok(result) => Incoming::EffectFinished { action, result },
        Err(error) => Incoming::EffectFailed {
            action,
            failure: error.kind.as_str().to_owned(),
            message: error.message.clone(),
            retryable: error.retryable,
        },
    }
}

/// A reply that somebody hands in for the model of a step.
#[must_use]
pub fn handed_in(action: &str, text: &str, by: &str) -> Incoming {
    Incoming::ModelReplied(Box::new(ModelReply {
        action: action.to_owned(),
        text: text.to_owned(),
        finish: Finish::Stop,
        by: by.to_owned(),
        usage: Usage::default(),
        exchange: None,
    }))
}
