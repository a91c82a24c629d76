//! Finds changes that write a type of value which the contract of the document does not allow
//! there.

use countersign_contract::expr::{AbstractValue, PlainValue, ReadStep};
use countersign_contract::json;
use countersign_contract::source::Diagnostic;

use super::analysis_budget::AnalysisBudget;
use super::located_expressions::{
    REPLY_SLOT, STATE_SLOT, collect_workflow_changes, document_schema, split_operation,
};
use super::schema_path_view::SchemaPathView;
use super::standalone_workflows;
use crate::{ChangeOperation, DocumentChange, Protocol};

pub(super) fn check(protocol: &Protocol, effort: &AnalysisBudget) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        let Some(schema) = document_schema(protocol, workflow) else { continue };
        let changes = collect_workflow_changes(protocol, workflow);
        findings.extend(changes.filter_map(|(change, reply)| {
            let view = |schema| SchemaPathView::with_budget(schema, effort);
            check_change(view(schema), change, reply.map(view))
        }));
    }
    findings
}

fn check_change(
    document: SchemaPathView<'_>,
    change: &DocumentChange,
    reply: Option<SchemaPathView<'_>>,
) -> Option<Diagnostic> {
    let (word, at, value) = split_operation(&change.operation);
    let mut steps: Vec<ReadStep> =
        json::split_pointer(at).map(|name| ReadStep::Field(name.into_owned())).collect();
    match change.operation {
        ChangeOperation::Set { .. } => {}
        ChangeOperation::Append { .. } => steps.push(ReadStep::Element),
        _ => return None,
    }
    let known = |slot: usize, steps: &[ReadStep]| match slot {
        STATE_SLOT if steps.is_empty() => AbstractValue::from_plain(PlainValue::Object),
        STATE_SLOT => document.possible_values(steps),
        REPLY_SLOT => reply.map_or_else(AbstractValue::any, |view| view.possible_values(steps)),
        _ => AbstractValue::any(),
    };
    let possible = match value {
        Some(expr) => expr.analyze(&known).value,
        None => known(REPLY_SLOT, &[]),
    };
    let possible = possible.without_plain(&[PlainValue::Undefined]);
    let taken = document.possible_values(&steps).without_plain(&[PlainValue::Undefined]);
    if possible.is_never() || taken.is_never() || share_value_kind(&possible, &taken) {
        return None;
    }
    let target = if matches!(change.operation, ChangeOperation::Append { .. }) {
        format!("an item of `{at}`")
    } else {
        format!("`{at}`")
    };
    let message = format!("the value is {possible}, but {target} takes {taken}");
    let hint = "change the value, or change the contract of the document";
    let origin = change.origin.child(word);
    let origin = if value.is_some() { origin.child("value") } else { origin };
    let fault = origin.diagnose("apply_mismatch", message);
    Some(fault.into_warning().with_hint(Some(hint.to_owned())))
}

/// Whether the two sets share a type of value; the values themselves are checked by the run.
fn share_value_kind(one: &AbstractValue, other: &AbstractValue) -> bool {
    use countersign_contract::expr::{NumberSet, StringSet};
    let truth =
        |may: &AbstractValue| may.has_plain(PlainValue::True) || may.has_plain(PlainValue::False);
    (truth(one) && truth(other))
        || (one.has_plain(PlainValue::Null) && other.has_plain(PlainValue::Null))
        || (one.has_plain(PlainValue::Object) && other.has_plain(PlainValue::Object))
        || (one.numbers != NumberSet::Empty && other.numbers != NumberSet::Empty)
        || (one.strings != StringSet::Empty && other.strings != StringSet::Empty)
        || (one.list_lengths.is_some() && other.list_lengths.is_some())
}
