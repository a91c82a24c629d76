//! Questions to people: asked side by side, each answered once, each answer held against its shape.

use std::collections::BTreeSet;

use serde_json::Value;

use super::asked::contract_of;
use super::deciding::Deciding;
use super::writing::{Beside, anything, taken};
use crate::contract::Contract;
use crate::json::measure_json;
use crate::limits;
use crate::protocol::{Otherwise, Question, Shape, Work};
use crate::reply::{Accepted, Code, Context, Verdict, Violation, show};
use crate::run::Rejection;
use crate::run::event::Event;
use crate::run::state::{Next, OfEach};
use crate::run::wait::{Closing, Wait, WaitKind, WaitShape};

impl Deciding<'_> {
    /// Asks every question of the phase that applies now.
    pub(super) fn ask_people(&mut self, questions: &[Question]) {
        let mut all = Vec::new();
        for question in questions {
            let Some((each, _)) = &question.each else {
                all.push((question, None));
                continue;
            };
            match self.items(each) {
                Ok(items) => all.extend(items.into_iter().map(|item| (question, Some(item)))),
                Err(why) => return self.unaskable(&question.id, &why, Next::Work),
            }
        }
        self.ask_some(&all, &Next::Work);
    }

    /// Asks these questions of the phase again.
    pub(super) fn ask_these(&mut self, ids: &[String], items: &[OfEach]) {
        let Work::Ask(questions) = &self.phase().work else { return };
        let mut all = Vec::new();
        for question in questions {
            if question.each.is_none() && ids.contains(&question.id) {
                all.push((question, None));
            }
            let again = items.iter().filter(|one| one.question == question.id);
            all.extend(again.map(|one| (question, Some(one.item.clone()))));
        }
        self.ask_some(&all, &Next::Questions { ids: ids.to_vec(), items: items.to_vec() });
    }

    fn ask_some(&mut self, questions: &[(&Question, Option<Value>)], next: &Next) {
        let open = self.state.waits.values().filter(|wait| wait.shape.is_some());
        let mut names: BTreeSet<String> = open.map(|wait| wait.name.clone()).collect();
        let (mut waits, mut bytes) = (Vec::new(), 0);
        for (question, item) in questions {
            match self.asked(question, item.as_ref()) {
                Ok(None) => {}
                Ok(Some(wait)) if !names.insert(wait.name.clone()) => {
                    let why = format!("another one is called `{}` too", wait.name);
                    return self.unaskable(&question.id, &why, next.clone());
                }
                Ok(Some(wait)) => {
                    bytes += measure_json(&wait).bytes;
                    if bytes > limits::MAX_VERSION_BYTES {
                        let most = limits::MAX_VERSION_BYTES;
                        let why = format!("the questions have more than {most} bytes together");
                        return self.unaskable(&question.id, &why, next.clone());
                    }
                    waits.push(wait);
                }
                Err(why) => return self.unaskable(&question.id, &why, next.clone()),
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

    fn unaskable(&mut self, id: &str, why: &str, next: Next) {
        let what = format!("Question `{id}` cannot be asked: {why}");
        self.otherwise(&Otherwise::Wait, what, next);
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
        let beside = Beside { item: wait.item.clone(), ..Beside::default() };
        let written = self.written(changes, &accepted, &beside, None)?;
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
            self.done();
        }
    }

    /// The question in the protocol that a wait stands for.
    pub(super) fn question(&self, wait: &Wait) -> Option<&'_ Question> {
        let id = wait.of.as_ref().unwrap_or(&wait.name);
        match &self.workflow.phase(&wait.phase)?.work {
            Work::Ask(questions) => questions.iter().find(|question| question.id == *id),
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
            (_, Some(Shape::Value(contract))) => return self.let_in(contract, value),
            (Some(WaitShape::Value { schema }), Some(Shape::Computed(_))) => {
                let contract = contract_of(schema).expect("it was compiled when it was asked");
                return self.let_in(&contract, value);
            }
            _ => {}
        }
        Ok(taken(anything(), value))
    }

    /// A value that a contract lets in.
    pub(super) fn let_in(
        &self,
        contract: &Contract,
        value: &Value,
    ) -> Result<Accepted, Vec<Violation>> {
        let run = self.run();
        let context = Context { state: Some(&self.state.document), run: Some(&run), new: None };
        match contract.admit_value(value, &context) {
            Verdict::Accepted(accepted) => Ok(*accepted),
            Verdict::Refused(violations) => Err(violations),
        }
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
