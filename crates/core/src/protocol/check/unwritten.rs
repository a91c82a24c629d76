//! Expressions that read what nothing writes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::gates;
use super::opening::{Openings, known_names};
use super::view::{Standing, View};
use super::whole;
use super::writers::Writers;
use super::written::{self, STATE, Written, document_schema};
use crate::expr::{ReadPath, ReadStep};
use crate::json;
use crate::protocol::{Check, Origin, Protocol, Transition, Workflow};
use crate::spec::Diagnostic;

pub(super) fn check(protocol: &Protocol, openings: &Openings<'_>) -> Vec<Diagnostic> {
    let workflows = whole::workflows(protocol);
    let each = workflows.iter().flat_map(|workflow| of_workflow(protocol, workflow, openings));
    let mut findings: Vec<Diagnostic> = each.collect();
    // What the index asks of every run is told where no workflow writes it.
    let common = workflows.iter().map(|workflow| {
        reads_of(protocol, workflow, openings, &written::of_index(protocol), &BTreeSet::new())
    });
    let common = common.reduce(|mut all, one| {
        all.retain(|finding| one.contains(finding));
        all
    });
    findings.extend(common.unwrap_or_default());
    findings
}

fn of_workflow(
    protocol: &Protocol,
    workflow: &Workflow,
    openings: &Openings<'_>,
) -> Vec<Diagnostic> {
    let writers = Writers::of(protocol, workflow, openings);
    let document = document_schema(protocol, workflow).map(View::of);
    let initial = &protocol.document_of(workflow).initial;
    let idle = gates::never_taken(protocol, workflow, openings);
    let mut findings: Vec<Diagnostic> = Vec::new();
    for (index, way) in workflow.transitions.iter().enumerate() {
        if !idle.contains(&index) {
            findings.extend(status_unwritten(initial, document, &writers, way));
        }
    }
    for (index, place) in workflow.output.iter().enumerate() {
        let origin = output_origin(workflow, index);
        findings.extend(output_unwritten(initial, document, &writers, place, &origin));
    }
    let written = written::of_workflow(protocol, workflow);
    findings.extend(reads_of(protocol, workflow, openings, &written, &idle));
    findings
}

/// What expressions read that runs of a workflow never have.
fn reads_of(
    protocol: &Protocol,
    workflow: &Workflow,
    openings: &Openings<'_>,
    expressions: &[Written<'_>],
    idle: &BTreeSet<usize>,
) -> Vec<Diagnostic> {
    let writers = Writers::of(protocol, workflow, openings);
    let document = document_schema(protocol, workflow).map(View::of);
    let initial = &protocol.document_of(workflow).initial;
    let mut findings: Vec<Diagnostic> = Vec::new();
    for written in expressions {
        // What is wrong with a way that is never taken has been told.
        if written.way.is_some_and(|way| idle.contains(&way)) {
            continue;
        }
        let mut told: Vec<&[ReadStep]> = Vec::new();
        for read in written.expr.reads().iter().filter(|read| read.slot == STATE) {
            if told.iter().any(|before| read.steps.starts_with(before)) {
                continue;
            }
            let finding = forbidden(document, written, read)
                .or_else(|| unwritten(initial, document, &writers, written, read));
            if let Some(finding) = finding {
                told.push(&read.steps);
                findings.push(finding);
            }
        }
    }
    findings
}

fn forbidden(
    document: Option<View<'_>>,
    written: &Written<'_>,
    read: &ReadPath,
) -> Option<Diagnostic> {
    let Standing::Forbidden(index, names) = document?.standing(&read.steps) else { return None };
    let ReadStep::Field(name) = &read.steps[index] else { return None };
    let path = &written.expr.source()[read.span.clone()];
    let fault = written.fault("reads_unwritten", never_there(path, name), &read.span);
    Some(fault.hinting(known_names(name, &names)))
}

fn unwritten(
    initial: &Value,
    document: Option<View<'_>>,
    writers: &Writers,
    written: &Written<'_>,
    read: &ReadPath,
) -> Option<Diagnostic> {
    if is_written(initial, document, writers, &read.steps) {
        return None;
    }
    let fault = written.fault("reads_unwritten", nothing_writes(&read.to_string()), &read.span);
    Some(fault.warning().hinting(Some(HINT.to_owned())))
}

/// The same for the field of a status gate. One that the contract forbids never opens, which is told.
fn status_unwritten(
    initial: &Value,
    document: Option<View<'_>>,
    writers: &Writers,
    way: &Transition,
) -> Option<Diagnostic> {
    let Some(Check::Status { pointer, .. }) = way.gate.as_ref().map(|gate| &gate.check) else {
        return None;
    };
    if is_written(initial, document, writers, &steps(pointer)) {
        return None;
    }
    let origin = way.origin.child("gate").child("field");
    let fault = origin.fault("reads_unwritten", nothing_writes(pointer));
    Some(fault.warning().hinting(Some(HINT.to_owned())))
}

/// The same for a place of `output`, which would be empty at every end.
fn output_unwritten(
    initial: &Value,
    document: Option<View<'_>>,
    writers: &Writers,
    pointer: &str,
    origin: &Origin,
) -> Option<Diagnostic> {
    let steps = steps(pointer);
    if let Some(Standing::Forbidden(index, names)) = document.map(|view| view.standing(&steps))
        && let ReadStep::Field(name) = &steps[index]
    {
        let fault = origin.fault("reads_unwritten", never_there(pointer, name));
        return Some(fault.hinting(known_names(name, &names)));
    }
    if is_written(initial, document, writers, &steps) {
        return None;
    }
    let fault = origin.fault("reads_unwritten", nothing_writes(pointer));
    Some(fault.warning().hinting(Some(HINT.to_owned())))
}

/// Where a place of `output` stands: it is the whole section where that is a text.
fn output_origin(workflow: &Workflow, index: usize) -> Origin {
    let section = workflow.origin.child("output");
    match workflow.origin.tree.value["output"] {
        Value::String(_) => section,
        _ => section.child(&index.to_string()),
    }
}

/// A pointer as the steps of a path; numbers are elements.
fn steps(pointer: &str) -> Vec<ReadStep> {
    let step = |name: std::borrow::Cow<'_, str>| match name.parse::<usize>() {
        Ok(_) => ReadStep::Element,
        Err(_) => ReadStep::Field(name.into_owned()),
    };
    json::split(pointer).map(step).collect()
}

const HINT: &str = "write it with `apply`, add it to `document.initial`, or read another place";

fn never_there(path: &str, name: &str) -> String {
    format!("`{path}` is never there: the contract of the document has no `{name}` at this place")
}

fn nothing_writes(pointer: &str) -> String {
    format!(
        "nothing writes `{pointer}`: not the initial document, and no phase, hook or answer of this \
         workflow"
    )
}

fn is_written(
    initial: &Value,
    document: Option<View<'_>>,
    writers: &Writers,
    steps: &[ReadStep],
) -> bool {
    steps.is_empty()
        || writers.reach(steps)
        || is_in(initial, steps)
        || document.is_some_and(|view| view.is_required(steps))
}

/// Whether a document has something at a path. Of a list that is empty nothing is known.
fn is_in(value: &Value, steps: &[ReadStep]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    match (step, value) {
        (ReadStep::Field(name), Value::Object(members)) => {
            members.get(name).is_some_and(|member| is_in(member, rest))
        }
        (ReadStep::Element, Value::Array(items)) => {
            items.is_empty() || items.iter().any(|item| is_in(item, rest))
        }
        (ReadStep::Element, Value::Object(members)) => {
            members.is_empty() || members.values().any(|member| is_in(member, rest))
        }
        _ => false,
    }
}
