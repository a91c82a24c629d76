//! What the parts of a workflow can write into the document.

use serde_json::Value;

use super::finding::covers;
use super::opening::Openings;
use super::outcomes;
use super::view::{Standing, View};
use super::written::{changes, of_input, parts};
use crate::expr::ReadStep;
use crate::json;
use crate::protocol::{Hook, Phase, Protocol, Verb, Work, Workflow};

/// The places that something may write; the empty pointer stands for all.
#[derive(Debug, Default)]
pub(super) struct Writers {
    places: Vec<String>,
}

impl Writers {
    /// Everything that may write into the document of a run of this workflow.
    pub(super) fn of(protocol: &Protocol, workflow: &Workflow, openings: &Openings<'_>) -> Self {
        let mut writers = Self::default();
        writers
            .places
            .extend(protocol.document_of(workflow).engine.iter().map(|place| place.at.clone()));
        for phase in &workflow.phases {
            writers.phase(protocol, workflow, phase, openings);
        }
        for (change, input) in of_input(workflow) {
            writers.places.extend(places_of(&change.verb, input));
        }
        // What the author writes himself is not bound by what the phase may write.
        let ways = workflow.transitions.iter().flat_map(|way| &way.apply);
        for change in ways.chain(outcomes::changes(protocol, workflow)) {
            writers.places.extend(places_of(&change.verb, None));
        }
        // Whoever invokes the workflow fills its document first.
        for caller in protocol.workflows.values().flat_map(|other| &other.phases) {
            if let Work::Invoke(invoke) = &caller.work
                && invoke.workflow == workflow.id
            {
                writers.places.extend(invoke.input.iter().map(|(at, _)| at.clone()));
            }
        }
        writers
    }

    /// Whether something may write the value at a path, a part of it, or what holds it.
    pub(super) fn reach(&self, steps: &[ReadStep]) -> bool {
        self.places.iter().any(|place| {
            json::split(place).zip(steps).all(|(segment, step)| match step {
                ReadStep::Field(name) => *name == *segment || segment == "-",
                ReadStep::Element => true,
            })
        })
    }

    fn phase(
        &mut self,
        protocol: &Protocol,
        workflow: &Workflow,
        phase: &Phase,
        openings: &Openings<'_>,
    ) {
        if matches!(phase.work, Work::None) && stands_still(workflow, phase, openings) {
            self.within(phase, "");
        }
        for (change, reply) in changes(protocol, phase) {
            for place in places_of(&change.verb, reply) {
                self.within(phase, &place);
            }
        }
        for hook in [&phase.on_enter, &phase.on_exit].into_iter().flatten() {
            match protocol.hooks.get(hook) {
                Some(Hook::Patch { ops, .. }) => self.places.extend(patched(ops)),
                Some(Hook::Program { .. }) => self.within(phase, ""),
                None => {}
            }
        }
    }

    /// Notes a place as far as the phase may write it.
    fn within(&mut self, phase: &Phase, place: &str) {
        match &phase.writes {
            None => self.places.push(place.to_owned()),
            Some(allowed) => {
                for allowed in allowed {
                    if covers(allowed, place) {
                        self.places.push(place.to_owned());
                    } else if covers(place, allowed) {
                        self.places.push(allowed.clone());
                    }
                }
            }
        }
    }
}

/// Whether a run may stop in a phase without work, so that somebody can hand in a patch.
fn stands_still(workflow: &Workflow, phase: &Phase, openings: &Openings<'_>) -> bool {
    let ways = workflow.ways_out(&phase.id);
    let passes = ways.iter().any(|(index, _)| openings.is_always(&workflow.id, *index));
    !workflow.ends_in(phase) && !passes
}

/// The places a change writes. What it takes away it does not write.
pub(super) fn places_of(verb: &Verb, reply: Option<&Value>) -> Vec<String> {
    match verb {
        Verb::Patch { writes, .. } => writes.clone().unwrap_or_else(|| vec![String::new()]),
        Verb::Remove { .. } | Verb::Emit { .. } => Vec::new(),
        Verb::Merge { at, value: None } => merged(reply).map_or_else(
            || vec![at.clone()],
            |names| names.iter().map(|name| json::child(at, name)).collect(),
        ),
        other => vec![parts(other).1.to_owned()],
    }
}

/// The fields that a merged reply can have, where its contract has no others.
fn merged(reply: Option<&Value>) -> Option<Vec<&str>> {
    let stranger = [ReadStep::Field("\u{0}".to_owned())];
    match View::of(reply?).standing(&stranger) {
        Standing::Forbidden(_, names) => Some(names),
        Standing::Known | Standing::Undeclared(..) => None,
    }
}

/// The places that a fixed patch writes.
pub(super) fn patched(ops: &Value) -> Vec<String> {
    let ops = ops.as_array().into_iter().flatten();
    let writing = ops.filter(|op| op["op"] != "remove" && op["op"] != "test");
    writing.filter_map(|op| op["path"].as_str()).map(str::to_owned).collect()
}
