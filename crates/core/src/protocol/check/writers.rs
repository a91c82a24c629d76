//! What the parts of a workflow can write into the document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::effort::{Effort, Efforts};
use super::opening::Openings;
use super::outcomes;
use super::view::{Standing, View};
use super::written::{changes, of_input, parts};
use crate::expr::ReadStep;
use crate::json;
use crate::limits::MAX_DEPTH;
use crate::patch::PointerSet;
use crate::protocol::{Hook, Phase, Protocol, Verb, Work, Workflow};

/// What every workflow's writers are found with.
pub(super) struct Reading<'p> {
    pub(super) protocol: &'p Protocol,
    pub(super) openings: &'p Openings<'p>,
    pub(super) efforts: &'p Efforts,
    /// The places that invocations fill, by the workflow that is invoked.
    inputs: BTreeMap<&'p str, BTreeSet<&'p str>>,
}

impl<'p> Reading<'p> {
    pub(super) fn new(
        protocol: &'p Protocol,
        openings: &'p Openings<'p>,
        efforts: &'p Efforts,
    ) -> Self {
        let mut inputs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for caller in protocol.workflows.values().flat_map(|workflow| &workflow.phases) {
            if let Work::Invoke(invoke) = &caller.work {
                let places = invoke.input.iter().map(|(at, _)| at.as_str());
                inputs.entry(&invoke.workflow).or_default().extend(places);
            }
        }
        Self { protocol, openings, efforts, inputs }
    }

    /// A schema to ask.
    pub(super) fn view(&self, schema: &'p Value) -> View<'p> {
        View::with_effort(schema, &self.efforts.schemas)
    }
}

/// The places that something may write, by their steps. Where there are too many to tell, that is all.
#[derive(Debug)]
pub(super) struct Writers<'p> {
    root: Branch,
    effort: &'p Effort,
}

/// The places that begin with the same steps.
#[derive(Debug, Default)]
struct Branch {
    /// Whether one of them ends here.
    is_place: bool,
    below: BTreeMap<String, Branch>,
}

impl<'p> Writers<'p> {
    /// Everything that may write into the document of a run of this workflow.
    pub(super) fn of(reading: &Reading<'p>, workflow: &'p Workflow) -> Self {
        let protocol = reading.protocol;
        let mut writers = Self { root: Branch::default(), effort: &reading.efforts.places };
        for place in &protocol.document_of(workflow).engine {
            writers.add(&place.at);
        }
        for phase in &workflow.phases {
            writers.phase(reading, workflow, phase);
        }
        for (change, input) in of_input(workflow) {
            writers.add_all(&places_of(&change.verb, input.map(|schema| reading.view(schema))));
        }
        // What the author writes himself is not bound by what the phase may write.
        let ways = workflow.transitions.iter().flat_map(|way| &way.apply);
        for change in ways.chain(outcomes::changes(protocol, workflow)) {
            writers.add_all(&places_of(&change.verb, None));
        }
        // Whoever invokes the workflow fills its document first.
        for place in reading.inputs.get(workflow.id.as_str()).into_iter().flatten() {
            writers.add(place);
        }
        writers
    }

    /// Whether something may write the value at a path, a part of it, or what holds it.
    pub(super) fn reach(&self, steps: &[ReadStep]) -> bool {
        self.reaches(&self.root, steps)
    }

    fn reaches(&self, branch: &Branch, steps: &[ReadStep]) -> bool {
        // Where the effort is spent nothing is known to be unwritten.
        if branch.is_place || !self.effort.spend(1) {
            return true;
        }
        let Some((step, rest)) = steps.split_first() else { return true };
        match step {
            ReadStep::Field(name) => [name.as_str(), "-"]
                .into_iter()
                .filter_map(|name| branch.below.get(name))
                .any(|below| self.reaches(below, rest)),
            ReadStep::Element => branch.below.values().any(|below| self.reaches(below, rest)),
        }
    }

    fn add_all(&mut self, places: &[String]) {
        for place in places {
            self.add(place);
        }
    }

    fn add(&mut self, place: &str) {
        let mut branch = &mut self.root;
        // No document is deeper, so what a longer place begins with stands for it.
        for segment in json::split(place).take(MAX_DEPTH) {
            if branch.is_place {
                return;
            }
            if !self.effort.spend(1) {
                self.root = Branch { is_place: true, below: BTreeMap::new() };
                return;
            }
            branch = branch.below.entry(segment.into_owned()).or_default();
        }
        branch.is_place = true;
    }

    fn phase(&mut self, reading: &Reading<'p>, workflow: &Workflow, phase: &'p Phase) {
        let writes = phase.writes.as_ref();
        let writes = writes.map(|all| PointerSet::from_pointers(all.iter().map(String::as_str)));
        let writes = writes.as_ref();
        if matches!(phase.work, Work::None) && stands_still(workflow, phase, reading.openings) {
            self.within(writes, "");
        }
        for (change, reply) in changes(reading.protocol, phase) {
            for place in places_of(&change.verb, reply.map(|schema| reading.view(schema))) {
                self.within(writes, &place);
            }
        }
        for hook in [&phase.on_enter, &phase.on_exit].into_iter().flatten() {
            match reading.protocol.hooks.get(hook) {
                Some(Hook::Patch { ops, .. }) => self.add_all(&patched(ops)),
                Some(Hook::Program { .. }) => self.within(writes, ""),
                None => {}
            }
        }
    }

    /// Notes a place as far as the phase may write it.
    fn within(&mut self, writes: Option<&PointerSet>, place: &str) {
        match writes {
            None => self.add(place),
            Some(writes) if writes.covers(place) => self.add(place),
            Some(writes) => writes.inside(place).for_each(|(allowed, _)| self.add(allowed)),
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
pub(super) fn places_of(verb: &Verb, reply: Option<View<'_>>) -> Vec<String> {
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
fn merged(reply: Option<View<'_>>) -> Option<Vec<&str>> {
    let stranger = [ReadStep::Field("\u{0}".to_owned())];
    match reply?.standing(&stranger) {
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
