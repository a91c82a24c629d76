//! Questions to people: the phase opens a wait per question, all at the same time. Each question is
//! answered once, and each answer is validated against its shape.

use std::collections::BTreeSet;
use std::ops::ControlFlow::Break;

use countersign_contract::contract::Contract;
use countersign_contract::json::measure_json;
use countersign_contract::limits;
use countersign_contract::reply::{
    AcceptedValue, AdmissionVerdict, RuleContext, Violation, ViolationCode, format_value,
};
use countersign_protocol::{AnswerChoice, AnswerShape, FailurePolicy, PhaseQuestion, PhaseWork};
use serde_json::Value;

use super::deciders::{check_assignee, check_distinct};
use super::document_update::{ChangeScope, accept_any_value, any_value_contract};
use super::question_wait::compile_answer_contract;
use super::run_decision::RunDecision;
use crate::event::RunEvent;
use crate::state::{Continuation, QuestionItem};
use crate::wait::{RunWait, WaitAnswerShape, WaitKind, WaitResolution};
use crate::{InputRejection, RunInputs};

impl RunDecision<'_> {
    /// Asks every question of the phase whose condition holds now.
    pub(super) fn ask_questions(&mut self, questions: &[PhaseQuestion]) -> Option<Continuation> {
        let mut all = Vec::new();
        for question in questions {
            let Some((each, _)) = &question.for_each else {
                all.push((question, None));
                continue;
            };
            match self.evaluate_items(each) {
                Ok(items) => all.extend(items.into_iter().map(|item| (question, Some(item)))),
                Err(why) => {
                    return self.report_unaskable(&question.id, &why, Continuation::BeginWork);
                }
            }
        }
        self.open_question_waits(&all, &Continuation::BeginWork)
    }

    /// Asks these questions of the phase again: those without items by id, the others per item.
    pub(super) fn ask_questions_again(
        &mut self,
        ids: &[String],
        items: &[QuestionItem],
    ) -> Option<Continuation> {
        let PhaseWork::Ask(questions) = &self.current_phase().work else { return None };
        let mut all = Vec::new();
        for question in questions {
            if question.for_each.is_none() && ids.contains(&question.id) {
                all.push((question, None));
            }
            let again = items.iter().filter(|one| one.question == question.id);
            all.extend(again.map(|one| (question, Some(one.item.clone()))));
        }
        self.open_question_waits(
            &all,
            &Continuation::AskQuestions { ids: ids.to_vec(), items: items.to_vec() },
        )
    }

    fn open_question_waits(
        &mut self,
        questions: &[(&PhaseQuestion, Option<Value>)],
        next: &Continuation,
    ) -> Option<Continuation> {
        let open = self.state.waits.values().filter(|wait| wait.answer_shape.is_some());
        let mut names: BTreeSet<String> = open.map(|wait| wait.name.clone()).collect();
        let (mut waits, mut bytes) = (Vec::new(), 0);
        for (question, item) in questions {
            match self.build_question_wait(question, item.as_ref()) {
                Ok(None) => {}
                Ok(Some(wait)) if !names.insert(wait.name.clone()) => {
                    let why = format!("another question has the same id `{}`", wait.name);
                    return self.report_unaskable(&question.id, &why, next.clone());
                }
                Ok(Some(wait)) => {
                    bytes += measure_json(&wait).bytes;
                    if bytes > limits::MAX_VERSION_BYTES {
                        let most = limits::MAX_VERSION_BYTES;
                        let why = format!("the questions have more than {most} bytes in total");
                        return self.report_unaskable(&question.id, &why, next.clone());
                    }
                    waits.push(wait);
                }
                Err(why) => return self.report_unaskable(&question.id, &why, next.clone()),
            }
        }
        if let Break(instead) = self.check_question_budget(waits.len() as u64, next) {
            return instead;
        }
        for wait in waits {
            self.open_new_wait(wait);
        }
        self.complete_if_answered()
    }

    fn report_unaskable(
        &mut self,
        id: &str,
        why: &str,
        next: Continuation,
    ) -> Option<Continuation> {
        let message = format!("Question `{id}` cannot be asked: {why}");
        self.apply_failure_policy(&FailurePolicy::Wait, message, next)
    }

    /// Handles the answer to a question.
    pub(super) fn handle_answer(
        &mut self,
        wait: &str,
        value: &Value,
        by: &str,
    ) -> Result<Option<Continuation>, InputRejection> {
        let wait = self.find_answerable_wait(wait, by)?;
        if !matches!(wait.kind, WaitKind::Question | WaitKind::Document) {
            return Err(wrong_kind_rejection(wait));
        }
        self.accept_answer(&wait, value, by).map_err(|violations| InputRejection::AnswerMismatch {
            wait: wait.id.clone(),
            violations,
        })
    }

    /// Finds an open wait that this person is allowed to answer, before its deadline.
    pub(super) fn find_answerable_wait(
        &self,
        id: &str,
        by: &str,
    ) -> Result<RunWait, InputRejection> {
        let Some(wait) = self.state.waits.get(id) else {
            let superseding =
                self.state.waits.values().find(|wait| wait.supersedes.iter().any(|old| old == id));
            if let Some(current) = superseding {
                return Err(current.reject_old_subject(id));
            }
            let number = id.strip_prefix('w').and_then(|number| number.parse::<u64>().ok());
            if number.is_some_and(|number| number >= 1 && number <= self.state.waits_opened) {
                return Err(InputRejection::AlreadyClosed { wait: id.to_owned() });
            }
            let open: Vec<&str> = self.state.waits.keys().map(String::as_str).collect();
            let open = if open.is_empty() { "none".to_owned() } else { open.join(", ") };
            return Err(InputRejection::UnknownWait { wait: id.to_owned(), open });
        };
        if let Some(deadline) = wait.deadline
            && self.input.time > deadline
        {
            let (wait, deadline) = (id.to_owned(), deadline.to_string());
            return Err(InputRejection::TooLate { wait, deadline });
        }
        check_assignee(wait, by, self.input.sender.as_ref())?;
        check_distinct(&self.state, wait, by, self.input.sender.as_ref())?;
        Ok(wait.clone())
    }

    /// Accepts a valid answer and makes its changes. The last answer completes the phase.
    pub(super) fn accept_answer(
        &mut self,
        wait: &RunWait,
        value: &Value,
        by: &str,
    ) -> Result<Option<Continuation>, Vec<Violation>> {
        let question = self.find_question(wait);
        let accepted = self.validate_answer(question, wait, value)?;
        let changes = question.map_or(&[][..], |question| &question.apply);
        let scope = ChangeScope { item: wait.item.clone(), ..ChangeScope::default() };
        let update = self.build_update(changes, &accepted, &scope, None)?;
        let closing = WaitResolution::Answered { by: by.to_owned() };
        self.emit(RunEvent::WaitClosed { wait: wait.id.clone(), resolution: closing });
        self.record_update(update);
        Ok(self.complete_if_answered())
    }

    /// Completes the phase when none of its questions is open.
    fn complete_if_answered(&mut self) -> Option<Continuation> {
        let asks = |wait: &RunWait| matches!(wait.kind, WaitKind::Question | WaitKind::Document);
        if self.state.waits.values().any(asks) || self.state.blocked.is_some() {
            return None;
        }
        Some(self.accept_work())
    }

    /// Finds the question of the protocol that a wait asks.
    pub(super) fn find_question(&self, wait: &RunWait) -> Option<&'_ PhaseQuestion> {
        let id = wait.definition_id.as_ref().unwrap_or(&wait.name);
        match &self.workflow.find_phase(&wait.phase)?.work {
            PhaseWork::Ask(questions) => questions.iter().find(|question| question.id == *id),
            _ => None,
        }
    }

    fn validate_answer(
        &self,
        question: Option<&PhaseQuestion>,
        wait: &RunWait,
        value: &Value,
    ) -> Result<AcceptedValue, Vec<Violation>> {
        let wrong = |pointer: &str, expected: String| {
            let found = value.pointer(pointer).map_or_else(|| "nothing".to_owned(), format_value);
            vec![Violation::new(ViolationCode::Enum, pointer, expected, found)]
        };
        match (&wait.answer_shape, question.map(|question| &question.shape)) {
            (Some(WaitAnswerShape::Choices { choices }), _) => {
                let Some(choice) = value.as_str().and_then(|answer| find_choice(choices, answer))
                else {
                    let known: Vec<&str> =
                        choices.iter().map(|choice| choice.id.as_str()).collect();
                    return Err(wrong("", format!("one of {}", known.join(", "))));
                };
                let id = Value::String(choice.id.clone());
                return Ok(accept_any_value(any_value_contract(), &id));
            }
            (Some(WaitAnswerShape::Document { accepts, .. }), _) => {
                let Some(path) = value["path"].as_str() else {
                    return Err(wrong("/path", "the path of a file".to_owned()));
                };
                let inputs = RunInputs::for_run(&self.state);
                if !inputs.is_reachable(path) {
                    let expected = format!("a file of this run, below `{}/`", inputs.folder());
                    return Err(wrong("/path", expected));
                }
                let lower = path.to_lowercase();
                if !accepts.is_empty()
                    && !accepts.iter().any(|end| lower.ends_with(&end.to_lowercase()))
                {
                    return Err(wrong("/path", format!("a file of type {}", accepts.join(", "))));
                }
            }
            (_, Some(AnswerShape::Value(contract))) => return self.admit_value(contract, value),
            (Some(WaitAnswerShape::Value { schema }), Some(AnswerShape::Computed(_))) => {
                let contract = compile_answer_contract(schema)
                    .expect("the schema compiled when the question was asked");
                return self.admit_value(&contract, value);
            }
            _ => {}
        }
        Ok(accept_any_value(any_value_contract(), value))
    }

    /// Admits a value under a contract, or returns its violations.
    pub(super) fn admit_value(
        &self,
        contract: &Contract,
        value: &Value,
    ) -> Result<AcceptedValue, Vec<Violation>> {
        let run = self.run_value();
        let context = RuleContext { state: Some(&self.state.document), run: Some(&run), new: None };
        match contract.admit_value(value, &context) {
            AdmissionVerdict::Accepted(accepted) => Ok(*accepted),
            AdmissionVerdict::Refused(violations) => Err(violations),
        }
    }
}

/// Rejects an input of the wrong kind for a wait, and says what the wait expects.
pub(super) fn wrong_kind_rejection(wait: RunWait) -> InputRejection {
    let expected = match wait.kind {
        WaitKind::Question => "answer it",
        WaitKind::Document => "submit the file",
        WaitKind::Approval => "approve or deny it",
        WaitKind::Budget => "grant more, or deny it",
        WaitKind::Work => "submit a reply or a patch",
        WaitKind::Incident => "approve it to continue, or deny it",
    };
    InputRejection::WrongKind { wait: wait.id, kind: wait.kind.as_str(), expected }
}

/// Finds the choice that an answer names by its id, or by its label if no other choice has it.
fn find_choice<'c>(choices: &'c [AnswerChoice], answer: &str) -> Option<&'c AnswerChoice> {
    if let Some(choice) = choices.iter().find(|choice| choice.id == answer) {
        return Some(choice);
    }
    let said = answer.trim().to_lowercase();
    let mut named = choices
        .iter()
        .filter(|choice| !said.is_empty() && choice.label.trim().to_lowercase() == said);
    named.next().filter(|_| named.next().is_none())
}
