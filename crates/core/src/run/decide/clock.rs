//! Time went by: deadlines, time-outs, gates that are asked again.

use super::deciding::Deciding;
use super::outcomes::Failure;
use super::writing::Beside;
use crate::protocol::{Otherwise, Protocol};
use crate::run::apply::DEADLINE;
use crate::run::event::Event;
use crate::run::state::{Next, OfEach};
use crate::run::wait::{Closing, WaitKind};
use crate::run::{Rejection, State, Time};

/// The next moment at which something happens by itself.
#[must_use]
pub fn next_alarm(protocol: &Protocol, state: &State) -> Option<Time> {
    alarms(protocol, state).min()
}

/// The next such moment after one at which nothing could be done: what was due then is left to others.
#[must_use]
pub fn next_alarm_after(protocol: &Protocol, state: &State, now: Time) -> Option<Time> {
    alarms(protocol, state).filter(|at| *at > now).min()
}

fn alarms(protocol: &Protocol, state: &State) -> impl Iterator<Item = Time> {
    let workflow = protocol.workflows.get(&state.workflow);
    let phase = workflow.and_then(|workflow| workflow.phase(&state.phase));
    let timeout = phase.and_then(|phase| phase.timeout.as_ref());
    let still = state.end.is_some() || state.halted.is_some() || state.blocked.is_some();
    let timeout = timeout.filter(|_| !still).map(|(after, _)| state.entered_at.after(after.millis));
    state.alarms().chain(timeout)
}

impl Deciding<'_> {
    /// Whatever is due happens now; the first thing that moves the run ends it.
    pub(super) fn ticked(&mut self) -> Result<(), Rejection> {
        let now = self.input.time;
        if self.state.halted.is_some() {
            return Err(Rejection::NothingDue);
        }
        let late = |wait: &&crate::run::Wait| wait.deadline.is_some_and(|deadline| deadline <= now);
        if let Some(wait) = self.state.waits.values().find(late).cloned() {
            self.expire(&wait);
            return Ok(());
        }
        let phase = self.phase();
        if let Some((after, otherwise)) = &phase.timeout
            && self.state.blocked.is_none()
            && self.state.entered_at.after(after.millis) <= now
        {
            self.drop_waits();
            let what = format!("Phase `{}` took longer than {after}", phase.id);
            let because = format!("it is entered again after {after} were not enough");
            let next = Next::Go { way: None, to: phase.id.clone(), because };
            let failure = Failure::new("timeout", &what);
            let (then, what) = self.settled(otherwise, &failure, &Beside::default(), what);
            self.otherwise(&then, what, next);
            return Ok(());
        }
        if self.state.again_at.is_some_and(|at| at <= now) {
            self.choose();
            return Ok(());
        }
        Err(Rejection::NothingDue)
    }

    fn expire(&mut self, wait: &crate::run::Wait) {
        if wait.kind == WaitKind::Approval {
            let (wait, closing) = (wait.id.clone(), Closing::Expired);
            self.emit(Event::WaitClosed { wait, closing });
            return self.choose();
        }
        let question = self.question(wait);
        let default = question.and_then(|question| question.default.clone());
        let otherwise = question.map(|question| question.otherwise.clone());
        let otherwise = otherwise.unwrap_or_else(|| Otherwise::Wait.into());
        if let Some(default) = default
            && self.take_answer(wait, &default, DEADLINE).is_ok()
        {
            return;
        }
        let (id, closing) = (wait.id.clone(), Closing::Expired);
        self.emit(Event::WaitClosed { wait: id, closing });
        let what = format!("Nobody answered in time: {}", wait.question);
        let (mut ids, mut items) = match &self.state.held {
            Some(Next::Questions { ids, items }) => (ids.clone(), items.clone()),
            _ => (Vec::new(), Vec::new()),
        };
        match (wait.of.clone(), wait.item.clone()) {
            (Some(question), Some(item)) => items.push(OfEach { question, item }),
            _ => ids.push(wait.name.clone()),
        }
        let failure = Failure::new("deadline", &what);
        let beside = Beside { item: wait.item.clone(), ..Beside::default() };
        let (then, what) = self.settled(&otherwise, &failure, &beside, what);
        self.otherwise(&then, what, Next::Questions { ids, items });
    }
}
