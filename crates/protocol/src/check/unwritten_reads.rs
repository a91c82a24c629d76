//! Finds expressions that read values which nothing writes.

use std::collections::BTreeSet;

use countersign_contract::expr::{ReadPath, ReadStep};
use countersign_contract::json::{self, TextSpan};
use countersign_contract::limits::MAX_DIAGNOSTICS;
use countersign_contract::source::{Diagnostic, DiagnosticCollector};
use serde_json::Value;

use super::analysis_budget::{AnalysisBudget, AnalysisBudgets};
use super::gate_analysis::{GateAnalyses, suggest_names};
use super::located_expressions::{self, LocatedExpression, STATE_SLOT, document_schema};
use super::never_taken;
use super::schema_path_view::{FieldDeclaration, SchemaPathView};
use super::standalone_workflows;
use super::written_paths::{WriteAnalysis, WrittenPaths};
use crate::{FileOrigin, GateCheck, Protocol, WorkflowDefinition, WorkflowTransition};

const CODE: &str = "reads_unwritten";

pub(super) fn check(
    protocol: &Protocol,
    openings: &GateAnalyses<'_>,
    efforts: &AnalysisBudgets,
    findings: &mut DiagnosticCollector,
) {
    let reading = WriteAnalysis::new(protocol, openings, efforts);
    let of_index = located_expressions::collect_index_expressions(protocol);
    // A read by the index, which applies to every run, is reported only if no workflow writes the
    // value.
    let mut common: Option<Vec<Diagnostic>> = None;
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        let runs = UnwrittenReadCheck::from_workflow(&reading, workflow);
        runs.check_workflow(&reading, workflow, findings);
        if common.as_ref().is_some_and(Vec::is_empty) {
            continue;
        }
        let unwritten = runs.check_reads(&of_index, &BTreeSet::new(), false);
        common = Some(match common {
            None => unwritten,
            Some(mut all) => {
                let again: BTreeSet<(TextSpan, String)> =
                    unwritten.into_iter().map(|one| (one.span, one.message)).collect();
                all.retain(|one| again.contains(&(one.span, one.message.clone())));
                all
            }
        });
    }
    findings.extend(common.unwrap_or_default());
}

/// What is known about the documents of a workflow's runs.
struct UnwrittenReadCheck<'p> {
    written: WrittenPaths<'p>,
    document: Option<SchemaPathView<'p>>,
    initial: &'p Value,
    budget: &'p AnalysisBudget,
}

impl<'p> UnwrittenReadCheck<'p> {
    fn from_workflow(reading: &WriteAnalysis<'p>, workflow: &'p WorkflowDefinition) -> Self {
        let written = WrittenPaths::from_workflow(reading, workflow);
        let document = document_schema(reading.protocol, workflow);
        let document = document.map(|schema| reading.schema_view(schema));
        let initial = &reading.protocol.document_for(workflow).initial;
        Self { written, document, initial, budget: &reading.budgets.pointers }
    }

    fn check_workflow(
        &self,
        reading: &WriteAnalysis<'p>,
        workflow: &'p WorkflowDefinition,
        findings: &mut DiagnosticCollector,
    ) {
        let idle = never_taken::find_never_taken(reading.protocol, workflow, reading.gate_analyses);
        for (index, transition) in workflow.transitions.iter().enumerate() {
            if !idle.contains(&index) {
                findings.extend(self.check_status_gate(transition));
            }
        }
        for (index, pointer) in workflow.output.iter().enumerate() {
            let origin = locate_output(workflow, index);
            findings.extend(self.check_output(pointer, &origin, findings.is_full(CODE)));
        }
        let written = located_expressions::collect_workflow_expressions(reading.protocol, workflow);
        findings.extend(self.check_reads(&written, &idle, findings.is_full(CODE)));
    }

    /// Reports reads of values that runs of a workflow never have. Beyond the limit of listed
    /// findings, the messages are left empty.
    fn check_reads(
        &self,
        expressions: &[LocatedExpression<'_>],
        idle: &BTreeSet<usize>,
        is_full: bool,
    ) -> Vec<Diagnostic> {
        let mut findings: Vec<Diagnostic> = Vec::new();
        for written in expressions {
            // Transitions that are never taken have been reported already.
            if written.transition.is_some_and(|transition| idle.contains(&transition)) {
                continue;
            }
            let mut reported: Vec<&[ReadStep]> = Vec::new();
            for read in written.expr.read_paths().iter().filter(|read| read.slot == STATE_SLOT) {
                if reported.iter().any(|before| read.steps.starts_with(before)) {
                    continue;
                }
                let brief = is_full || findings.len() >= MAX_DIAGNOSTICS;
                let finding = self
                    .check_forbidden(written, read, brief)
                    .or_else(|| self.check_unwritten(written, read, brief));
                if let Some(finding) = finding {
                    if reported.len() < MAX_DIAGNOSTICS {
                        reported.push(&read.steps);
                    }
                    findings.push(finding);
                }
            }
        }
        findings
    }

    fn check_forbidden(
        &self,
        written: &LocatedExpression<'_>,
        read: &ReadPath,
        brief: bool,
    ) -> Option<Diagnostic> {
        let declaration = self.document?.classify_path(&read.steps);
        let FieldDeclaration::Forbidden(index, names) = declaration else { return None };
        let ReadStep::Field(name) = &read.steps[index] else { return None };
        if brief {
            return Some(written.origin.diagnose(CODE, ""));
        }
        let path = &written.expr.source()[read.span.clone()];
        let fault = written.diagnose_span(CODE, describe_never_present(path, name), &read.span);
        Some(fault.with_hint(suggest_names(name, &names)))
    }

    fn check_unwritten(
        &self,
        written: &LocatedExpression<'_>,
        read: &ReadPath,
        brief: bool,
    ) -> Option<Diagnostic> {
        if self.is_written(&read.steps) {
            return None;
        }
        if brief {
            return Some(written.origin.diagnose(CODE, "").into_warning());
        }
        let fault = written.diagnose_span(CODE, describe_unwritten(&read.to_string()), &read.span);
        Some(fault.into_warning().with_hint(Some(HINT.to_owned())))
    }

    /// Checks the field of a status gate in the same way. If the contract forbids the field, the
    /// gate never opens, which is reported elsewhere.
    fn check_status_gate(&self, transition: &WorkflowTransition) -> Option<Diagnostic> {
        let Some(GateCheck::Status { pointer, .. }) =
            transition.gate.as_ref().map(|gate| &gate.check)
        else {
            return None;
        };
        if self.is_written(&parse_read_steps(pointer)) {
            return None;
        }
        let origin = transition.origin.child("gate").child("field");
        let fault = origin.diagnose(CODE, describe_unwritten(pointer));
        Some(fault.into_warning().with_hint(Some(HINT.to_owned())))
    }

    /// Checks a pointer of `output` in the same way; it would be empty at every end.
    fn check_output(&self, pointer: &str, origin: &FileOrigin, brief: bool) -> Option<Diagnostic> {
        let steps = parse_read_steps(pointer);
        if let Some(FieldDeclaration::Forbidden(index, names)) =
            self.document.map(|view| view.classify_path(&steps))
            && let ReadStep::Field(name) = &steps[index]
        {
            let fault = origin.diagnose(CODE, describe_never_present(pointer, name));
            let hint = if brief { None } else { suggest_names(name, &names) };
            return Some(fault.with_hint(hint));
        }
        if self.is_written(&steps) {
            return None;
        }
        let fault = origin.diagnose(CODE, describe_unwritten(pointer));
        Some(fault.into_warning().with_hint(Some(HINT.to_owned())))
    }

    fn is_written(&self, steps: &[ReadStep]) -> bool {
        steps.is_empty()
            || self.written.may_write(steps)
            || self.has_value_at(self.initial, steps)
            || self.document.is_some_and(|view| view.is_required(steps))
    }

    /// Whether a document has a value at a path. Returns true for an empty list, about whose items
    /// nothing is known, and when the budget is spent.
    fn has_value_at(&self, value: &Value, steps: &[ReadStep]) -> bool {
        let Some((step, rest)) = steps.split_first() else { return true };
        if !self.budget.spend(1) {
            return true;
        }
        match (step, value) {
            (ReadStep::Field(name), Value::Object(members)) => {
                members.get(name).is_some_and(|member| self.has_value_at(member, rest))
            }
            (ReadStep::Element, Value::Array(items)) => {
                items.is_empty() || items.iter().any(|item| self.has_value_at(item, rest))
            }
            (ReadStep::Element, Value::Object(members)) => {
                members.is_empty() || members.values().any(|member| self.has_value_at(member, rest))
            }
            _ => false,
        }
    }
}

/// The location of a pointer of `output`: the whole section if that is a text.
fn locate_output(workflow: &WorkflowDefinition, index: usize) -> FileOrigin {
    let section = workflow.setting_origin("output");
    match section.tree.value.pointer(&section.pointer) {
        Some(Value::String(_)) => section,
        _ => section.child(&index.to_string()),
    }
}

/// Converts a pointer to steps of a path; numbers become elements.
fn parse_read_steps(pointer: &str) -> Vec<ReadStep> {
    let step = |name: std::borrow::Cow<'_, str>| match name.parse::<usize>() {
        Ok(_) => ReadStep::Element,
        Err(_) => ReadStep::Field(name.into_owned()),
    };
    json::split_pointer(pointer).map(step).collect()
}

const HINT: &str = "write it with `apply`, add it to `document.initial`, or read another field";

fn describe_never_present(path: &str, name: &str) -> String {
    format!("`{path}` never exists: the contract of the document has no `{name}` at this location")
}

fn describe_unwritten(pointer: &str) -> String {
    format!(
        "nothing writes `{pointer}`: neither the initial document nor any phase, hook or answer of this workflow"
    )
}
