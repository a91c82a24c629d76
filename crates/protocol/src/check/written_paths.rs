//! Determines what the parts of a workflow can write into the document.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::expr::ReadStep;
use countersign_contract::json;
use countersign_contract::limits::MAX_DEPTH;
use countersign_contract::patch::PointerSet;
use serde_json::Value;

use super::analysis_budget::{AnalysisBudget, AnalysisBudgets};
use super::failure_handlers;
use super::gate_analysis::GateAnalyses;
use super::located_expressions::{collect_phase_changes, input_changes, split_operation};
use super::schema_path_view::{FieldDeclaration, SchemaPathView};
use crate::{
    ChangeOperation, HookDefinition, PhaseWork, Protocol, WorkflowDefinition, WorkflowPhase,
};

/// The shared context for analysing the writes of every workflow.
pub(super) struct WriteAnalysis<'p> {
    pub(super) protocol: &'p Protocol,
    pub(super) gate_analyses: &'p GateAnalyses<'p>,
    pub(super) budgets: &'p AnalysisBudgets,
    /// Pointers that invocations fill in, by the invoked workflow.
    inputs: BTreeMap<&'p str, BTreeSet<&'p str>>,
}

impl<'p> WriteAnalysis<'p> {
    pub(super) fn new(
        protocol: &'p Protocol,
        gate_analyses: &'p GateAnalyses<'p>,
        budgets: &'p AnalysisBudgets,
    ) -> Self {
        let mut inputs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for caller in protocol.workflows.values().flat_map(|workflow| &workflow.phases) {
            if let PhaseWork::Invoke(invoke) = &caller.work {
                let pointers = invoke.input.iter().map(|(at, _)| at.as_str());
                inputs.entry(&invoke.workflow).or_default().extend(pointers);
            }
        }
        Self { protocol, gate_analyses, budgets, inputs }
    }

    /// Creates a view of a schema with the shared budget.
    pub(super) fn schema_view(&self, schema: &'p Value) -> SchemaPathView<'p> {
        SchemaPathView::with_budget(schema, &self.budgets.schemas)
    }
}

/// The paths that something may write, as a trie of their steps. If there are too many to track,
/// every path counts as written.
#[derive(Debug)]
pub(super) struct WrittenPaths<'p> {
    root: PathTrieNode,
    budget: &'p AnalysisBudget,
}

/// The paths that start with the same steps.
#[derive(Debug, Default)]
struct PathTrieNode {
    /// Whether a path ends here.
    is_end: bool,
    children: BTreeMap<String, PathTrieNode>,
}

impl<'p> WrittenPaths<'p> {
    /// Collects everything that may write into the document of a run of this workflow.
    pub(super) fn from_workflow(
        reading: &WriteAnalysis<'p>,
        workflow: &'p WorkflowDefinition,
    ) -> Self {
        let protocol = reading.protocol;
        let mut writers = Self { root: PathTrieNode::default(), budget: &reading.budgets.pointers };
        for field in &protocol.document_for(workflow).engine {
            writers.add(&field.pointer);
        }
        for phase in &workflow.phases {
            writers.add_phase(reading, workflow, phase);
        }
        for (change, input) in input_changes(workflow) {
            writers.add_all(&written_pointers(
                &change.operation,
                input.map(|schema| reading.schema_view(schema)),
            ));
        }
        // The phase's `writes` do not restrict changes that the author writes.
        let transitions = workflow.transitions.iter().flat_map(|transition| &transition.apply);
        for change in
            transitions.chain(failure_handlers::collect_handler_changes(protocol, workflow))
        {
            writers.add_all(&written_pointers(&change.operation, None));
        }
        // An invoking workflow fills in the child's document first.
        for pointer in reading.inputs.get(workflow.id.as_str()).into_iter().flatten() {
            writers.add(pointer);
        }
        writers
    }

    /// Whether something may write the value at a path, a part of it, or one of its parents.
    pub(super) fn may_write(&self, steps: &[ReadStep]) -> bool {
        self.node_may_write(&self.root, steps)
    }

    fn node_may_write(&self, branch: &PathTrieNode, steps: &[ReadStep]) -> bool {
        // If the budget is spent, the path counts as written.
        if branch.is_end || !self.budget.spend(1) {
            return true;
        }
        let Some((step, rest)) = steps.split_first() else { return true };
        match step {
            ReadStep::Field(name) => [name.as_str(), "-"]
                .into_iter()
                .filter_map(|name| branch.children.get(name))
                .any(|below| self.node_may_write(below, rest)),
            ReadStep::Element => {
                branch.children.values().any(|below| self.node_may_write(below, rest))
            }
        }
    }

    fn add_all(&mut self, pointers: &[String]) {
        for pointer in pointers {
            self.add(pointer);
        }
    }

    fn add(&mut self, pointer: &str) {
        let mut branch = &mut self.root;
        // No document is deeper, so the prefix of a longer pointer stands for it.
        for segment in json::split_pointer(pointer).take(MAX_DEPTH) {
            if branch.is_end {
                return;
            }
            if !self.budget.spend(1) {
                self.root = PathTrieNode { is_end: true, children: BTreeMap::new() };
                return;
            }
            branch = branch.children.entry(segment.into_owned()).or_default();
        }
        branch.is_end = true;
    }

    fn add_phase(
        &mut self,
        reading: &WriteAnalysis<'p>,
        workflow: &WorkflowDefinition,
        phase: &'p WorkflowPhase,
    ) {
        let writes = phase.writes.as_ref();
        let writes = writes.map(|all| PointerSet::from_pointers(all.iter().map(String::as_str)));
        let writes = writes.as_ref();
        if matches!(phase.work, PhaseWork::None)
            && can_wait_for_patch(workflow, phase, reading.gate_analyses)
        {
            self.add_within(writes, "");
        }
        for (change, reply) in collect_phase_changes(reading.protocol, phase) {
            for pointer in
                written_pointers(&change.operation, reply.map(|schema| reading.schema_view(schema)))
            {
                self.add_within(writes, &pointer);
            }
        }
        for hook in [&phase.on_enter, &phase.on_exit].into_iter().flatten() {
            match reading.protocol.hooks.get(hook) {
                Some(HookDefinition::Patch { ops, .. }) => self.add_all(&patched_pointers(ops)),
                Some(HookDefinition::Program { .. }) => self.add_within(writes, ""),
                None => {}
            }
        }
    }

    /// Adds a pointer as far as the phase may write it.
    fn add_within(&mut self, writes: Option<&PointerSet>, pointer: &str) {
        match writes {
            None => self.add(pointer),
            Some(writes) if writes.covers(pointer) => self.add(pointer),
            Some(writes) => writes.iter_inside(pointer).for_each(|(allowed, _)| self.add(allowed)),
        }
    }
}

/// Whether a run may stop in a phase without work, so that a person can submit a patch.
fn can_wait_for_patch(
    workflow: &WorkflowDefinition,
    phase: &WorkflowPhase,
    openings: &GateAnalyses<'_>,
) -> bool {
    let transitions = workflow.transitions_from(&phase.id);
    let passes = transitions.iter().any(|(index, _)| openings.always_opens(&workflow.id, *index));
    !workflow.ends_in(phase) && !passes
}

/// The pointers that a change writes. A removal writes nothing.
pub(super) fn written_pointers(
    verb: &ChangeOperation,
    reply: Option<SchemaPathView<'_>>,
) -> Vec<String> {
    match verb {
        ChangeOperation::Patch { writes, .. } => {
            writes.clone().unwrap_or_else(|| vec![String::new()])
        }
        ChangeOperation::Remove { .. } | ChangeOperation::Emit { .. } => Vec::new(),
        ChangeOperation::Merge { pointer: at, value: None } => merged_fields(reply).map_or_else(
            || vec![at.clone()],
            |names| names.iter().map(|name| json::child_pointer(at, name)).collect(),
        ),
        other => vec![split_operation(other).1.to_owned()],
    }
}

/// The fields that a merged reply can have, if its contract forbids all others.
fn merged_fields(reply: Option<SchemaPathView<'_>>) -> Option<Vec<&str>> {
    let stranger = [ReadStep::Field("\u{0}".to_owned())];
    match reply?.classify_path(&stranger) {
        FieldDeclaration::Forbidden(_, names) => Some(names),
        FieldDeclaration::Allowed | FieldDeclaration::Undeclared(..) => None,
    }
}

/// The pointers that a fixed patch writes.
pub(super) fn patched_pointers(ops: &Value) -> Vec<String> {
    let ops = ops.as_array().into_iter().flatten();
    let writing = ops.filter(|op| op["op"] != "remove" && op["op"] != "test");
    writing.filter_map(|op| op["path"].as_str()).map(str::to_owned).collect()
}
