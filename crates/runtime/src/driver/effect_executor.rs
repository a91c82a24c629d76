//! Performs a single action: an effect, a tool call, or a hook. Model calls are in
//! `ask_step_model`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_contract::reply::FinishReason;
use countersign_protocol::{McpServerDefinition, Protocol};
use countersign_run::{
    EffectCall, HookAnswer, InputKind, McpToolDefinition, ModelReply, PendingAction, ReplyUsage,
    RunState, ToolCall, build_run_value,
};
use countersign_store::Blob;
use serde_json::{Value, json};

use super::ask_step_model::ask_step_model;
use super::data_folder::data_folder_name;
use super::model_resolver::ModelResolver;
use crate::effect::{
    self, EffectContext, EffectError, EffectErrorKind, EffectJournal, RetrieverFactory,
    RetrieverRegistry,
};
use crate::engine::{Engine, LiveRun};
use crate::hook::{self, HookResult};
use crate::mcp::{McpConnection, McpConnectionPool, describe_call_result, find_tool_changes};
use crate::tool::{self, ToolOutcome};
use crate::trust::{ActionGuard, WantedAction};
use crate::workspace::Workspace;

/// The resources that actions need: workspace, guard, journal, and retrievers.
pub struct EffectExecutor {
    workspace: Workspace,
    guard: ActionGuard,
    journal: EffectJournal,
    folder: PathBuf,
    retriever_factory: Option<Arc<dyn RetrieverFactory>>,
    /// Open connections to MCP servers.
    mcp: McpConnectionPool,
    /// Folder with the data of protocols whose data is not in the working folder.
    data_folder: Option<PathBuf>,
}

/// The actor recorded when a run is halted because an action is not permitted.
const HALTED_BY: &str = "trust";

/// The result of an action and the bytes it refers to; `None` if another party must perform it.
pub(super) type PerformedAction = Option<(InputKind, Vec<Blob>)>;

impl EffectExecutor {
    /// Creates an executor that works in `folder`, performs what the guard permits, and records
    /// effects in a journal.
    #[must_use]
    pub fn new(
        workspace: Workspace,
        guard: ActionGuard,
        journal: EffectJournal,
        folder: &Path,
    ) -> Self {
        let workspace = guard.hide_trust_file(workspace);
        let asked = guard.clone();
        let workspace = workspace.with_trusted_commands(Arc::new(move || asked.trusted_commands()));
        Self {
            workspace,
            guard,
            journal,
            folder: folder.to_owned(),
            retriever_factory: None,
            mcp: McpConnectionPool::default(),
            data_folder: None,
        }
    }

    /// Returns the workspace as a run sees it: with the restrictions of the protocol's policy, and
    /// without the documents of other runs.
    pub(super) fn workspace_for(&self, protocol: &Protocol, run: &RunState) -> Workspace {
        self.workspace.with_policy(&protocol.policy).with_run(run)
    }

    /// Adds a factory for further kinds of retrieval sources.
    #[must_use]
    pub fn with_retriever_factory(self, kinds: Arc<dyn RetrieverFactory>) -> Self {
        Self { retriever_factory: Some(kinds), ..self }
    }

    /// Sets a folder of protocol data. If it has a subfolder with the name that
    /// [`data_folder_name`] returns, the sources of that protocol read there instead of in the
    /// working folder.
    #[must_use]
    pub fn with_data_folder(self, folder: PathBuf) -> Self {
        Self { data_folder: Some(folder), ..self }
    }

    /// Returns the folder that the sources of a protocol read from.
    fn find_source_folder(&self, protocol: &Protocol) -> PathBuf {
        let own = self.data_folder.as_ref().map(|data| data.join(data_folder_name(protocol)));
        own.filter(|own| own.is_dir()).unwrap_or_else(|| self.folder.clone())
    }

    /// Performs an action of a run.
    pub(super) async fn execute_action(
        &self,
        engine: &Engine,
        models: &dyn ModelResolver,
        live: &LiveRun,
        action: &str,
        order: &PendingAction,
    ) -> PerformedAction {
        let LiveRun { state, protocol, .. } = live;
        let id = format!("{}/{action}", state.run);
        // An action that is not permitted is not started, and no source is opened for it. It stays
        // pending.
        if let Some(wanted) = WantedAction::from_action(protocol, order)
            && let Err(reason) = self.guard.permit(&state.run, protocol, wanted).await
        {
            return Some(build_halt_input(reason));
        }
        // What is executed is compared with what was approved once more.
        if !state.check_call_approved(action) {
            let reason = format!("action `{action}` is not the call that was approved");
            return Some(build_halt_input(reason));
        }
        match order {
            PendingAction::Model { .. } => {
                ask_step_model(engine, models, &self.guard, live, action).await
            }
            PendingAction::Effect { effect, .. } => {
                let base = self.find_source_folder(protocol);
                let sources = match effect {
                    EffectCall::Retrieve { .. } => RetrieverRegistry::open_with_factory(
                        &protocol.policy,
                        &base,
                        self.retriever_factory.as_deref(),
                    ),
                    _ => RetrieverRegistry::default(),
                };
                let world = EffectContext {
                    policy: &protocol.policy,
                    workspace: &self.workspace_for(protocol, state),
                    sources: &sources,
                    journal: &self.journal,
                };
                let result = effect::perform_effect(effect, &id, world).await;
                Some((build_effect_input(action, result), Vec::new()))
            }
            PendingAction::ListMcpTools { server, .. } => {
                let listed = Box::pin(self.list_mcp_tools(engine, live, server, action)).await;
                Some((listed, Vec::new()))
            }
            PendingAction::Tool { call: ToolCall::Mcp { server, name, arguments } } => {
                let done = Box::pin(self.call_mcp_tool(live, server, name, arguments, &id)).await;
                let (ok, output) = match done {
                    Ok(outcome) => (outcome.ok, outcome.output),
                    Err(error) => (false, error.message),
                };
                let action = action.to_owned();
                Some((InputKind::ToolFinished { action, ok, output }, Vec::new()))
            }
            PendingAction::Tool { call: ToolCall::Skill { name } } => {
                let skill = protocol.skills.get(name);
                let output = skill.map_or_else(
                    || format!("the protocol has no skill `{name}`"),
                    |skill| skill.text.clone(),
                );
                let (action, ok) = (action.to_owned(), skill.is_some());
                Some((InputKind::ToolFinished { action, ok, output }, Vec::new()))
            }
            PendingAction::Tool { call } => {
                let (shown, call) = (self.workspace_for(protocol, state), call.clone());
                let used =
                    tokio::task::spawn_blocking(move || tool::perform_tool_call(&shown, &call))
                        .await;
                let (ok, output) = match used {
                    Ok(outcome) => (outcome.ok, outcome.output),
                    Err(error) => (false, format!("the tool crashed: {error}")),
                };
                let action = action.to_owned();
                Some((InputKind::ToolFinished { action, ok, output }, Vec::new()))
            }
            PendingAction::Hook { hook, transition: way } => {
                let answer = self.run_hook(protocol, state, hook, *way, &id).await;
                let action = action.to_owned();
                Some((InputKind::HookFinished { action, answer }, Vec::new()))
            }
            // The driver performs these itself.
            PendingAction::Child { .. }
            | PendingAction::Notify { .. }
            | PendingAction::Delivery { .. } => None,
        }
    }

    /// Removes the journal entry of an effect whose result the run has, or no longer needs.
    pub(super) async fn forget_effect(&self, run: &str, action: &str, order: &PendingAction) {
        let noted = |effect: &EffectCall| match effect {
            EffectCall::Run { .. } | EffectCall::Http { .. } => true,
            EffectCall::Write { .. } | EffectCall::Copy { .. } | EffectCall::Retrieve { .. } => {
                false
            }
        };
        if let PendingAction::Effect { effect, .. } = order
            && noted(effect)
        {
            let (journal, id) = (self.journal.clone(), format!("{run}/{action}"));
            // A remaining entry is never read again, because action ids are not reused.
            drop(tokio::task::spawn_blocking(move || journal.remove_entry(&id)).await);
        }
    }

    /// Lists the tools of an MCP server, and compares them with those of the last run.
    async fn list_mcp_tools(
        &self,
        engine: &Engine,
        live: &LiveRun,
        server: &str,
        action: &str,
    ) -> InputKind {
        let (run, action) = (&live.state.run, action.to_owned());
        let listed = match find_server(&live.protocol, server) {
            Err(error) => Err(error),
            Ok(definition) => {
                let folder = self.workspace.path();
                let list = async |connection: &mut McpConnection| {
                    connection.list_tools().await.map(<[McpToolDefinition]>::to_vec)
                };
                self.mcp.with_connection(run, server, definition, folder, list).await
            }
        };
        match listed {
            Ok(tools) => {
                let changes = find_tool_changes(engine, live, server, &tools).await;
                InputKind::McpToolsListed { action, tools, changes }
            }
            Err(EffectError { kind, message, retryable, .. }) => {
                let failure = kind.as_str().to_owned();
                InputKind::McpToolsUnavailable { action, failure, message, retryable }
            }
        }
    }

    /// Calls a tool of an MCP server. `id` is the same each time the call is repeated after a
    /// crash.
    async fn call_mcp_tool(
        &self,
        live: &LiveRun,
        server: &str,
        name: &str,
        arguments: &Value,
        id: &str,
    ) -> Result<ToolOutcome, EffectError> {
        let definition = find_server(&live.protocol, server)?;
        let pinned = live.state.mcp_tools.get(server).and_then(|pinned| pinned.find_tool(name));
        let pinned = pinned.ok_or_else(|| {
            let message = format!("the run has not listed a tool `{server}.{name}`");
            EffectError::new_permanent(EffectErrorKind::NotAllowed, message)
        })?;
        let call = async |connection: &mut McpConnection| {
            connection.call_tool(pinned, arguments, id).await
        };
        let folder = self.workspace.path();
        let run = &live.state.run;
        let result = self.mcp.with_connection(run, server, definition, folder, call).await?;
        Ok(describe_call_result(&result))
    }

    /// Closes the connections that the run used. Servers that are programs end.
    pub(super) fn close_connections(&self, run: &str) {
        self.mcp.close_run(run);
    }

    async fn run_hook(
        &self,
        protocol: &Protocol,
        state: &RunState,
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
            "hook_point": if way.is_some() { "exit" } else { "enter" },
            "to": to,
            "state": &*state.document,
            "run": build_run_value(state),
        });
        match hook::run_hook(declared, &context, id, &protocol.policy, &self.workspace).await {
            HookResult::Ok => HookAnswer::Ok,
            HookResult::Abort { reason } => HookAnswer::Abort { reason },
            HookResult::Patch { ops } => HookAnswer::Patch { ops },
            HookResult::Redirect { to } => HookAnswer::Redirect { to },
        }
    }
}

fn find_server<'p>(
    protocol: &'p Protocol,
    server: &str,
) -> Result<&'p McpServerDefinition, EffectError> {
    protocol.policy.mcp.get(server).ok_or_else(|| {
        let message = format!("the policy declares no MCP server `{server}`");
        EffectError::new_permanent(EffectErrorKind::NotAllowed, message)
    })
}

/// Returns the input that halts a run whose action is not permitted. The run can be resumed after
/// the permission is granted.
pub(super) fn build_halt_input(reason: String) -> (InputKind, Vec<Blob>) {
    (InputKind::Halted { by: HALTED_BY.to_owned(), reason: Some(reason) }, Vec::new())
}

fn build_effect_input(action: &str, result: Result<serde_json::Value, EffectError>) -> InputKind {
    let action = action.to_owned();
    match result {
        Ok(result) => InputKind::EffectFinished { action, result },
        Err(error) => InputKind::EffectFailed {
            action,
            failure: error.kind.as_str().to_owned(),
            message: error.message.clone(),
            retryable: error.retryable,
        },
    }
}

/// Returns the input for a reply that a person submits in place of the model of a step.
#[must_use]
pub fn build_manual_reply(action: &str, text: &str, by: &str) -> InputKind {
    InputKind::ModelReplied(Box::new(ModelReply {
        action: action.to_owned(),
        text: text.to_owned(),
        finish: FinishReason::Stop,
        by: by.to_owned(),
        usage: ReplyUsage::default(),
        response_format: None,
        exchange: None,
        packet_build: None,
        repairs: Vec::new(),
    }))
}
