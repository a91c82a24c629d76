//! Work for each item of what is never a list.

use super::effort::Effort;
use super::opening::of_document;
use super::view::View;
use super::whole;
use super::written::document_schema;
use crate::expr::Plain;
use crate::protocol::{Each, Origin, Phase, Protocol, Work};
use crate::spec::Diagnostic;

pub(super) fn check(protocol: &Protocol, effort: &Effort) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in whole::workflows(protocol) {
        let document = document_schema(protocol, workflow);
        let document = document.map(|schema| View::with_effort(schema, effort));
        for phase in &workflow.phases {
            let all = of_phase(phase);
            findings.extend(all.iter().filter_map(|(each, at)| never_a_list(each, at, document)));
        }
    }
    findings
}

fn of_phase(phase: &Phase) -> Vec<(&Each, Origin)> {
    match &phase.work {
        Work::None | Work::Agent(_) => Vec::new(),
        Work::Effect { each, .. } => {
            each.iter().map(|each| (each, phase.origin.child("do"))).collect()
        }
        Work::Invoke(invoke) => {
            let each = invoke.each.iter().map(|several| &several.each);
            each.map(|each| (each, phase.origin.child("invoke"))).collect()
        }
        Work::Ask(questions) => {
            let ask = phase.origin.child("ask");
            let listed =
                ask.tree.value.pointer(&ask.pointer).is_some_and(serde_json::Value::is_array);
            let place = |index: usize| {
                if listed { ask.child(&index.to_string()) } else { ask.clone() }
            };
            let each = questions.iter().enumerate();
            each.filter_map(|(index, one)| Some((&one.each.as_ref()?.0, place(index)))).collect()
        }
    }
}

fn never_a_list(each: &Each, owner: &Origin, document: Option<View<'_>>) -> Option<Diagnostic> {
    let may = each.items.outlook(&|slot, steps| of_document(document, slot, steps)).may;
    if may.lists.is_some() || may.is_never() {
        return None;
    }
    let found = may.without(&[Plain::Undefined]);
    let source = each.items.source().trim();
    let message = if found.is_never() {
        format!("`{source}` is never there, and `each` takes a list")
    } else {
        format!("`{source}` is {found}, and `each` takes a list")
    };
    let hint = "name a list of the document, or make one: `[a, b]`, `Object.values(state.table)`";
    let fault = owner.child("each").fault("each_never_a_list", message);
    Some(fault.hinting(Some(hint.to_owned())))
}
