//! What a run is started with: held against the workflow's `input`, and the first thing that changes the document.

use serde_json::Value;

use super::deciding::Deciding;
use super::writing::merged;
use crate::reply::{Context, Verdict, Violation, show};
use crate::run::Rejection;
use crate::run::input::Start;

impl Deciding<'_> {
    /// The document a run begins with, before an input that its workflow describes has changed it.
    pub(super) fn first_document(&self, start: &Start) -> Result<Value, Rejection> {
        let spec = self.spec();
        let mut document = match (&start.document, &start.phase) {
            (Some(whole), Some(_)) => whole.clone(),
            (Some(given), None) => merged(&spec.initial, given),
            (None, _) => spec.initial.clone(),
        };
        match (&start.input, &self.workflow.input) {
            (Some(_), _) if start.phase.is_some() => {
                return Err(cannot("a run that begins in a phase takes no input", Vec::new()));
            }
            (Some(given @ Value::Object(_)), None) => document = merged(&document, given),
            (Some(other), None) => {
                let id = &self.workflow.id;
                let reason = format!(
                    "workflow `{id}` has no `input`, so only an object can be given, which is merged into the document; found {}",
                    show(other)
                );
                return Err(cannot(reason, Vec::new()));
            }
            (Some(_), Some(_)) | (None, _) => {}
        }
        if !document.is_object() {
            return Err(cannot("the document must be an object", Vec::new()));
        }
        if let Some(contract) = &spec.contract {
            contract.schema.fill(&mut document);
        }
        Ok(document)
    }

    /// Takes the input that the workflow describes. The document as a whole is asked about afterwards.
    pub(super) fn take_input(&mut self, start: &Start) -> Result<(), Rejection> {
        let (Some(given), Some(input)) = (&start.input, &self.workflow.input) else {
            return Ok(());
        };
        let run = self.run();
        let context = Context { state: Some(&self.state.document), run: Some(&run), new: None };
        let accepted = match input.answer.admit_value(given, &context) {
            Verdict::Accepted(accepted) => accepted,
            Verdict::Refused(violations) => {
                return Err(cannot("its input does not fit", violations));
            }
        };
        let written = self.written_from_input(&input.apply, &accepted, &input.answer);
        let written =
            written.map_err(|violations| cannot("its input cannot be written", violations))?;
        self.change(written);
        Ok(())
    }
}

/// Why a run cannot begin.
pub(super) fn cannot(reason: impl Into<String>, violations: Vec<Violation>) -> Rejection {
    Rejection::CannotStart { reason: reason.into(), violations }
}
