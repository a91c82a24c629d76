//! Finds transitions of equal priority that can be open at once: then the order in the file decides
//! silently.

use countersign_contract::reply::format_value;
use countersign_contract::source::Diagnostic;
use serde_json::{Map, Value};

use super::analysis_budget::AnalysisBudget;
use super::gate_analysis::GateAnalyses;
use super::located_expressions::gate_origin;
use super::overlap_search::{OverlapSearch, TestableGate};
use super::standalone_workflows;
use crate::{GateCheck, Protocol, WorkflowDefinition, WorkflowTransition};

pub(super) fn check(
    protocol: &Protocol,
    openings: &GateAnalyses<'_>,
    effort: &AnalysisBudget,
) -> Vec<Diagnostic> {
    let mut search = OverlapSearch::new(protocol, effort);
    let mut findings = Vec::new();
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        search.set_document(protocol.document_for(workflow));
        for phase in workflow.phases.iter().filter(|phase| !phase.terminal) {
            let transitions = workflow.transitions_from(&phase.id);
            let gates: Vec<(&WorkflowTransition, TestableGate<'_>)> = transitions
                .into_iter()
                .filter(|(index, _)| {
                    !openings.never_opens(&workflow.id, *index)
                        && !openings.always_opens(&workflow.id, *index)
                })
                .filter_map(|(_, transition)| Some((transition, to_testable_gate(transition)?)))
                .collect();
            check_phase(&mut search, workflow, &gates, &mut findings);
        }
    }
    findings
}

fn to_testable_gate(transition: &WorkflowTransition) -> Option<TestableGate<'_>> {
    match &transition.gate.as_ref()?.check {
        GateCheck::Expression(expr) => Some(TestableGate::Expression(expr)),
        GateCheck::Status { pointer, value } => Some(TestableGate::Status { pointer, value }),
        GateCheck::FileExists { .. }
        | GateCheck::FileExistsTemplate { .. }
        | GateCheck::Manual { .. } => None,
    }
}

fn check_phase(
    search: &mut OverlapSearch<'_>,
    workflow: &WorkflowDefinition,
    gates: &[(&WorkflowTransition, TestableGate<'_>)],
    findings: &mut Vec<Diagnostic>,
) {
    for (index, (later, second)) in gates.iter().enumerate() {
        let overlap = gates[..index].iter().find_map(|(earlier, first)| {
            if !search.budget.spend(1) {
                return None;
            }
            let plain = earlier.apply.is_empty()
                && later.apply.is_empty()
                && earlier.issues == later.issues;
            let same = earlier.to == later.to && earlier.spends == later.spends && plain;
            if earlier.priority != later.priority || same {
                return None;
            }
            let witness = search.find_common_document(workflow, &later.from, first, second)?;
            Some((earlier, first, witness))
        });
        if search.budget.is_spent() {
            return;
        }
        let Some((earlier, first, witness)) = overlap else { continue };
        let message = format!(
            "the transitions from `{}` to `{}` and to `{}` have the same priority and can both be open: {}",
            later.from,
            earlier.to,
            later.to,
            describe_witness(&witness, first, second)
        );
        let hint = format!(
            "the run would take the one to `{}`, because it is listed first; set `priority`, or close one gate where the other is open",
            earlier.to
        );
        let origin = gate_origin(&later.origin);
        let fault = origin.diagnose("overlapping_gates", message);
        findings.push(fault.into_warning().with_hint(Some(hint)));
    }
}

/// Describes the part of the witness that the two gates read.
fn describe_witness(
    witness: &Value,
    first: &TestableGate<'_>,
    second: &TestableGate<'_>,
) -> String {
    let mut read: Vec<String> = first.top_level_fields();
    read.extend(second.top_level_fields());
    let mut parts = Map::new();
    for name in read {
        if let Some(value) = witness.get(&name) {
            parts.insert(name, value.clone());
        }
    }
    if parts.is_empty() {
        return "with any document".to_owned();
    }
    let assignments: Vec<String> =
        parts.iter().map(|(name, value)| format!("`{name}` = {}", format_value(value))).collect();
    format!("with {}", assignments.join(", "))
}
