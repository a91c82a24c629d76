//! Updates the engine-owned fields of the document when the run enters a phase and at the end of
//! every decision, and ends the decision.

use countersign_contract::reply::RuleContext;
use serde_json::Value;

use super::effects::describe_first_violation;
use super::phases::validate_document;
use super::run_decision::RunDecision;
use super::size_limits::SizeLimitExceeded;
use super::{DecisionOutcome, MissingFileFacts};
use crate::clean_title;
use crate::event::RunEvent;
use crate::state::RunEndKind;

impl RunDecision<'_> {
    /// Ends the decision and returns its outcome with the file facts that the input lacks, or the
    /// size limit that it exceeds.
    pub(super) fn finish(
        mut self,
    ) -> Result<(DecisionOutcome, MissingFileFacts), SizeLimitExceeded> {
        self.supersede_changed_approvals();
        self.close_orphaned_call_waits();
        let unseen = MissingFileFacts {
            unchecked: self.unchecked_files.take(),
            undigested: self.undigested_files.take(),
        };
        if let Some(over) = self.limit_exceeded {
            return Err(over);
        }
        let (step, over) = self.finish_with_engine_fields();
        over.map_or(Ok((step, unseen)), Err)
    }

    /// Fails the run, because no outcome of the input can be recorded.
    pub(super) fn fail_oversize(mut self, over: &SizeLimitExceeded) -> DecisionOutcome {
        if self.state.end.is_none() {
            self.end_run(
                RunEndKind::Failed,
                Some(format!("the result cannot be recorded: {over}")),
            );
        }
        self.request_deliveries();
        DecisionOutcome { events: self.events, state: self.state }
    }

    /// Updates the engine-owned fields and ends the decision. If the values break the contract of
    /// the document, the protocol is at fault and the run fails.
    fn finish_with_engine_fields(mut self) -> (DecisionOutcome, Option<SizeLimitExceeded>) {
        if let Err(message) = self.update_engine_fields() {
            // A completed run fails too, because its final document breaks the contract.
            if !matches!(self.state.end, Some((RunEndKind::Failed | RunEndKind::Cancelled, _))) {
                self.end_run(RunEndKind::Failed, Some(message));
            }
            self.update_fitting_fields();
        }
        self.update_title();
        self.request_deliveries();
        (DecisionOutcome { events: self.events, state: self.state }, self.limit_exceeded)
    }

    /// Renders the `title` of the workflow, and emits it if it changed. A title that cannot be
    /// rendered, or is blank, keeps the last one.
    fn update_title(&mut self) {
        let Some(title) = &self.workflow.title else { return };
        let run = self.run_value();
        let template = title.version_for(self.resolve_language().as_deref());
        let Ok(text) = template.render(&[Some(&self.state.document), Some(&run)]) else { return };
        let title = clean_title(&text);
        if !title.is_empty() && title != self.state.title {
            self.emit(RunEvent::TitleChanged { title });
        }
    }

    /// Updates the fields that entering a phase changes, so that its gates, questions and effects
    /// read the new values. `status`, `version` and `updated_at` wait for the end of the decision.
    pub(super) fn update_phase_fields(&mut self) {
        const UPDATED_AT_END: [&str; 3] = ["status", "version", "updated_at"];
        if self.document_definition().engine.is_empty() {
            return;
        }
        let run = self.run_value();
        let mut fields = self.compute_engine_fields(&run);
        fields.retain(|(at, _)| {
            let field = self.document_definition().engine.iter().find(|field| field.pointer == *at);
            field.is_some_and(|field| !UPDATED_AT_END.contains(&field.name.as_str()))
        });
        if !fields.is_empty() {
            // A first document may need all of them. An error is reported at the end.
            let _ = self.write_engine_fields(fields, &run).or_else(|_| self.update_engine_fields());
        }
    }

    /// Updates all engine-owned fields, unless that would break the contract of the document.
    fn update_engine_fields(&mut self) -> Result<(), String> {
        if self.document_definition().engine.is_empty() {
            return Ok(());
        }
        let run = self.run_value();
        let fields = self.compute_engine_fields(&run);
        if fields.is_empty() { Ok(()) } else { self.write_engine_fields(fields, &run) }
    }

    fn write_engine_fields(
        &mut self,
        fields: Vec<(String, Value)>,
        run: &Value,
    ) -> Result<(), String> {
        self.emit(RunEvent::EngineFieldsUpdated { fields });
        let Some(contract) = &self.document_definition().contract else { return Ok(()) };
        let document = &*self.state.document;
        let context = RuleContext { state: Some(document), run: Some(run), new: Some(document) };
        let violations = validate_document(contract, document, &context);
        if violations.is_empty() {
            return Ok(());
        }
        self.retract_last_event();
        Err(format!(
            "the engine-owned fields break the contract `{}` of the document: {}",
            contract.id,
            describe_first_violation(&violations)
        ))
    }

    /// Updates each field that keeps the document valid; the others keep their previous values.
    fn update_fitting_fields(&mut self) {
        if self.update_engine_fields().is_ok() {
            return;
        }
        let run = self.run_value();
        for field in self.compute_engine_fields(&run) {
            let _ = self.write_engine_fields(vec![field], &run);
        }
    }

    fn compute_engine_fields(&self, run: &Value) -> Vec<(String, Value)> {
        let document = &*self.state.document;
        let roots = [Some(document), Some(run)];
        let mut fields: Vec<(String, Value)> = Vec::new();
        for field in &self.document_definition().engine {
            // A field whose expression cannot be evaluated keeps its value.
            let Ok(value) = field.value.eval(&roots) else { continue };
            let Some(value) = value.to_json() else { continue };
            if document.pointer(&field.pointer) != Some(&value) {
                fields.push((field.pointer.clone(), value));
            }
        }
        fields
    }
}
