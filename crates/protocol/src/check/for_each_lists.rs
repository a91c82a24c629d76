//! Reports work that is repeated for each item of a value that is never a list.

use countersign_contract::expr::PlainValue;
use countersign_contract::source::Diagnostic;

use super::analysis_budget::AnalysisBudget;
use super::gate_analysis::possible_document_values;
use super::located_expressions::document_schema;
use super::schema_path_view::SchemaPathView;
use super::standalone_workflows;
use crate::{FileOrigin, ForEachItems, PhaseWork, Protocol, WorkflowPhase};

pub(super) fn check(protocol: &Protocol, effort: &AnalysisBudget) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        let document = document_schema(protocol, workflow);
        let document = document.map(|schema| SchemaPathView::with_budget(schema, effort));
        for phase in &workflow.phases {
            let all = collect_for_each(phase);
            findings
                .extend(all.iter().filter_map(|(each, at)| check_yields_list(each, at, document)));
        }
    }
    findings
}

fn collect_for_each(phase: &WorkflowPhase) -> Vec<(&ForEachItems, FileOrigin)> {
    match &phase.work {
        PhaseWork::None | PhaseWork::Agent(_) => Vec::new(),
        PhaseWork::Effect { for_each: each, .. } => {
            each.iter().map(|each| (each, phase.origin.child("do"))).collect()
        }
        PhaseWork::Invoke(invoke) => {
            let each = invoke.fan_out.iter().map(|several| &several.for_each);
            each.map(|each| (each, phase.origin.child("invoke"))).collect()
        }
        PhaseWork::Ask(questions) => {
            let ask = phase.origin.child("ask");
            let listed =
                ask.tree.value.pointer(&ask.pointer).is_some_and(serde_json::Value::is_array);
            let location = |index: usize| {
                if listed { ask.child(&index.to_string()) } else { ask.clone() }
            };
            let each = questions.iter().enumerate();
            each.filter_map(|(index, one)| Some((&one.for_each.as_ref()?.0, location(index))))
                .collect()
        }
    }
}

fn check_yields_list(
    each: &ForEachItems,
    owner: &FileOrigin,
    document: Option<SchemaPathView<'_>>,
) -> Option<Diagnostic> {
    let may =
        each.items.analyze(&|slot, steps| possible_document_values(document, slot, steps)).value;
    if may.list_lengths.is_some() || may.is_never() {
        return None;
    }
    let found = may.without_plain(&[PlainValue::Undefined]);
    let source = each.items.source().trim();
    let message = if found.is_never() {
        format!("`{source}` never exists, but `each` needs a list")
    } else {
        format!("`{source}` is {found}, but `each` needs a list")
    };
    let hint = "use a list of the document, or build one: `[a, b]`, `Object.values(state.table)`";
    let fault = owner.child("each").diagnose("each_never_a_list", message);
    Some(fault.with_hint(Some(hint.to_owned())))
}
