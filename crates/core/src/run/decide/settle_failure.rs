//! Outcomes: what went wrong for good, what the author has written then, and where the run goes.

use serde_json::{Value, json};

use super::document_update::ChangeScope;
use super::effects::describe_first_violation;
use super::run_decision::RunDecision;
use crate::protocol::{FailureHandler, FailurePolicy};
use crate::reply::Violation;

/// What went wrong, as the changes of an outcome read it.
pub(super) struct PhaseFailure {
    code: String,
    message: String,
    violations: Vec<Violation>,
}

impl PhaseFailure {
    /// Something outside, or a limit, said no.
    pub(super) fn new(code: &str, message: &str) -> Self {
        let (code, message) = (code.to_owned(), message.to_owned());
        Self { code, message, violations: Vec::new() }
    }

    /// A contract said no; the first violation gives the code.
    pub(super) fn from_violations(violations: &[Violation], message: &str) -> Self {
        let code =
            violations.first().map_or_else(|| "refused".to_owned(), |one| one.code.to_string());
        Self { code, message: message.to_owned(), violations: violations.to_vec() }
    }

    /// A sentence.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// The value of the name `failure`.
    fn to_value(&self) -> Value {
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

impl RunDecision<'_> {
    /// Makes the changes of an outcome, and tells where the run goes and in which sentence. Changes that do
    /// not fit are told too, and a person must look, unless the run fails anyway.
    pub(super) fn settle_failure(
        &mut self,
        outcome: &FailureHandler,
        failure: &PhaseFailure,
        beside: &ChangeScope,
        what: String,
    ) -> (FailurePolicy, String) {
        if outcome.apply.is_empty() {
            return (outcome.then.clone(), what);
        }
        let failure = failure.to_value();
        let others: Vec<_> =
            [Some(&failure)].into_iter().chain(beside.expression_roots()).collect();
        match self.build_author_update(&outcome.apply, &others) {
            Ok(written) => {
                self.record_update(written);
                (outcome.then.clone(), what)
            }
            Err(violations) => {
                let what = format!(
                    "{what}. What the protocol writes then does not fit: {}",
                    describe_first_violation(&violations)
                );
                let fails = outcome.then == FailurePolicy::Fail;
                (if fails { FailurePolicy::Fail } else { FailurePolicy::Wait }, what)
            }
        }
    }
}
