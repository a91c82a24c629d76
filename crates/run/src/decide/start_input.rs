//! The document and input of a new run: builds the first document, validates the input against the
//! workflow's `input`, and makes its changes, which are the first changes of the run.

use countersign_contract::reply::{AdmissionVerdict, RuleContext, Violation, format_value};
use countersign_protocol::is_behind_approval;
use serde_json::Value;

use super::document_update::merge_into_copy;
use super::run_decision::RunDecision;
use crate::InputRejection;
use crate::input::RunStart;

impl RunDecision<'_> {
    /// Rejects a start in a phase that a run only gets to by an approval, unless it is a fork of a
    /// run whose approval opened the same gate: nobody would have signed what this one does.
    pub(super) fn check_start_approval(
        &self,
        start: &RunStart,
        first: &str,
    ) -> Result<(), InputRejection> {
        let signed = start.fork.as_ref().is_some_and(|fork| !fork.other_protocol);
        if start.phase.is_none()
            || signed
            || !is_behind_approval(self.protocol, self.workflow, first)
        {
            return Ok(());
        }
        let reason = format!(
            "phase `{first}` is entered only by an approval, and nobody approved anything in this run; start before the approval"
        );
        Err(cannot_start(reason, Vec::new()))
    }

    /// Builds the first document of a run, before the declared input of its workflow changes it.
    pub(super) fn build_first_document(&self, start: &RunStart) -> Result<Value, InputRejection> {
        let spec = self.document_definition();
        let mut document = match (&start.document, &start.phase) {
            (Some(whole), Some(_)) => whole.clone(),
            (Some(partial), None) => merge_into_copy(&spec.initial, partial),
            (None, _) => spec.initial.clone(),
        };
        match (&start.input, &self.workflow.input) {
            (Some(_), _) if start.phase.is_some() => {
                return Err(cannot_start(
                    "a run that starts in a named phase takes no input",
                    Vec::new(),
                ));
            }
            (Some(fields @ Value::Object(_)), None) => {
                document = merge_into_copy(&document, fields);
            }
            (Some(other), None) => {
                let id = &self.workflow.id;
                let reason = format!(
                    "workflow `{id}` declares no `input`, so the input must be an object, which is merged into the document; found {}",
                    format_value(other)
                );
                return Err(cannot_start(reason, Vec::new()));
            }
            (Some(_), Some(_)) | (None, _) => {}
        }
        if !document.is_object() {
            return Err(cannot_start("the document must be an object", Vec::new()));
        }
        if let Some(contract) = &spec.contract {
            contract.schema.fill_defaults(&mut document);
        }
        Ok(document)
    }

    /// Admits the input that the workflow declares and makes its changes. The caller validates the
    /// whole document afterwards.
    pub(super) fn apply_start_input(&mut self, start: &RunStart) -> Result<(), InputRejection> {
        let (Some(value), Some(input)) = (&start.input, &self.workflow.input) else {
            return Ok(());
        };
        let run = self.run_value();
        let context = RuleContext { state: Some(&self.state.document), run: Some(&run), new: None };
        let accepted = match input.answer.admit_value(value, &context) {
            AdmissionVerdict::Accepted(accepted) => accepted,
            AdmissionVerdict::Refused(violations) => {
                return Err(cannot_start("its input was refused", violations));
            }
        };
        let update = self.build_input_update(&input.apply, &accepted, &input.answer);
        let update =
            update.map_err(|violations| cannot_start("its input cannot be applied", violations))?;
        self.record_update(update);
        Ok(())
    }
}

/// Rejects a start input with a reason and the violations that caused it.
pub(super) fn cannot_start(
    reason: impl Into<String>,
    violations: Vec<Violation>,
) -> InputRejection {
    InputRejection::CannotStart { reason: reason.into(), violations }
}
