//! Doing one order: have an effect, use a tool, run a hook. How models are asked stands in `asking`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_core::protocol::Protocol;
use countersign_core::reply::Finish;
use countersign_core::run::{
    Effect, HookAnswer, Incoming, ModelReply, Pending, State, Usage, view,
};
use countersign_store::Blob;
use serde_json::json;

use super::asking::ask;
use super::data::data_folder;
use super::models::Models;
use crate::effect::{self, EffectError, Journal, SourceKinds, Sources, World};
use crate::engine::{Engine, Live};
use crate::hook::{self, HookResult};
use crate::tool;
use crate::trust::{ActionGuard, WantedAction};
use crate::workspace::Workspace;

/// What orders are done with.
pub struct Hands {
    workspace: Workspace,
    guard: ActionGuard,
    journal: Journal,
    folder: PathBuf,
    kinds: Option<Arc<dyn SourceKinds>>,
    /// Where protocols that are not in the folder of work have their data.
    data: Option<PathBuf>,
}

/// Who halts a run that wants what nobody permits.
const GUARD: &str = "trust";

/// What came of an order, and the bytes it speaks of; nothing where somebody else must do it.
pub(super) type Done = Option<(Incoming, Vec<Blob>)>;

impl Hands {
    /// Hands that work in a folder, do what the guard permits, and keep their notes in a journal.
    #[must_use]
    pub fn new(workspace: Workspace, guard: ActionGuard, journal: Journal, folder: &Path) -> Self {
        let workspace = guard.hide_trust_file(workspace);
        let asked = guard.clone();
        let workspace = workspace.with_trusted_commands(Arc::new(move || asked.trusted_commands()));
        Self { workspace, guard, journal, folder: folder.to_owned(), kinds: None, data: None }
    }

    /// The workspace as the runs of a protocol see it.
    pub(super) fn workspace(&self, protocol: &Protocol) -> Workspace {
        self.workspace.with_policy(&protocol.policy)
    }

    /// The same hands, with more kinds of sources to look things up in.
    #[must_use]
    pub fn with_sources(self, kinds: Arc<dyn SourceKinds>) -> Self {
        Self { kinds: Some(kinds), ..self }
    }

    /// The same hands. Where this folder has one named like [`data_folder`] says, the sources of that
    /// protocol read there instead of in the folder of work.
    #[must_use]
    pub fn with_data(self, folder: PathBuf) -> Self {
        Self { data: Some(folder), ..self }
    }

    /// The folder that the sources of a protocol read in.
    fn base(&self, protocol: &Protocol) -> PathBuf {
        let own = self.data.as_ref().map(|data| data.join(data_folder(protocol)));
        own.filter(|own| own.is_dir()).unwrap_or_else(|| self.folder.clone())
    }

    /// Does an order of a run.
    pub(super) async fn perform(
        &self,
        engine: &Engine,
        models: &dyn Models,
        live: &Live,
        action: &str,
        order: &Pending,
    ) -> Done {
        let Live { state, protocol, .. } = live;
        let id = format!("{}/{action}", state.run);
        // What nobody permits is not begun, and no source is opened for it. The order stays out.
        if let Some(wanted) = WantedAction::from_order(protocol, order)
            && let Err(reason) = self.guard.permit(&state.run, protocol, wanted).await
        {
            return Some(refused(reason));
        }
        match order {
            Pending::Model { .. } => ask(engine, models, &self.guard, live, action).await,
            Pending::Effect { effect, .. } => {
                let base = self.base(protocol);
                let sources = match effect {
                    Effect::Retrieve { .. } => {
                        Sources::open_with(&protocol.policy, &base, self.kinds.as_deref())
                    }
                    _ => Sources::default(),
                };
                let world = World {
                    policy: &protocol.policy,
                    workspace: &self.workspace(protocol),
                    sources: &sources,
                    journal: &self.journal,
                };
                let result = effect::perform(effect, &id, world).await;
                Some((finished(action, result), Vec::new()))
            }
            Pending::Tool { call } => {
                let (shown, call) = (self.workspace(protocol), call.clone());
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
        }
    }

    /// Drops the note about an effect whose result the run has, or does not want any more.
    pub(super) async fn forget(&self, run: &str, action: &str, order: &Pending) {
        let noted = |effect: &Effect| matches!(effect, Effect::Run { .. } | Effect::Http { .. });
        if let Pending::Effect { effect, .. } = order
            && noted(effect)
        {
            let (journal, id) = (self.journal.clone(), format!("{run}/{action}"));
            // A note that stays is never read again: its id is not.
            drop(tokio::task::spawn_blocking(move || journal.forget(&id)).await);
        }
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

/// Halts a run whose order nobody permits; it can be resumed when somebody does.
pub(super) fn refused(reason: String) -> (Incoming, Vec<Blob>) {
    (Incoming::Halted { by: GUARD.to_owned(), reason: Some(reason) }, Vec::new())
}

fn finished(action: &str, result: Result<serde_json::Value, EffectError>) -> Incoming {
    let action = action.to_owned();
    match result {
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
        sent: None,
        exchange: None,
        build: None,
        repairs: Vec::new(),
    }))
}
