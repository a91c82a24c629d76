//! Tools: an agent asks for files, gets them, and is asked again. Bounded, and every call is recorded.

use std::sync::LazyLock;

use super::deciding::Deciding;
use crate::contract::{Contract, load_inline};
use crate::protocol::AgentWork;
use crate::reply::{Code, Context, Finish, Verdict, Violation};
use crate::run::event::Event;
use crate::run::order::ToolCall;
use crate::run::state::Next;

static CALLS: LazyLock<Contract> =
    LazyLock::new(|| load_inline(include_str!("tool_calls.yaml")).expect("our own contract loads"));

/// The contract of a reply that asks for tools.
#[must_use]
pub fn tool_calls() -> &'static Contract {
    &CALLS
}

impl Deciding<'_> {
    /// The calls a reply asks for; `None` where it is no such reply.
    pub(super) fn tool_calls(
        &self,
        work: &AgentWork,
        text: &str,
        finish: Finish,
    ) -> Option<Result<Vec<ToolCall>, Vec<Violation>>> {
        let agent = &work.agent;
        if agent.tools.is_empty() || !text.contains("\"tool_calls\"") {
            return None;
        }
        let accepted = match CALLS.admit(text, finish, &Context::default()) {
            Verdict::Refused(violations) => {
                // The reply itself may have a field of that name.
                let run = self.run();
                let context =
                    Context { state: Some(&self.state.document), run: Some(&run), new: None };
                let reply = work.contract.admit(text, finish, &context);
                return reply.accepted().is_none().then_some(Err(violations));
            }
            Verdict::Accepted(accepted) => accepted.into_value(),
        };
        let calls: Result<Vec<ToolCall>, _> =
            serde_json::from_value(accepted["tool_calls"].clone());
        let calls = calls.expect("the contract lets nothing else in");
        let allowed: Vec<&str> = agent.tools.iter().map(|tool| tool.as_str()).collect();
        let mut violations = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            if !allowed.contains(&call.name()) {
                let at = format!("/tool_calls/{index}/tool");
                let expected = format!("one of {}", allowed.join(", "));
                let found = format!("`{}`", call.name());
                violations.push(Violation::new(Code::NotAuthorized, at, expected, found));
            }
        }
        Some(if violations.is_empty() { Ok(calls) } else { Err(violations) })
    }

    /// Orders the tools, unless there were too many rounds.
    pub(super) fn ask_tools(&mut self, calls: Vec<ToolCall>) {
        let rounds = self.state.step.as_ref().map_or(0, |step| step.tool_rounds);
        if !self.within_tool_rounds(rounds, &Next::Tools { calls: calls.clone() }) {
            return;
        }
        for call in calls {
            let action = self.order();
            self.emit(Event::ToolAsked { action, call });
        }
    }

    /// A tool was used. When all of the round were, the model goes on.
    pub(super) fn tool_finished(&mut self, action: &str, ok: bool) {
        self.emit(Event::ToolUsed { action: action.to_owned(), ok });
        let step = self.state.step.as_ref();
        if step.is_some_and(|step| step.tools.iter().all(|used| used.outcome.is_some())) {
            self.ask_model_on();
        }
    }
}
