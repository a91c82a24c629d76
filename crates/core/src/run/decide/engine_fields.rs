//! The engine's own places in the document, brought up to date at the end of every decision.

use std::collections::BTreeSet;

use serde_json::Value;

use super::DecisionOutcome;
use super::effects::describe_first_violation;
use super::phases::validate_document;
use super::run_decision::RunDecision;
use super::size_limits::SizeLimitExceeded;
use crate::reply::RuleContext;
use crate::run::event::RunEvent;
use crate::run::state::RunEndKind;

impl RunDecision<'_> {
    /// Ends the decision, with the files that it asked for; or tells what cannot be recorded of it.
    pub(super) fn finish(self) -> Result<(DecisionOutcome, BTreeSet<String>), SizeLimitExceeded> {
        let unseen = self.unchecked_files.take();
        if let Some(over) = self.limit_exceeded {
            return Err(over);
        }
        let (step, over) = self.finish_with_engine_fields();
        over.map_or(Ok((step, unseen)), Err)
    }

    /// Ends the run, because nothing else that follows from the input can be recorded.
    pub(super) fn fail_oversize(mut self, over: &SizeLimitExceeded) -> DecisionOutcome {
        if self.state.end.is_none() {
            self.end_run(
                RunEndKind::Failed,
                Some(format!("what follows cannot be recorded: {over}")),
            );
        }
        DecisionOutcome { events: self.events, state: self.state }
    }

    /// Stamps the document and ends the decision. A document that the engine's own values would
    /// break is a fault of the protocol: the run fails rather than go on with it.
    fn finish_with_engine_fields(mut self) -> (DecisionOutcome, Option<SizeLimitExceeded>) {
        if let Err(what) = self.update_engine_fields() {
            // A run that had reached its end did so with a document it must not have.
            if !matches!(self.state.end, Some((RunEndKind::Failed | RunEndKind::Cancelled, _))) {
                self.end_run(RunEndKind::Failed, Some(what));
            }
            self.update_fitting_fields();
        }
        (DecisionOutcome { events: self.events, state: self.state }, self.limit_exceeded)
    }

    /// Stamps what a phase that was entered changes, so that its gates, questions and effects read it.
    /// What follows from the whole decision waits for its end.
    pub(super) fn update_phase_fields(&mut self) {
        const UPDATED_AT_END: [&str; 3] = ["status", "version", "updated_at"];
        if self.document_definition().engine.is_empty() {
            return;
        }
        let run = self.run_value();
        let mut places = self.compute_engine_fields(&run);
        places.retain(|(at, _)| {
            let place = self.document_definition().engine.iter().find(|place| place.at == *at);
            place.is_some_and(|place| !UPDATED_AT_END.contains(&place.name.as_str()))
        });
        if !places.is_empty() {
            // A first document may need all of them. What cannot be written now is told at the end.
            let _ = self.write_engine_fields(places, &run).or_else(|_| self.update_engine_fields());
        }
    }

    /// Stamps, unless that would break the document's contract.
    fn update_engine_fields(&mut self) -> Result<(), String> {
        if self.document_definition().engine.is_empty() {
            return Ok(());
        }
        let run = self.run_value();
        let places = self.compute_engine_fields(&run);
        if places.is_empty() { Ok(()) } else { self.write_engine_fields(places, &run) }
    }

    fn write_engine_fields(
        &mut self,
        places: Vec<(String, Value)>,
        run: &Value,
    ) -> Result<(), String> {
        self.emit(RunEvent::Stamped { places });
        let Some(contract) = &self.document_definition().contract else { return Ok(()) };
        let document = &*self.state.document;
        let context = RuleContext { state: Some(document), run: Some(run), new: Some(document) };
        let violations = validate_document(contract, document, &context);
        if violations.is_empty() {
            return Ok(());
        }
        self.retract_last_event();
        Err(format!(
            "the engine's places in the document break its contract `{}`: {}",
            contract.id,
            describe_first_violation(&violations)
        ))
    }

    /// Stamps the places that keep the document whole; the others keep what they said before.
    fn update_fitting_fields(&mut self) {
        if self.update_engine_fields().is_ok() {
            return;
        }
        let run = self.run_value();
        for place in self.compute_engine_fields(&run) {
            let _ = self.write_engine_fields(vec![place], &run);
        }
    }

    fn compute_engine_fields(&self, run: &Value) -> Vec<(String, Value)> {
        let document = &*self.state.document;
        let roots = [Some(document), Some(run)];
        let mut places: Vec<(String, Value)> = Vec::new();
        for place in &self.document_definition().engine {
            // A place whose expression cannot be decided keeps its value.
            let Ok(value) = place.value.eval(&roots) else { continue };
            let Some(value) = value.to_json() else { continue };
            if document.pointer(&place.at) != Some(&value) {
                places.push((place.at.clone(), value));
            }
        }
        places
    }
}
