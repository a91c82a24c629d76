//! Tool calls of a model: the reply requests files, the run executes the calls, and the model
//! continues its step with the results. A budget limits the rounds, and every call is recorded.

use std::ops::ControlFlow::Break;
use std::sync::LazyLock;

use countersign_contract::contract::{Contract, load_inline_contract};
use countersign_contract::find_similar_name;
use countersign_contract::limits::MAX_LISTED_NAMES;
use countersign_contract::reply::{
    AdmissionVerdict, FinishReason, RuleContext, Violation, ViolationCode,
};
use countersign_protocol::AgentWork;

use super::run_decision::RunDecision;
use crate::effect_call::{SKILL_TOOL, ToolCall};
use crate::event::RunEvent;
use crate::state::Continuation;

static TOOL_CALLS: LazyLock<Contract> = LazyLock::new(|| {
    load_inline_contract(include_str!("tool_calls.yaml")).expect("the built-in contract loads")
});

static MCP_TOOL_CALLS: LazyLock<Contract> = LazyLock::new(|| {
    load_inline_contract(include_str!("mcp_tool_calls.yaml")).expect("the built-in contract loads")
});

/// The contract of a reply that requests tools instead of completing the step.
#[must_use]
pub fn tool_calls_contract() -> &'static Contract {
    &TOOL_CALLS
}

/// The contract of a reply that requests tools, for an agent that may use tools of MCP servers.
#[must_use]
pub fn mcp_tool_calls_contract() -> &'static Contract {
    &MCP_TOOL_CALLS
}

impl RunDecision<'_> {
    /// Parses the tool calls that a reply requests; `None` if it requests none.
    pub(super) fn parse_tool_calls(
        &self,
        work: &AgentWork,
        text: &str,
        finish: FinishReason,
    ) -> Option<Result<Vec<ToolCall>, Vec<Violation>>> {
        let agent = &work.agent;
        let has_mcp = !agent.mcp_tools.is_empty();
        let has_skills = agent.list_readable_skills().next().is_some();
        if (agent.tools.is_empty() && !has_mcp && !has_skills) || !text.contains("\"tool_calls\"") {
            return None;
        }
        let contract = if has_mcp { &MCP_TOOL_CALLS } else { &TOOL_CALLS };
        let accepted = match contract.admit(text, finish, &RuleContext::default()) {
            AdmissionVerdict::Refused(violations) => {
                // The contract of the phase may have a field of that name.
                let run = self.run_value();
                let context =
                    RuleContext { state: Some(&self.state.document), run: Some(&run), new: None };
                let reply = work.contract.admit(text, finish, &context);
                return reply.as_accepted().is_none().then_some(Err(violations));
            }
            AdmissionVerdict::Accepted(accepted) => accepted.into_value(),
        };
        let calls = accepted["tool_calls"].as_array().into_iter().flatten();
        let calls: Option<Vec<ToolCall>> = calls.map(ToolCall::from_model_value).collect();
        let calls = calls.expect("the contract accepts only tool calls");
        let own = agent.tools.iter().map(|tool| tool.as_str().to_owned());
        let skill = has_skills.then(|| SKILL_TOOL.to_owned());
        let allowed: Vec<String> =
            own.chain(skill).chain(self.list_mcp_tool_names(agent)).collect();
        let mut violations = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            let name = call.name();
            if !allowed.iter().any(|one| *one == name) {
                let at = format!("/tool_calls/{index}/tool");
                violations.push(refuse_tool(at, &name, &allowed));
            } else if let ToolCall::Skill { name } = call {
                if agent.find_skill(name).is_none() {
                    let skills: Vec<String> =
                        agent.list_readable_skills().map(str::to_owned).collect();
                    violations.push(refuse_tool(
                        format!("/tool_calls/{index}/name"),
                        name,
                        &skills,
                    ));
                }
            } else if let ToolCall::Mcp { server, name, arguments } = call {
                let at = format!("/tool_calls/{index}/arguments");
                violations.extend(self.check_mcp_arguments(server, name, arguments, &at));
            }
        }
        Some(if violations.is_empty() { Ok(calls) } else { Err(violations) })
    }

    /// Requests the tools, unless the budget of tool rounds is spent.
    pub(super) fn request_tools(&mut self, calls: Vec<ToolCall>) -> Option<Continuation> {
        let rounds = self.state.step.as_ref().map_or(0, |step| step.tool_rounds);
        let again = Continuation::RequestTools { calls: calls.clone() };
        if let Break(instead) = self.check_tool_round_budget(rounds, &again) {
            return instead;
        }
        for call in calls {
            let action = self.next_action_id();
            let held = action.clone();
            self.emit(RunEvent::ToolRequested { action, call });
            self.hold_call_if_needed(&held);
        }
        None
    }

    /// Handles a finished tool call. After the last call of the round, the model continues.
    pub(super) fn handle_tool_finished(&mut self, action: &str, ok: bool) -> Option<Continuation> {
        self.emit(RunEvent::ToolFinished { action: action.to_owned(), ok });
        self.continue_after_tools()
    }

    /// Continues the model step if every call of the round has a result.
    pub(super) fn continue_after_tools(&mut self) -> Option<Continuation> {
        let step = self.state.step.as_ref();
        if step.is_some_and(|step| step.tools.iter().all(|used| used.outcome.is_some())) {
            return self.continue_model_step();
        }
        None
    }
}

/// Refuses a call of a tool that the agent may not use.
fn refuse_tool(pointer: String, name: &str, allowed: &[String]) -> Violation {
    let shown = &allowed[..allowed.len().min(MAX_LISTED_NAMES)];
    let more = allowed.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let expected = format!("one of {}{more}", shown.join(", "));
    let violation =
        Violation::new(ViolationCode::NotAuthorized, pointer, expected, format!("`{name}`"));
    match find_similar_name(name, allowed.iter().map(String::as_str)) {
        Some(near) if name.contains('.') => violation.with_hint(format!("did you mean `{near}`?")),
        _ => violation,
    }
}
