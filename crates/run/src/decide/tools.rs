//! Tool calls of a model: the reply requests files, the run executes the calls, and the model
//! continues its step with the results. A budget limits the rounds, and every call is recorded.

use std::ops::ControlFlow::Break;
use std::sync::LazyLock;

use countersign_contract::contract::{Contract, load_inline_contract};
use countersign_contract::reply::{
    AdmissionVerdict, FinishReason, RuleContext, Violation, ViolationCode,
};
use countersign_protocol::AgentWork;

use super::run_decision::RunDecision;
use crate::effect_call::ToolCall;
use crate::event::RunEvent;
use crate::state::Continuation;

static TOOL_CALLS: LazyLock<Contract> = LazyLock::new(|| {
    load_inline_contract(include_str!("tool_calls.yaml")).expect("the built-in contract loads")
});

/// The contract of a reply that requests tools instead of completing the step.
#[must_use]
pub fn tool_calls_contract() -> &'static Contract {
    &TOOL_CALLS
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
        if agent.tools.is_empty() || !text.contains("\"tool_calls\"") {
            return None;
        }
        let accepted = match TOOL_CALLS.admit(text, finish, &RuleContext::default()) {
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
        let calls: Result<Vec<ToolCall>, _> =
            serde_json::from_value(accepted["tool_calls"].clone());
        let calls = calls.expect("the contract accepts only tool calls");
        let allowed: Vec<&str> = agent.tools.iter().map(|tool| tool.as_str()).collect();
        let mut violations = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            if !allowed.contains(&call.name()) {
                let at = format!("/tool_calls/{index}/tool");
                let expected = format!("one of {}", allowed.join(", "));
                let found = format!("`{}`", call.name());
                violations.push(Violation::new(ViolationCode::NotAuthorized, at, expected, found));
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
