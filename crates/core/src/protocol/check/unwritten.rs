//! Expressions that read what nothing writes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::effort::{Effort, Efforts};
use super::gates;
use super::opening::{Openings, known_names};
use super::view::{Standing, View};
use super::whole;
use super::writers::{Reading, Writers};
use super::written::{self, STATE, Written, document_schema};
use crate::expr::{ReadPath, ReadStep};
use crate::json::{self, Span};
use crate::limits::MAX_FINDINGS;
use crate::protocol::{Check, Origin, Protocol, Transition, Workflow};
use crate::spec::{Diagnostic, Findings};

const CODE: &str = "reads_unwritten";

pub(super) fn check(
    protocol: &Protocol,
    openings: &Openings<'_>,
    efforts: &Efforts,
    findings: &mut Findings,
) {
    let reading = Reading::new(protocol, openings, efforts);
    let of_index = written::of_index(protocol);
    // What the index asks of every run is told where no workflow writes it.
    let mut common: Option<Vec<Diagnostic>> = None;
    for workflow in whole::workflows(protocol) {
        let runs = Runs::of(&reading, workflow);
        runs.tell(&reading, workflow, findings);
        if common.as_ref().is_some_and(Vec::is_empty) {
            continue;
        }
        let unwritten = runs.reads_of(&of_index, &BTreeSet::new(), false);
        common = Some(match common {
            None => unwritten,
            Some(mut all) => {
                let again: BTreeSet<(Span, String)> =
                    unwritten.into_iter().map(|one| (one.span, one.message)).collect();
                all.retain(|one| again.contains(&(one.span, one.message.clone())));
                all
            }
        });
    }
    findings.extend(common.unwrap_or_default());
}

/// What is known of the documents of a workflow's runs.
struct Runs<'p> {
    writers: Writers<'p>,
    document: Option<View<'p>>,
    initial: &'p Value,
    effort: &'p Effort,
}

impl<'p> Runs<'p> {
    fn of(reading: &Reading<'p>, workflow: &'p Workflow) -> Self {
        let writers = Writers::of(reading, workflow);
        let document = document_schema(reading.protocol, workflow);
        let document = document.map(|schema| reading.view(schema));
        let initial = &reading.protocol.document_of(workflow).initial;
        Self { writers, document, initial, effort: &reading.efforts.places }
    }

    fn tell(&self, reading: &Reading<'p>, workflow: &'p Workflow, findings: &mut Findings) {
        let idle = gates::never_taken(reading.protocol, workflow, reading.openings);
        for (index, way) in workflow.transitions.iter().enumerate() {
            if !idle.contains(&index) {
                findings.extend(self.status_unwritten(way));
            }
        }
        for (index, place) in workflow.output.iter().enumerate() {
            let origin = output_origin(workflow, index);
            findings.extend(self.output_unwritten(place, &origin, findings.is_full(CODE)));
        }
        let written = written::of_workflow(reading.protocol, workflow);
        findings.extend(self.reads_of(&written, &idle, findings.is_full(CODE)));
    }

    /// What expressions read that runs of a workflow never have. Beyond the bound of findings they are
    /// told without words.
    fn reads_of(
        &self,
        expressions: &[Written<'_>],
        idle: &BTreeSet<usize>,
        is_full: bool,
    ) -> Vec<Diagnostic> {
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
                let brief = is_full || findings.len() >= MAX_FINDINGS;
                let finding = self
                    .forbidden(written, read, brief)
                    .or_else(|| self.unwritten(written, read, brief));
                if let Some(finding) = finding {
                    if told.len() < MAX_FINDINGS {
                        told.push(&read.steps);
                    }
                    findings.push(finding);
                }
            }
        }
        findings
    }

    fn forbidden(&self, written: &Written<'_>, read: &ReadPath, brief: bool) -> Option<Diagnostic> {
        let standing = self.document?.standing(&read.steps);
        let Standing::Forbidden(index, names) = standing else { return None };
        let ReadStep::Field(name) = &read.steps[index] else { return None };
        if brief {
            return Some(written.origin.fault(CODE, ""));
        }
        let path = &written.expr.source()[read.span.clone()];
        let fault = written.fault(CODE, never_there(path, name), &read.span);
        Some(fault.hinting(known_names(name, &names)))
    }

    fn unwritten(&self, written: &Written<'_>, read: &ReadPath, brief: bool) -> Option<Diagnostic> {
        if self.is_written(&read.steps) {
            return None;
        }
        if brief {
            return Some(written.origin.fault(CODE, "").warning());
        }
        let fault = written.fault(CODE, nothing_writes(&read.to_string()), &read.span);
        Some(fault.warning().hinting(Some(HINT.to_owned())))
    }

    /// The same for the field of a status gate. One that the contract forbids never opens, which is
    /// told.
    fn status_unwritten(&self, way: &Transition) -> Option<Diagnostic> {
        let Some(Check::Status { pointer, .. }) = way.gate.as_ref().map(|gate| &gate.check) else {
            return None;
        };
        if self.is_written(&steps(pointer)) {
            return None;
        }
        let origin = way.origin.child("gate").child("field");
        let fault = origin.fault(CODE, nothing_writes(pointer));
        Some(fault.warning().hinting(Some(HINT.to_owned())))
    }

    /// The same for a place of `output`, which would be empty at every end.
    fn output_unwritten(&self, pointer: &str, origin: &Origin, brief: bool) -> Option<Diagnostic> {
        let steps = steps(pointer);
        if let Some(Standing::Forbidden(index, names)) =
            self.document.map(|view| view.standing(&steps))
            && let ReadStep::Field(name) = &steps[index]
        {
            let fault = origin.fault(CODE, never_there(pointer, name));
            let hint = if brief { None } else { known_names(name, &names) };
            return Some(fault.hinting(hint));
        }
        if self.is_written(&steps) {
            return None;
        }
        let fault = origin.fault(CODE, nothing_writes(pointer));
        Some(fault.warning().hinting(Some(HINT.to_owned())))
    }

    fn is_written(&self, steps: &[ReadStep]) -> bool {
        steps.is_empty()
            || self.writers.reach(steps)
            || self.is_in(self.initial, steps)
            || self.document.is_some_and(|view| view.is_required(steps))
    }

    /// Whether a document has something at a path. Of a list that is empty nothing is known, nor where
    /// the effort is spent.
    fn is_in(&self, value: &Value, steps: &[ReadStep]) -> bool {
        let Some((step, rest)) = steps.split_first() else { return true };
        if !self.effort.spend(1) {
            return true;
        }
        match (step, value) {
            (ReadStep::Field(name), Value::Object(members)) => {
                members.get(name).is_some_and(|member| self.is_in(member, rest))
            }
            (ReadStep::Element, Value::Array(items)) => {
                items.is_empty() || items.iter().any(|item| self.is_in(item, rest))
            }
            (ReadStep::Element, Value::Object(members)) => {
                members.is_empty() || members.values().any(|member| self.is_in(member, rest))
            }
            _ => false,
        }
    }
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
