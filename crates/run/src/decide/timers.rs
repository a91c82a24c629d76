//! Handles the passing of time: deadlines of waits, timeouts of phases and retries of gates.

use countersign_protocol::{FailurePolicy, Protocol};

use super::document_update::ChangeScope;
use super::run_decision::RunDecision;
use super::settle_failure::PhaseFailure;
use crate::apply_event::DEADLINE_ACTOR;
use crate::event::RunEvent;
use crate::state::{Continuation, QuestionItem};
use crate::wait::{WaitKind, WaitResolution};
use crate::{InputRejection, RunState, Timestamp};

/// The earliest time at which a deadline, a timeout or a retry of the run is due; `None` if nothing
/// is scheduled.
#[must_use]
pub fn next_alarm(protocol: &Protocol, state: &RunState) -> Option<Timestamp> {
    list_alarms(protocol, state).min()
}

/// The earliest such time after `now`. A caller uses it when nothing could be done at `now`; other
/// processes handle what was due then.
#[must_use]
pub fn next_alarm_after(
    protocol: &Protocol,
    state: &RunState,
    now: Timestamp,
) -> Option<Timestamp> {
    list_alarms(protocol, state).filter(|at| *at > now).min()
}

fn list_alarms(protocol: &Protocol, state: &RunState) -> impl Iterator<Item = Timestamp> {
    let workflow = protocol.workflows.get(&state.workflow);
    let phase = workflow.and_then(|workflow| workflow.find_phase(&state.phase));
    let timeout = phase.and_then(|phase| phase.timeout.as_ref());
    let still = state.end.is_some() || state.halted.is_some() || state.blocked.is_some();
    let timeout =
        timeout.filter(|_| !still).map(|(after, _)| state.entered_at.plus_millis(after.millis));
    state.alarms().chain(timeout)
}

impl RunDecision<'_> {
    /// Handles the first thing that is due: an expired wait, then an escalation, then a reminder,
    /// then an approval whose subject changed, then the timeout of the phase, then the retry of
    /// gates. Rejects the input if nothing is due.
    pub(super) fn handle_tick(&mut self) -> Result<Option<Continuation>, InputRejection> {
        let now = self.input.time;
        if self.state.halted.is_some() {
            return Err(InputRejection::NothingDue);
        }
        let late = |wait: &&crate::RunWait| wait.deadline.is_some_and(|deadline| deadline <= now);
        if let Some(wait) = self.state.waits.values().find(late).cloned() {
            return Ok(self.expire_wait(&wait));
        }
        let escalates = |wait: &&crate::RunWait| {
            let at = wait.approval.as_ref().and_then(|approval| approval.escalate_at);
            at.is_some_and(|at| at <= now)
        };
        if let Some(wait) = self.state.waits.values().find(escalates) {
            self.emit(RunEvent::WaitEscalated { wait: wait.id.clone() });
            return Ok(None);
        }
        if self.remind_of_deadline() {
            return Ok(None);
        }
        // The end of the decision supersedes it, once the input has the digests of its files.
        let changed =
            |wait: &crate::RunWait| self.has_changed_subject(wait) || !self.knows_shown_files(wait);
        if self.state.waits.values().any(changed) {
            return Ok(None);
        }
        let phase = self.current_phase();
        if let Some((after, handler)) = &phase.timeout
            && self.state.blocked.is_none()
            && self.state.entered_at.plus_millis(after.millis) <= now
        {
            self.drop_waits();
            let message = format!("Phase `{}` took longer than {after}", phase.id);
            let because = format!("it is entered again after its time-out of {after}");
            let next = Continuation::MoveToPhase {
                transition: None,
                to: phase.id.clone(),
                reason: because,
            };
            let failure = PhaseFailure::new("timeout", &message);
            let (then, message) =
                self.settle_failure(handler, &failure, &ChangeScope::default(), message);
            return Ok(self.apply_failure_policy(&then, message, next));
        }
        if self.state.retry_at.is_some_and(|at| at <= now) {
            return Ok(Some(Continuation::ChooseTransition));
        }
        Err(InputRejection::NothingDue)
    }

    /// Closes a wait whose deadline has passed: takes the default answer, or applies the failure
    /// handler of the question.
    fn expire_wait(&mut self, wait: &crate::RunWait) -> Option<Continuation> {
        if wait.kind == WaitKind::Approval {
            let (id, closing) = (wait.id.clone(), WaitResolution::Expired);
            self.emit(RunEvent::WaitClosed { wait: id, resolution: closing });
            if let Some(action) = &wait.action {
                return self.settle_denied_call(action, DEADLINE_ACTOR, None);
            }
            return Some(Continuation::ChooseTransition);
        }
        let question = self.find_question(wait);
        let default = question.and_then(|question| question.default.clone());
        let handler = question.map(|question| question.on_timeout.clone());
        let handler = handler.unwrap_or_else(|| FailurePolicy::Wait.into());
        if let Some(default) = default
            && let Ok(next) = self.accept_answer(wait, &default, DEADLINE_ACTOR)
        {
            return next;
        }
        let (id, closing) = (wait.id.clone(), WaitResolution::Expired);
        self.emit(RunEvent::WaitClosed { wait: id, resolution: closing });
        let message = format!("Nobody answered in time: {}", wait.question);
        let (mut ids, mut items) = match &self.state.continuation {
            Some(Continuation::AskQuestions { ids, items }) => (ids.clone(), items.clone()),
            _ => (Vec::new(), Vec::new()),
        };
        match (wait.definition_id.clone(), wait.item.clone()) {
            (Some(question), Some(item)) => items.push(QuestionItem { question, item }),
            _ => ids.push(wait.name.clone()),
        }
        let failure = PhaseFailure::new("deadline", &message);
        let scope = ChangeScope { item: wait.item.clone(), ..ChangeScope::default() };
        let (then, message) = self.settle_failure(&handler, &failure, &scope, message);
        self.apply_failure_policy(&then, message, Continuation::AskQuestions { ids, items })
    }
}
