//! Changes that put a value where the contract of the document takes no such kind of value.

use super::effort::Effort;
use super::view::View;
use super::whole;
use super::written::{REPLY, STATE, all_changes, document_schema, parts};
use crate::expr::{May, Plain, ReadStep};
use crate::json;
use crate::protocol::{Change, Protocol, Verb};
use crate::spec::Diagnostic;

pub(super) fn check(protocol: &Protocol, effort: &Effort) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in whole::workflows(protocol) {
        let Some(schema) = document_schema(protocol, workflow) else { continue };
        let changes = all_changes(protocol, workflow);
        findings.extend(changes.filter_map(|(change, reply)| {
            let view = |schema| View::with_effort(schema, effort);
            of_change(view(schema), change, reply.map(view))
        }));
    }
    findings
}

fn of_change(document: View<'_>, change: &Change, reply: Option<View<'_>>) -> Option<Diagnostic> {
    let (word, at, value) = parts(&change.verb);
    let mut steps: Vec<ReadStep> =
        json::split(at).map(|name| ReadStep::Field(name.into_owned())).collect();
    match change.verb {
        Verb::Set { .. } => {}
        Verb::Append { .. } => steps.push(ReadStep::Element),
        _ => return None,
    }
    let known = |slot: usize, steps: &[ReadStep]| match slot {
        STATE if steps.is_empty() => May::only(Plain::Object),
        STATE => document.possible(steps),
        REPLY => reply.map_or_else(May::anything, |view| view.possible(steps)),
        _ => May::anything(),
    };
    let given = match value {
        Some(expr) => expr.outlook(&known).may,
        None => known(REPLY, &[]),
    };
    let given = given.without(&[Plain::Undefined]);
    let taken = document.possible(&steps).without(&[Plain::Undefined]);
    if given.is_never() || taken.is_never() || kinds_meet(&given, &taken) {
        return None;
    }
    let place = if matches!(change.verb, Verb::Append { .. }) {
        format!("an item of `{at}`")
    } else {
        format!("`{at}`")
    };
    let message = format!("the value is {given}, and {place} takes {taken}");
    let hint = "give the value another shape, or change the contract of the document";
    let origin = change.origin.child(word);
    let origin = if value.is_some() { origin.child("value") } else { origin };
    let fault = origin.fault("apply_mismatch", message);
    Some(fault.warning().hinting(Some(hint.to_owned())))
}

/// Whether one kind of value is in both; what the values are is left to the run.
fn kinds_meet(one: &May, other: &May) -> bool {
    use crate::expr::{Numbers, Texts};
    let truth = |may: &May| may.has(Plain::True) || may.has(Plain::False);
    (truth(one) && truth(other))
        || (one.has(Plain::Null) && other.has(Plain::Null))
        || (one.has(Plain::Object) && other.has(Plain::Object))
        || (one.numbers != Numbers::None && other.numbers != Numbers::None)
        || (one.texts != Texts::None && other.texts != Texts::None)
        || (one.lists.is_some() && other.lists.is_some())
}
