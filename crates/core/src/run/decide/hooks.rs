//! Hooks: on leaving they may stop, change or redirect; on entering they may change.

use serde_json::Value;

use super::bounds::clip;
use super::deciding::Deciding;
use super::effects::first;
use super::writing::{Written, engine_places};
use crate::patch::{Authority, Patch};
use crate::protocol::Otherwise;
use crate::reply::Violation;
use crate::run::State;
use crate::run::event::Event;
use crate::run::input::HookAnswer;
use crate::run::state::{ClosedGate, Next, Pending};
use crate::run::wait::WaitKind;

impl Deciding<'_> {
    /// Orders a hook: before a way is taken, or after a phase was entered.
    pub(super) fn ask_hook(&mut self, hook: &str, way: Option<usize>) {
        let action = self.order();
        self.emit(Event::HookAsked { action, hook: hook.to_owned(), way });
    }

    /// A hook answered.
    pub(super) fn hook_finished(&mut self, before: &State, action: &str, answer: &HookAnswer) {
        let told = match answer {
            HookAnswer::Ok => "ok".to_owned(),
            HookAnswer::Abort { reason } => clip(format!("abort: {reason}")),
            HookAnswer::Patch { .. } => "patch".to_owned(),
            HookAnswer::Redirect { to } => clip(format!("redirect to `{to}`")),
        };
        self.emit(Event::HookAnswered { action: action.to_owned(), answer: told.clone() });
        let Some(Pending::Hook { hook, way }) = before.pending.get(action) else { return };
        if let HookAnswer::Patch { ops } = answer {
            match self.hook_patch(ops) {
                Ok(written) => self.change(written),
                Err(violations) => {
                    let reason = format!("its patch was refused: {}", first(&violations));
                    return self.hook_stops(hook, *way, &reason);
                }
            }
        }
        match (way, answer) {
            (None, HookAnswer::Ok | HookAnswer::Patch { .. }) => self.work(),
            (None, HookAnswer::Abort { reason }) => self.hook_stops(hook, None, reason),
            (None, HookAnswer::Redirect { to }) => {
                let reason = format!("it wants to go to `{to}`, and a hook on entering cannot");
                self.hook_stops(hook, None, &reason);
            }
            (Some(way), HookAnswer::Ok | HookAnswer::Patch { .. }) => self.leave_after(*way),
            (Some(way), HookAnswer::Abort { reason }) => self.hook_stops(hook, Some(*way), reason),
            (Some(way), HookAnswer::Redirect { to }) => self.redirect(hook, *way, to),
        }
    }

    /// The hook let the way be taken; its patch may have closed it.
    fn leave_after(&mut self, index: usize) {
        match self.opened(index) {
            Some(because) => self.take(index, because),
            None => {
                let reason = "it was open until the hook changed the document".to_owned();
                self.stopped(index, reason);
            }
        }
    }

    fn redirect(&mut self, hook: &str, held: usize, to: &str) {
        let ways = self.workflow.ways_out(&self.state.phase);
        let open = ways.iter().find_map(|(index, way)| {
            let because = if way.to == to { self.opened(*index) } else { None };
            because.map(|because| (*index, because))
        });
        match open {
            Some((index, because)) => {
                let because = format!("hook `{hook}` redirected here, and {because}");
                self.take(index, because);
            }
            None => {
                let reason =
                    format!("hook `{hook}` redirects to `{to}`, and no open way leads there");
                self.stopped(held, reason);
            }
        }
    }

    fn hook_stops(&mut self, hook: &str, way: Option<usize>, reason: &str) {
        match way {
            Some(way) => self.stopped(way, format!("hook `{hook}` stopped it: {reason}")),
            None => {
                let what =
                    format!("Hook `{hook}` of phase `{}` failed: {reason}", self.state.phase);
                self.otherwise(&Otherwise::Wait, what, Next::Enter);
            }
        }
    }

    /// A way was held up for good; a person must look.
    pub(super) fn stopped(&mut self, way: usize, reason: String) {
        let reason = clip(reason);
        let to = self.workflow.transitions[way].to.clone();
        let phase = self.state.phase.clone();
        let question = format!("`{phase}` cannot be left for `{to}`: {reason}.");
        let gates = vec![ClosedGate { way, to, reason, attempts: 0, again_at: None }];
        self.emit(Event::GatesClosed { gates, again_at: None });
        let wait = self.wait(WaitKind::Trouble, &phase, question);
        self.open(wait);
    }

    fn hook_patch(&self, ops: &Value) -> Result<Written, Vec<Violation>> {
        let patch = Patch::parse(ops)?;
        let authority = Authority::parse(&[""], &engine_places(self.spec()))
            .expect("pointers were read when the protocol was loaded");
        let violations = authority.check(&patch, &self.state.document);
        if !violations.is_empty() {
            return Err(violations);
        }
        self.fitting_patch(patch)
    }
}
