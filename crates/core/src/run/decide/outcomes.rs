//! Outcomes: what went wrong for good, what the author has written then, and where the run goes.

use serde_json::{Value, json};

use super::deciding::Deciding;
use super::effects::first;
use super::writing::Beside;
use crate::protocol::{Otherwise, Outcome};
use crate::reply::Violation;

/// What went wrong, as the changes of an outcome read it.
pub(super) struct Failure {
    code: String,
    message: String,
    violations: Vec<Violation>,
}

impl Failure {
    /// Something outside, or a limit, said no.
    pub(super) fn new(code: &str, message: &str) -> Self {
        let (code, message) = (code.to_owned(), message.to_owned());
        Self { code, message, violations: Vec::new() }
    }

    /// A contract said no; the first violation gives the code.
    pub(super) fn refused(violations: &[Violation], message: &str) -> Self {
        let code =
            violations.first().map_or_else(|| "refused".to_owned(), |one| one.code.to_string());
        Self { code, message: message.to_owned(), violations: violations.to_vec() }
    }

    /// A sentence.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// The value of the name `failure`.
    fn value(&self) -> Value {
        let mut value = json!({ "code": self.code, "message": self.message });
        if !self.violations.is_empty() {
            let told = self.violations.iter().map(|one| {
                json!({ "code": one.code.to_string(), "at": one.pointer, "message": one.message })
            });
            value["violations"] = Value::Array(told.collect());
        }
        value
    }
}

impl Deciding<'_> {
    /// Makes the changes of an outcome, and tells where the run goes and in which sentence. Changes that do
    /// not fit are told too, and a person must look, unless the run fails anyway.
    pub(super) fn settled(
        &mut self,
        outcome: &Outcome,
        failure: &Failure,
        beside: &Beside,
        what: String,
    ) -> (Otherwise, String) {
        if outcome.apply.is_empty() {
            return (outcome.then.clone(), what);
        }
        let failure = failure.value();
        let others: Vec<_> = [Some(&failure)].into_iter().chain(beside.roots()).collect();
        match self.written_by_author(&outcome.apply, &others) {
            Ok(written) => {
                self.change(written);
                (outcome.then.clone(), what)
            }
            Err(violations) => {
                let what = format!(
                    "{what}. What the protocol writes then does not fit: {}",
                    first(&violations)
                );
                let fails = outcome.then == Otherwise::Fail;
                (if fails { Otherwise::Fail } else { Otherwise::Wait }, what)
            }
        }
    }
}
