//! Gates: which way is open, and for the closed ones, why not.

use serde_json::Value;

use super::bounds::clip;
use super::deciding::Deciding;
use crate::expr::{Expr, ReadStep};
use crate::protocol::{Check, Transition, Work};
use crate::reply::show;
use crate::run::apply::DEADLINE;
use crate::run::event::Event;
use crate::run::state::{ClosedGate, Next};
use crate::run::wait::WaitKind;

/// A gate's answer.
enum Passage {
    /// Open, and what opened it.
    Open(String),
    /// Closed, and why.
    Closed(String),
}

impl Deciding<'_> {
    /// Takes the first open way; where none is open, waits and says why.
    pub(super) fn choose(&mut self) {
        if self.put_off(|| Next::Leave) {
            return;
        }
        let run = self.run();
        let ways = self.workflow.ways_out(&self.state.phase);
        let mut closed = Vec::new();
        for (index, way) in &ways {
            match self.ask(*index, way, &run) {
                Passage::Open(_) if self.goes_round(way) => {
                    let reason = format!(
                        "it is open, but leads to `{}` again with nothing changed since",
                        way.to
                    );
                    closed.push(self.closed(*index, way, reason));
                }
                Passage::Open(because) => return self.leave(*index, clip(because)),
                Passage::Closed(reason) => closed.push(self.closed(*index, way, reason)),
            }
        }
        self.stay(closed, &ways);
    }

    fn closed(&self, way: usize, transition: &Transition, reason: String) -> ClosedGate {
        let before = self.state.closed.iter().find(|gate| gate.way == way);
        let (attempts, again_at) = before.map_or((0, None), |gate| (gate.attempts, gate.again_at));
        ClosedGate { way, to: transition.to.clone(), reason: clip(reason), attempts, again_at }
    }

    /// Whether a way leads to a phase without work that was passed since the document last changed.
    /// A way that a person opened does not go round by itself.
    fn goes_round(&self, way: &Transition) -> bool {
        if way.gate.as_ref().is_some_and(|gate| matches!(gate.check, Check::Manual { .. })) {
            return false;
        }
        let target = self.workflow.phase(&way.to);
        let idle = target
            .is_some_and(|phase| matches!(phase.work, Work::None) && !self.workflow.ends_in(phase));
        idle && self.passed.contains(&way.to) && !self.changes_something(way)
    }

    /// Leaves by a way, once the hook that may stop it has answered.
    fn leave(&mut self, index: usize, because: String) {
        match &self.phase().on_exit {
            Some(hook) => self.ask_hook(hook, Some(index)),
            None => self.take(index, because),
        }
    }

    /// Takes a way for good, once its budget has room for it.
    pub(super) fn take(&mut self, index: usize, because: String) {
        let way = &self.workflow.transitions[index];
        // A way whose changes cannot be made is not taken, and costs nothing.
        if let Err(reason) = self.changes_of_way(index) {
            return self.stopped(index, reason);
        }
        if !self.admitted(Some(index), &way.to, &because) {
            return;
        }
        if let Some(budget) = &way.spends {
            let next = Next::Take { way: index, because: because.clone() };
            if !self.within(budget, &next) {
                return;
            }
            self.emit(Event::Spent { budget: budget.clone(), amount: 1 });
        }
        self.go(Some(index), &way.to, because);
    }

    /// Whether one way is open now, and what opened it.
    pub(super) fn opened(&self, index: usize) -> Option<String> {
        let way = self.workflow.transitions.get(index)?;
        match self.ask(index, way, &self.run()) {
            Passage::Open(because) => Some(clip(because)),
            Passage::Closed(_) => None,
        }
    }

    fn ask(&self, index: usize, way: &Transition, run: &Value) -> Passage {
        let Some(gate) = &way.gate else { return Passage::Open("it has no gate".to_owned()) };
        match &gate.check {
            Check::Expression(expr) => self.evaluate(expr, run),
            Check::Status { pointer, value } => {
                let found = self.state.document.pointer(pointer);
                let text = match found {
                    Some(Value::String(text)) => Some(text.clone()),
                    Some(other) => Some(other.to_string()),
                    None => None,
                };
                match text {
                    Some(text) if text == *value => {
                        Passage::Open(format!("`{pointer}` is `{value}`"))
                    }
                    Some(text) => {
                        Passage::Closed(format!("`{pointer}` is `{text}`, and must be `{value}`"))
                    }
                    None => {
                        Passage::Closed(format!("there is no `{pointer}`; it must be `{value}`"))
                    }
                }
            }
            Check::File { path } => self.is_there(path),
            Check::FileAt { path } => match path.fill(&[Some(&self.state.document), Some(run)]) {
                Ok(path) => self.is_there(&path),
                Err(error) => {
                    let source = path.source();
                    Passage::Closed(format!("`{source}` names no file: {}", error.message))
                }
            },
            Check::Manual { who, .. } => match self.state.decisions.get(&index) {
                Some(decision) => {
                    let note =
                        decision.note.as_ref().map_or_else(String::new, |n| format!(": {n}"));
                    if decision.by == DEADLINE {
                        Passage::Closed("nobody approved it in time".to_owned())
                    } else if decision.approve {
                        Passage::Open(format!("{} approved it{note}", decision.by))
                    } else {
                        Passage::Closed(format!("{} denied it{note}", decision.by))
                    }
                }
                None => {
                    let who = who.as_deref().unwrap_or("somebody");
                    Passage::Closed(format!("{who} must approve it"))
                }
            },
        }
    }

    fn is_there(&self, path: &str) -> Passage {
        let known = self.input.files.get(path);
        if known.is_none() {
            self.unseen.borrow_mut().insert(path.to_owned());
        }
        if known == Some(&true) {
            Passage::Open(format!("the file `{path}` is there"))
        } else {
            Passage::Closed(format!("the file `{path}` is not there"))
        }
    }

    fn evaluate(&self, expr: &Expr, run: &Value) -> Passage {
        let source = expr.source().trim();
        match expr.test(&[Some(&self.state.document), Some(run)]) {
            Ok(true) => Passage::Open(format!("`{source}` holds")),
            Ok(false) => {
                let seen = self.seen(expr, run);
                Passage::Closed(format!("`{source}` does not hold{seen}"))
            }
            Err(error) => {
                Passage::Closed(format!("`{source}` cannot be decided: {}", error.message))
            }
        }
    }

    /// The values that a closed expression read, as far as its source names them.
    fn seen(&self, expr: &Expr, run: &Value) -> String {
        const MOST: usize = 3;
        let mut seen = Vec::new();
        for path in expr.reads() {
            let root = [&*self.state.document, run].into_iter().nth(path.slot);
            let fields = path.steps.iter().take_while(|step| matches!(step, ReadStep::Field(_)));
            let mut value = root;
            let mut name = ["state", "run"].get(path.slot).copied().unwrap_or("reply").to_owned();
            for step in fields {
                if let ReadStep::Field(field) = step {
                    value = value.and_then(|value| value.get(field));
                    name.push('.');
                    name.push_str(field);
                }
            }
            let told = value.map_or_else(|| "undefined".to_owned(), show);
            let line = format!("{name} is {told}");
            if !seen.contains(&line) && seen.len() < MOST {
                seen.push(line);
            }
        }
        if seen.is_empty() { String::new() } else { format!("; {}", seen.join(", ")) }
    }

    /// No way is open: when are gates asked again, who can help?
    fn stay(&mut self, mut closed: Vec<ClosedGate>, ways: &[(usize, &Transition)]) {
        let now = self.input.time;
        for gate in &mut closed {
            let way = &self.workflow.transitions[gate.way];
            let Some(retry) = way.gate.as_ref().and_then(|gate| gate.retry) else { continue };
            let due = gate.again_at.is_some_and(|at| at <= now);
            if due {
                gate.attempts += 1;
                gate.again_at = None;
            }
            if gate.attempts >= retry.max_attempts {
                let times = gate.attempts;
                gate.reason.push_str(&format!("; asked again {times} times, and not any more"));
            } else if gate.again_at.is_none() {
                gate.again_at = Some(now.after(retry.pause(gate.attempts + 1)));
            }
        }
        let again_at = closed.iter().filter_map(|gate| gate.again_at).min();
        self.emit(Event::GatesClosed { gates: closed.clone(), again_at });
        self.ask_approvals(ways);
        let helped = again_at.is_some() || !self.state.waits.is_empty();
        if !helped {
            let reasons: Vec<String> =
                closed.iter().map(|gate| format!("→ {}: {}", gate.to, gate.reason)).collect();
            let phase = self.state.phase.clone();
            let question = format!(
                "No way out of `{phase}` is open. {}. Hand in a patch that changes this, or resume to have the gates asked again.",
                reasons.join(". ")
            );
            let wait = self.wait(WaitKind::Work, &phase, question);
            self.open(wait);
        }
    }

    fn ask_approvals(&mut self, ways: &[(usize, &Transition)]) {
        for (index, way) in ways {
            let Some(gate) = &way.gate else { continue };
            let Check::Manual { who, deadline } = &gate.check else { continue };
            let asked = self.state.waits.values().any(|wait| wait.way == Some(*index));
            if asked || self.state.decisions.contains_key(index) {
                continue;
            }
            let question = gate
                .description
                .clone()
                .unwrap_or_else(|| format!("May the run go from `{}` to `{}`?", way.from, way.to));
            let mut wait = self.wait(WaitKind::Approval, &way.to, question);
            wait.way = Some(*index);
            wait.who.clone_from(who);
            wait.deadline = deadline.map(|deadline| self.input.time.after(deadline.millis));
            self.open(wait);
        }
    }
}
