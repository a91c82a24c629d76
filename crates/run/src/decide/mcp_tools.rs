//! Tools of MCP servers: the run requests the list of a server before the first prompt that offers
//! its tools, pins what it may use, and checks every call against the pinned schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_contract::contract::Schema;
use countersign_contract::json::measure_json;
use countersign_contract::limits::{
    MAX_MCP_TOOL_LIST_BYTES, MAX_MCP_TOOL_NAME_CHARS, MAX_MCP_TOOLS,
};
use countersign_contract::reply::{Violation, ViolationCode};
use countersign_protocol::{FailurePolicy, McpServerDefinition, ResolvedAgent};
use serde_json::Value;

use super::run_decision::RunDecision;
use super::size_limits::clip_text;
use crate::RunState;
use crate::event::RunEvent;
use crate::mcp_tools::{
    McpToolChanges, McpToolDefinition, PinnedMcpTools, UnusableMcpTool, format_tool_names,
};
use crate::pending_action::PendingAction;
use crate::state::Continuation;

/// How often the tools of a server are listed before a person must help.
const MAX_LIST_ATTEMPTS: u32 = 3;

/// Delay before the second attempt, in milliseconds; each further one takes four times as long.
const LIST_RETRY_MILLIS: i64 = 1_000;

/// The tools that a run can use of a list, and those that it cannot.
type SortedTools = (Vec<McpToolDefinition>, Vec<UnusableMcpTool>);

impl RunDecision<'_> {
    /// Requests the tool lists that an agent needs and that the run has not pinned. Returns whether
    /// the model call must wait for them.
    pub(super) fn request_missing_tool_lists(&mut self, agent: &ResolvedAgent) -> bool {
        let servers: BTreeSet<&String> =
            agent.mcp_tools.iter().map(|selector| &selector.server).collect();
        let missing = servers.into_iter().filter(|name| !self.state.mcp_tools.contains_key(*name));
        let missing: Vec<String> = missing.cloned().collect();
        for server in &missing {
            let is_requested = self.state.pending.values().any(
                |one| matches!(one, PendingAction::ListMcpTools { server: named, .. } if named == server),
            );
            if !is_requested {
                let (action, attempt, not_before) = (self.next_action_id(), 1, None);
                let server = server.clone();
                self.emit(RunEvent::McpToolsRequested { action, server, attempt, not_before });
            }
        }
        !missing.is_empty()
    }

    /// Pins the listed tools of a server. After the last list, the model is called.
    pub(super) fn handle_mcp_tools_listed(
        &mut self,
        before: &RunState,
        action: &str,
        tools: &[McpToolDefinition],
        changes: Option<&McpToolChanges>,
    ) -> Option<Continuation> {
        let Some(PendingAction::ListMcpTools { server, .. }) = before.pending.get(action) else {
            return None;
        };
        match self.sort_listed_tools(server, tools) {
            Ok((tools, unusable)) => {
                let changes = changes.and_then(|changes| changes.without_added(&unusable));
                self.emit(RunEvent::McpToolsPinned {
                    action: action.to_owned(),
                    server: server.clone(),
                    pinned: Arc::new(PinnedMcpTools::new(tools)),
                    unusable,
                    changes,
                });
                let is_list =
                    |one: &PendingAction| matches!(one, PendingAction::ListMcpTools { .. });
                let is_waiting = self.state.pending.values().any(is_list);
                (!is_waiting).then(|| self.next_model_call())
            }
            Err(message) => {
                self.handle_mcp_tools_unavailable(before, action, "invalid", &message, false)
            }
        }
    }

    /// Handles a tool list that could not be obtained: requests it again, or waits for a person.
    pub(super) fn handle_mcp_tools_unavailable(
        &mut self,
        before: &RunState,
        action: &str,
        failure: &str,
        message: &str,
        retryable: bool,
    ) -> Option<Continuation> {
        let Some(PendingAction::ListMcpTools { server, attempt, .. }) = before.pending.get(action)
        else {
            return None;
        };
        let (failure, message) = (clip_text(failure), clip_text(message));
        let what = format!("The tools of MCP server `{server}` cannot be listed: {message}");
        self.emit(RunEvent::McpToolsUnavailable {
            action: action.to_owned(),
            server: server.clone(),
            failure,
            message,
        });
        if retryable && *attempt < MAX_LIST_ATTEMPTS {
            let delay = LIST_RETRY_MILLIS << (2 * attempt.saturating_sub(1)).min(8);
            let not_before = Some(self.input.time.plus_millis(delay));
            let (action, attempt) = (self.next_action_id(), attempt + 1);
            let server = server.clone();
            self.emit(RunEvent::McpToolsRequested { action, server, attempt, not_before });
            return None;
        }
        let next = self.next_model_call();
        self.apply_failure_policy(&FailurePolicy::Wait, what, next)
    }

    fn next_model_call(&self) -> Continuation {
        let attempt = self.state.step.as_ref().map_or(1, |step| step.attempt.max(1));
        Continuation::RequestModel { attempt }
    }

    /// Sorts the tools of a list into those that agents can use and those that they cannot. Fails if
    /// the list exceeds a limit or lacks a tool that the protocol names.
    fn sort_listed_tools(
        &self,
        server: &str,
        listed: &[McpToolDefinition],
    ) -> Result<SortedTools, String> {
        let Some(declared) = self.protocol.policy.mcp.get(server) else {
            return Err("the policy does not declare the server".to_owned());
        };
        let allowed = listed.iter().filter(|tool| declared.allows_tool(&tool.name));
        let mut by_name: BTreeMap<&str, &McpToolDefinition> = BTreeMap::new();
        for tool in allowed {
            if by_name.insert(&tool.name, tool).is_some() {
                return Err(format!("it lists {} twice", quote_name(&tool.name)));
            }
        }
        if by_name.len() > MAX_MCP_TOOLS {
            return Err(format!(
                "it lists {} tools, and the limit is {MAX_MCP_TOOLS}; name the needed ones under `tools` in the policy",
                by_name.len()
            ));
        }
        let bytes: usize = by_name.values().map(|tool| measure_json(tool).bytes).sum();
        if bytes > MAX_MCP_TOOL_LIST_BYTES {
            return Err(format!(
                "its tools have {bytes} bytes, and the limit is {MAX_MCP_TOOL_LIST_BYTES}; name the needed ones under `tools` in the policy"
            ));
        }
        let (mut tools, mut unusable) = (Vec::new(), Vec::new());
        for tool in by_name.into_values() {
            match check_tool(tool) {
                Ok(()) => tools.push(tool.clone()),
                Err(reason) => unusable.push(UnusableMcpTool {
                    name: clip_text(&tool.name),
                    reason: clip_text(reason),
                }),
            }
        }
        self.check_named_tools(server, declared, &tools, &unusable)?;
        Ok((tools, unusable))
    }

    /// Checks that the list has every tool that the policy or an agent names.
    fn check_named_tools(
        &self,
        server: &str,
        declared: &McpServerDefinition,
        tools: &[McpToolDefinition],
        unusable: &[UnusableMcpTool],
    ) -> Result<(), String> {
        let selectors = self.protocol.agents.values().flat_map(|agent| &agent.mcp_tools);
        let by_agents = selectors
            .filter(|selector| selector.server == server)
            .filter_map(|selector| selector.tool.as_ref());
        for name in declared.tools.iter().flatten().chain(by_agents) {
            if tools.iter().any(|tool| tool.name == *name) {
                continue;
            }
            if let Some(found) = unusable.iter().find(|tool| tool.name == *name) {
                return Err(format!("its tool `{name}` cannot be used: {}", found.reason));
            }
            let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
            let names = if names.is_empty() { "none".into() } else { format_tool_names(&names) };
            return Err(format!(
                "it does not list `{name}`, which the protocol names; usable tools: {names}"
            ));
        }
        Ok(())
    }

    /// Names of the MCP tools that an agent may use in this run, as `SERVER.TOOL`.
    pub(super) fn list_mcp_tool_names(&self, agent: &ResolvedAgent) -> Vec<String> {
        self.state
            .list_mcp_tools(agent)
            .map(|(server, tool)| format!("{server}.{}", tool.name))
            .collect()
    }

    /// Checks the arguments of a call against the pinned schema. The agent may use the tool.
    pub(super) fn check_mcp_arguments(
        &self,
        server: &str,
        name: &str,
        arguments: &Value,
        pointer: &str,
    ) -> Vec<Violation> {
        let tool = self.state.mcp_tools.get(server).and_then(|pinned| pinned.find_tool(name));
        let schema = tool.and_then(|tool| Schema::compile(tool.input_schema.clone()).ok());
        let Some(schema) = schema else {
            let expected = format!("a tool that MCP server `{server}` lists");
            let found = quote_name(name);
            return vec![Violation::new(ViolationCode::NotAuthorized, pointer, expected, found)];
        };
        let violations = schema.list_violations(arguments).into_iter();
        violations.map(|violation| violation.with_pointer_prefix(pointer)).collect()
    }
}

impl RunState {
    /// The pinned MCP tools that an agent may use, with their servers, sorted by name.
    pub fn list_mcp_tools<'s>(
        &'s self,
        agent: &'s ResolvedAgent,
    ) -> impl Iterator<Item = (&'s str, &'s McpToolDefinition)> {
        let all = self.mcp_tools.iter().flat_map(|(server, pinned)| {
            pinned.tools.iter().map(move |tool| (server.as_str(), tool))
        });
        all.filter(|(server, tool)| {
            agent.mcp_tools.iter().any(|selector| selector.selects(server, &tool.name))
        })
    }
}

/// Checks that a tool can be named in a call, and that its schema can be enforced.
fn check_tool(tool: &McpToolDefinition) -> Result<(), String> {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "_-./".contains(one);
    if tool.name.is_empty() || !tool.name.chars().all(is_plain) {
        return Err("its name has other characters than letters, digits and `_-./`".to_owned());
    }
    if tool.name.len() > MAX_MCP_TOOL_NAME_CHARS {
        return Err(format!("its name is longer than {MAX_MCP_TOOL_NAME_CHARS} characters"));
    }
    if !tool.input_schema.is_object() {
        return Err("its input schema is not an object".to_owned());
    }
    Schema::compile(tool.input_schema.clone())
        .map(drop)
        .map_err(|error| format!("its input schema cannot be enforced: {error}"))
}

fn quote_name(name: &str) -> String {
    let short: String = name.chars().take(MAX_MCP_TOOL_NAME_CHARS).collect();
    format!("`{}`", short.escape_debug())
}
