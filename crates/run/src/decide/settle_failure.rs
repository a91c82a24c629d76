//! Applies the failure handlers of a protocol: makes their changes to the document, and returns the
//! failure policy that decides where the run continues.

use countersign_contract::reply::Violation;
use countersign_protocol::{FailureHandler, FailurePolicy};
use serde_json::{Value, json};

use super::document_update::ChangeScope;
use super::effects::describe_first_violation;
use super::run_decision::RunDecision;

/// A final failure, as the changes of a failure handler read it under the name `failure`.
pub(super) struct PhaseFailure {
    code: String,
    message: String,
    violations: Vec<Violation>,
}

impl PhaseFailure {
    /// Creates a failure that was caused from outside or by a limit.
    pub(super) fn new(code: &str, message: &str) -> Self {
        let (code, message) = (code.to_owned(), message.to_owned());
        Self { code, message, violations: Vec::new() }
    }

    /// Creates a failure from the violations of a contract; the first one gives the code.
    pub(super) fn from_violations(violations: &[Violation], message: &str) -> Self {
        let code =
            violations.first().map_or_else(|| "refused".to_owned(), |one| one.code.to_string());
        Self { code, message: message.to_owned(), violations: violations.to_vec() }
    }

    /// A sentence that describes the failure.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// The value of the name `failure` in expressions.
    fn to_value(&self) -> Value {
        let mut value = json!({ "code": self.code, "message": self.message });
        if !self.violations.is_empty() {
            let violations = self.violations.iter().map(|one| {
                json!({ "code": one.code.to_string(), "pointer": one.pointer, "message": one.message })
            });
            value["violations"] = Value::Array(violations.collect());
        }
        value
    }
}

impl RunDecision<'_> {
    /// Makes the changes of a failure handler, and returns the policy and the message to continue
    /// with. If the changes are refused, the message says so and the policy becomes `Wait`, unless
    /// it is `Fail`.
    pub(super) fn settle_failure(
        &mut self,
        outcome: &FailureHandler,
        failure: &PhaseFailure,
        scope: &ChangeScope,
        message: String,
    ) -> (FailurePolicy, String) {
        if outcome.apply.is_empty() {
            return (outcome.then.clone(), message);
        }
        let failure = failure.to_value();
        let others: Vec<_> = [Some(&failure)].into_iter().chain(scope.expression_roots()).collect();
        match self.build_author_update(&outcome.apply, &others) {
            Ok(update) => {
                self.record_update(update);
                (outcome.then.clone(), message)
            }
            Err(violations) => {
                let message = format!(
                    "{message}. The changes that the protocol makes on this failure were refused: {}",
                    describe_first_violation(&violations)
                );
                let fails = outcome.then == FailurePolicy::Fail;
                (if fails { FailurePolicy::Fail } else { FailurePolicy::Wait }, message)
            }
        }
    }
}
