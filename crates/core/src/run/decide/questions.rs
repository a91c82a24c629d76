//! Questions to people: asked side by side, each answered once, each answer held against its shape.

use serde_json::Value;

use super::deciding::Deciding;
use super::writing::{Beside, anything, taken};
use crate::expr::Expr;
use crate::protocol::{Choice, Choices, Otherwise, Question, Shape, Work};
use crate::reply::{Accepted, Code, Context, Verdict, Violation, show};
use crate::run::Rejection;
use crate::run::event::Event;
use crate::run::state::Next;
use crate::run::wait::{Closing, Wait, WaitKind, WaitShape};

impl Deciding<'_> {
    /// Asks every question of the phase that applies now.
    pub(super) fn ask_people(&mut self, questions: &[Question]) {
        self.ask_some(&questions.iter().collect::<Vec<_>>(), &Next::Work);
    }

    /// Asks these questions of the phase again.
    pub(super) fn ask_these(&mut self, ids: &[String]) {
        let Work::Ask(questions) = &self.phase().work else { return };
        let questions = questions.iter().filter(|question| ids.contains(&question.id));
        self.ask_some(&questions.collect::<Vec<_>>(), &Next::Questions { ids: ids.to_vec() });
    }

    fn ask_some(&mut self, questions: &[&Question], next: &Next) {
        let mut waits = Vec::new();
        for question in questions {
            match self.asked(question) {
                Ok(Some(wait)) => waits.push(wait),
                Ok(None) => {}
                Err(why) => {
                    let what = format!("Question `{}` cannot be asked: {why}", question.id);
                    return self.otherwise(&Otherwise::Wait, what, next.clone());
                }
            }
        }
        if !self.within_questions(waits.len() as u64, next) {
            return;
        }
        for wait in waits {
            self.open(wait);
        }
        self.unless_asking();
    }

    fn asked(&self, question: &Question) -> Result<Option<Wait>, String> {
        let run = self.run();
        let roots = [Some(&*self.state.document), Some(&run)];
        if let Some(when) = &question.when
            && !when.test(&roots).map_err(|error| error.message)?
        {
            return Ok(None);
        }
        let text = question.question.fill(&roots).map_err(|error| error.message)?;
        let (kind, shape) = match &question.shape {
            Shape::Value(contract) => {
                let schema = contract.schema.source().clone();
                (WaitKind::Question, WaitShape::Value { schema })
            }
            Shape::Choices(list) => {
                let choices = match list {
                    Choices::Listed(choices) => choices.clone(),
                    Choices::Computed(list) => choices(list, &roots)?,
                };
                (WaitKind::Question, WaitShape::Choices { choices })
            }
            Shape::Document { suggested_path, accepts } => {
                let (suggested_path, accepts) = (suggested_path.clone(), accepts.clone());
                (WaitKind::Document, WaitShape::Document { suggested_path, accepts })
            }
        };
        let mut wait = self.wait(kind, &question.id, text);
        wait.shape = Some(shape);
        wait.who.clone_from(&question.who);
        wait.deadline = question.deadline.map(|deadline| self.input.time.after(deadline.millis));
        Ok(Some(wait))
    }

    /// Somebody answered.
    pub(super) fn answered(
        &mut self,
        wait: &str,
        value: &Value,
        by: &str,
    ) -> Result<(), Rejection> {
        let wait = self.open_wait(wait, by)?;
        if !matches!(wait.kind, WaitKind::Question | WaitKind::Document) {
            return Err(wrong_kind(wait));
        }
        self.take_answer(&wait, value, by)
            .map_err(|violations| Rejection::WrongShape { wait: wait.id.clone(), violations })
    }

    /// An open wait that this person may answer now.
    pub(super) fn open_wait(&self, id: &str, by: &str) -> Result<Wait, Rejection> {
        let Some(wait) = self.state.waits.get(id) else {
            let number = id.strip_prefix('w').and_then(|number| number.parse::<u64>().ok());
            if number.is_some_and(|number| number >= 1 && number <= self.state.waits_opened) {
                return Err(Rejection::AlreadyClosed { wait: id.to_owned() });
            }
            let open: Vec<&str> = self.state.waits.keys().map(String::as_str).collect();
            let open = if open.is_empty() { "none".to_owned() } else { open.join(", ") };
            return Err(Rejection::UnknownWait { wait: id.to_owned(), open });
        };
        if let Some(deadline) = wait.deadline
            && self.input.time > deadline
        {
            let (wait, deadline) = (id.to_owned(), deadline.to_string());
            return Err(Rejection::TooLate { wait, deadline });
        }
        if let Some(who) = &wait.who
            && who != by
        {
            let (wait, who, by) = (id.to_owned(), who.clone(), by.to_owned());
            return Err(Rejection::NotYours { wait, who, by });
        }
        Ok(wait.clone())
    }

    /// Takes an answer that fits; the phase is done when it was the last.
    pub(super) fn take_answer(
        &mut self,
        wait: &Wait,
        value: &Value,
        by: &str,
    ) -> Result<(), Vec<Violation>> {
        let question = self.question(wait);
        let accepted = self.fitting(question, wait, value)?;
        let changes = question.map_or(&[][..], |question| &question.apply);
        let written = self.written(changes, &accepted, &Beside::default(), None)?;
        let closing = Closing::Answered { by: by.to_owned() };
        self.emit(Event::WaitClosed { wait: wait.id.clone(), closing });
        self.change(written);
        self.unless_asking();
        Ok(())
    }

    /// Goes on when no question of the phase is open any more.
    fn unless_asking(&mut self) {
        let asks = |wait: &Wait| matches!(wait.kind, WaitKind::Question | WaitKind::Document);
        if !self.state.waits.values().any(asks) && self.state.blocked.is_none() {
            self.worked();
        }
    }

    /// The question in the protocol that a wait stands for.
    pub(super) fn question(&self, wait: &Wait) -> Option<&'_ Question> {
        match &self.workflow.phase(&wait.phase)?.work {
            Work::Ask(questions) => questions.iter().find(|question| question.id == wait.name),
            _ => None,
        }
    }

    fn fitting(
        &self,
        question: Option<&Question>,
        wait: &Wait,
        value: &Value,
    ) -> Result<Accepted, Vec<Violation>> {
        let wrong = |pointer: &str, expected: String| {
            let found = value.pointer(pointer).map_or_else(|| "nothing".to_owned(), show);
            vec![Violation::new(Code::Enum, pointer, expected, found)]
        };
        match (&wait.shape, question.map(|question| &question.shape)) {
            (Some(WaitShape::Choices { choices }), _) => {
                let known: Vec<&str> = choices.iter().map(|choice| choice.id.as_str()).collect();
                if !value.as_str().is_some_and(|given| known.contains(&given)) {
                    return Err(wrong("", format!("one of {}", known.join(", "))));
                }
            }
            (Some(WaitShape::Document { accepts, .. }), _) => {
                let Some(path) = value["path"].as_str() else {
                    return Err(wrong("/path", "the path of a file".to_owned()));
                };
                let lower = path.to_lowercase();
                if !accepts.is_empty()
                    && !accepts.iter().any(|end| lower.ends_with(&end.to_lowercase()))
                {
                    return Err(wrong("/path", format!("a file of type {}", accepts.join(", "))));
                }
            }
            (_, Some(Shape::Value(contract))) => {
                let run = self.run();
                let context =
                    Context { state: Some(&self.state.document), run: Some(&run), new: None };
                return match contract.admit_value(value, &context) {
                    Verdict::Accepted(accepted) => Ok(*accepted),
                    Verdict::Refused(violations) => Err(violations),
                };
            }
            _ => {}
        }
        Ok(taken(anything(), value))
    }
}

/// What a wait of this kind takes instead.
pub(super) fn wrong_kind(wait: Wait) -> Rejection {
    let expected = match wait.kind {
        WaitKind::Question => "answer it",
        WaitKind::Document => "bring the file",
        WaitKind::Approval => "approve or deny it",
        WaitKind::Budget => "grant more, or deny it",
        WaitKind::Work => "hand in a reply or a patch",
        WaitKind::Trouble => "approve to go on, or deny it",
    };
    Rejection::WrongKind { wait: wait.id, kind: wait.kind.as_str(), expected }
}

/// The choices an expression gives.
fn choices(list: &Expr, roots: &[Option<&Value>]) -> Result<Vec<Choice>, String> {
    let source = list.source();
    let value = list.eval(roots).map_err(|error| error.message)?.to_json();
    let Some(Value::Array(items)) = value else {
        return Err(format!("`{source}` gives no list of choices"));
    };
    let mut choices: Vec<Choice> = Vec::new();
    for item in items {
        let choice = match &item {
            Value::String(text) => Choice { id: text.clone(), label: text.clone() },
            Value::Object(_) => {
                let id = item["id"]
                    .as_str()
                    .ok_or_else(|| format!("a choice of `{source}` has no `id`"))?;
                let label = item["label"].as_str().or(item["text"].as_str()).unwrap_or(id);
                Choice { id: id.to_owned(), label: label.to_owned() }
            }
            other => return Err(format!("a choice of `{source}` is {}", show(other))),
        };
        if choices.iter().any(|other| other.id == choice.id) {
            return Err(format!("`{source}` gives the choice `{}` twice", choice.id));
        }
        choices.push(choice);
    }
    if choices.is_empty() {
        return Err(format!("`{source}` gives no choice"));
    }
    Ok(choices)
}
