//! Searches for a document that opens two gates at once.
//!
//! It starts from samples of the document's contract and changes them at the paths that the gates
//! read, to the values that the gates compare with and to neighbouring values. A document that is
//! found is a proof; finding none proves nothing.

use std::sync::Arc;

use countersign_contract::contract::Contract;
use countersign_contract::expr::{Expr, ReadStep};
use countersign_contract::json;
use countersign_contract::reply::RuleContext;
use countersign_schema_tools::SchemaSampler;
use serde_json::{Map, Value, json};

use super::analysis_budget::AnalysisBudget;
use crate::{DocumentDefinition, Protocol, WorkflowDefinition};

/// Maximum number of gate evaluations in one protocol.
const MAX_TESTS: usize = 200_000;
/// Maximum number of gate evaluations for one pair.
const MAX_TESTS_PER_PAIR: usize = 20_000;
/// Maximum number of documents to start from.
const MAX_BASE_DOCUMENTS: usize = 24;
/// Maximum number of documents per start document that open the first gate and are tested on the
/// second.
const MAX_DOCUMENTS_PER_BASE: usize = 3;
/// Maximum number of values and of paths per gate.
const MAX_LITERALS: usize = 200;
const MAX_PATHS: usize = 200;
/// Evaluating a gate on a document up to this weight costs one step.
const LIGHT_DOCUMENT: usize = 256;
/// The slot of `state`; a gate also knows `run`.
const STATE_SLOT: usize = 0;

/// A gate that can be evaluated on a document.
#[derive(Debug)]
pub(super) enum TestableGate<'p> {
    Expression(&'p Expr),
    Status { pointer: &'p str, value: &'p str },
}

impl TestableGate<'_> {
    fn is_open(&self, document: &Value, run: &Value) -> bool {
        match self {
            Self::Expression(expr) => expr.eval_bool(&[Some(document), Some(run)]).unwrap_or(false),
            Self::Status { pointer, value } => match document.pointer(pointer) {
                Some(Value::String(text)) => text == value,
                Some(Value::Object(_) | Value::Array(_)) | None => false,
                Some(Value::Null) => *value == "null",
                Some(Value::Bool(truth)) => truth.to_string().as_str() == *value,
                Some(Value::Number(number)) => number.to_string().as_str() == *value,
            },
        }
    }

    /// The top-level fields of the document that the gate reads.
    pub(super) fn top_level_fields(&self) -> Vec<String> {
        let first = |steps: &Vec<ReadStep>| match steps.first() {
            Some(ReadStep::Field(name)) => Some(name.clone()),
            _ => None,
        };
        self.read_paths().iter().filter_map(first).collect()
    }

    fn read_paths(&self) -> Vec<Vec<ReadStep>> {
        match self {
            Self::Expression(expr) => {
                let reads = expr.read_paths().iter().filter(|read| read.slot == STATE_SLOT);
                reads.map(|read| read.steps.clone()).collect()
            }
            Self::Status { pointer, .. } => {
                vec![
                    json::split_pointer(pointer)
                        .map(|name| ReadStep::Field(name.into_owned()))
                        .collect(),
                ]
            }
        }
    }

    fn literals(&self) -> Vec<Value> {
        match self {
            Self::Expression(expr) => expr.collect_literals(),
            Self::Status { value, .. } => vec![Value::from(*value)],
        }
    }
}

/// The search over the pairs of one protocol.
pub(super) struct OverlapSearch<'p> {
    /// Steps that all pairs share; a large document costs more than a small one.
    pub(super) budget: &'p AnalysisBudget,
    document: &'p DocumentDefinition,
    bases: Option<Vec<Value>>,
    tests_left: usize,
}

impl<'p> OverlapSearch<'p> {
    pub(super) fn new(protocol: &'p Protocol, budget: &'p AnalysisBudget) -> Self {
        Self { budget, document: &protocol.document, bases: None, tests_left: MAX_TESTS }
    }

    /// Switches to the gates of runs with this document definition.
    pub(super) fn set_document(&mut self, document: &'p DocumentDefinition) {
        if !std::ptr::eq(self.document, document) {
            self.document = document;
            self.bases = None;
        }
    }

    fn contract(&self) -> Option<&'p Arc<Contract>> {
        self.document.contract.as_ref()
    }

    /// Finds a document of a run in this phase that opens both gates.
    pub(super) fn find_common_document(
        &mut self,
        workflow: &WorkflowDefinition,
        phase: &str,
        first: &TestableGate<'_>,
        second: &TestableGate<'_>,
    ) -> Option<Value> {
        if self.tests_left == 0 {
            return None;
        }
        let run = json!({
            "id": "run", "workflow": workflow.id, "phase": phase, "status": "running",
            "version": 1, "created_at": "2000-01-01T00:00:00Z",
            "updated_at": "2000-01-01T00:00:00Z",
        });
        let most = MAX_TESTS_PER_PAIR.min(self.tests_left);
        let mut pair = GatePairSearch { tests_left: most, run };
        let bases = self.bases.take().unwrap_or_else(|| self.build_base_documents());
        let found = pair.find_witness(self, &bases, first, second);
        self.bases = Some(bases);
        self.tests_left -= most - pair.tests_left;
        found
    }

    /// Builds the start documents: the initial document, samples, and boundary values of the
    /// contract.
    fn build_base_documents(&self) -> Vec<Value> {
        let mut bases = vec![self.document.initial.clone()];
        if let Some(contract) = self.contract() {
            let sampler = SchemaSampler::new(contract.schema.source());
            bases.extend((0..8).filter_map(|seed| sampler.generate_sample(seed)));
            bases.extend(sampler.generate_boundary_values());
        }
        bases.retain(Value::is_object);
        bases.truncate(MAX_BASE_DOCUMENTS);
        bases
    }

    /// Applies the engine's updates, and returns the document if a run may have it.
    fn apply_engine_fields(&self, document: &Value, run: &Value) -> Option<Value> {
        let mut document = document.clone();
        for field in &self.document.engine {
            let value = field.value.eval(&[Some(&document), Some(run)]).ok()?.to_json();
            if let Some(value) = value {
                let steps: Vec<ReadStep> = json::split_pointer(&field.pointer)
                    .map(|name| ReadStep::Field(name.into_owned()))
                    .collect();
                set_at_path(&mut document, &steps, &value);
            }
        }
        let Some(contract) = self.contract() else { return Some(document) };
        let verdict = contract.admit_value(&document, &RuleContext::default());
        verdict.violations().is_empty().then_some(document)
    }
}

/// The search for one pair.
struct GatePairSearch {
    tests_left: usize,
    run: Value,
}

impl GatePairSearch {
    fn find_witness(
        &mut self,
        search: &OverlapSearch<'_>,
        bases: &[Value],
        first: &TestableGate<'_>,
        second: &TestableGate<'_>,
    ) -> Option<Value> {
        let changes = |gate: &TestableGate<'_>| list_assignments(gate, &[first, second]);
        let (of_first, of_second) = (changes(first), changes(second));
        let mut halves: Vec<Value> = Vec::new();
        for base in bases {
            let mut of_base = 0;
            let weight = measure_weight(base);
            for document in apply_one_or_two(base, &of_first) {
                if of_base >= MAX_DOCUMENTS_PER_BASE || !self.spend_test(search, weight) {
                    break;
                }
                if !first.is_open(&document, &self.run) {
                    continue;
                }
                if let Some(found) = self.confirm_witness(search, &document, first, second) {
                    return Some(found);
                }
                if !halves.contains(&document) {
                    halves.push(document);
                    of_base += 1;
                }
            }
        }
        for half in &halves {
            let weight = measure_weight(half);
            for document in apply_one_or_two(half, &of_second) {
                if !self.spend_test(search, weight) {
                    return None;
                }
                if let Some(found) = self.confirm_witness(search, &document, first, second) {
                    return Some(found);
                }
            }
        }
        None
    }

    fn spend_test(&mut self, search: &OverlapSearch<'_>, weight: usize) -> bool {
        self.tests_left = self.tests_left.saturating_sub(1);
        self.tests_left > 0 && search.budget.spend(weight / LIGHT_DOCUMENT)
    }

    fn confirm_witness(
        &self,
        search: &OverlapSearch<'_>,
        document: &Value,
        first: &TestableGate<'_>,
        second: &TestableGate<'_>,
    ) -> Option<Value> {
        let open = |document: &Value| {
            second.is_open(document, &self.run) && first.is_open(document, &self.run)
        };
        if !open(document) {
            return None;
        }
        let mut found =
            search.apply_engine_fields(document, &self.run).filter(|settled| open(settled))?;
        // A witness with one list item is clearer than one with several.
        for shorter in shorten_lists(&found) {
            if let Some(settled) =
                search.apply_engine_fields(&shorter, &self.run).filter(|one| open(one))
            {
                found = settled;
                break;
            }
        }
        Some(found)
    }
}

/// The weight of a document: its values plus a share of its text bytes.
fn measure_weight(document: &Value) -> usize {
    1 + match document {
        Value::String(text) => text.len() / 16,
        Value::Array(items) => items.iter().map(measure_weight).sum(),
        Value::Object(members) => members.values().map(measure_weight).sum(),
        _ => 0,
    }
}

/// Returns copies of the document in which one list is reduced to one of its items.
fn shorten_lists(document: &Value) -> Vec<Value> {
    let Value::Object(members) = document else { return Vec::new() };
    let mut all = Vec::new();
    for (name, member) in members {
        let Value::Array(items) = member else { continue };
        for item in items.iter().take(if items.len() > 1 { 4 } else { 0 }) {
            let mut one = document.clone();
            one[name.as_str()] = Value::Array(vec![item.clone()]);
            all.push(one);
        }
    }
    all
}

/// A value to set at a path.
type PathAssignment = (Vec<ReadStep>, Value);

/// Lists the values worth trying at the paths that a gate reads.
fn list_assignments(gate: &TestableGate<'_>, both: &[&TestableGate<'_>; 2]) -> Vec<PathAssignment> {
    let mut values: Vec<Value> = Vec::new();
    for literal in both.iter().flat_map(|one| one.literals().into_iter().take(MAX_LITERALS)) {
        if let Some(number) = literal.as_i64() {
            values.extend([number + 1, number - 1].map(Value::from));
            let list = |length: i64| vec![json!({}); usize::try_from(length).unwrap_or(0).min(8)];
            values.extend([number, number + 1].map(|length| Value::from(list(length))));
        }
        values.push(literal);
    }
    values.extend([json!(true), json!(false), json!([]), json!("x"), json!(1), Value::Null]);
    let mut unique: Vec<Value> = Vec::new();
    for value in values {
        if !unique.contains(&value) {
            unique.push(value);
        }
    }
    let paths = gate.read_paths().into_iter().filter(|path| !path.is_empty()).take(MAX_PATHS);
    paths
        .flat_map(|path| {
            unique.iter().map(move |value| (path.clone(), value.clone())).collect::<Vec<_>>()
        })
        .collect()
}

/// Iterates over the document itself, then with each change, then with each pair of changes.
fn apply_one_or_two<'d>(
    base: &'d Value,
    changes: &'d [PathAssignment],
) -> impl Iterator<Item = Value> + 'd {
    let with = |document: &Value, (path, value): &PathAssignment| {
        let mut other = document.clone();
        set_at_path(&mut other, path, value);
        other
    };
    let once = changes.iter().map(move |change| with(base, change));
    let twice = changes.iter().enumerate().flat_map(move |(index, one)| {
        let others = changes[index + 1..].iter().filter(move |other| other.0 != one.0);
        others.map(move |other| with(&with(base, one), other))
    });
    std::iter::once(base.clone()).chain(once).chain(twice)
}

/// Sets a value at a path, creating missing parents.
fn set_at_path(document: &mut Value, steps: &[ReadStep], value: &Value) {
    let Some((step, rest)) = steps.split_first() else {
        *document = value.clone();
        return;
    };
    match step {
        ReadStep::Field(name) => {
            if !document.is_object() {
                *document = Value::Object(Map::new());
            }
            if let Value::Object(members) = document {
                set_at_path(members.entry(name.clone()).or_insert(Value::Null), rest, value);
            }
        }
        ReadStep::Element => {
            if !document.is_array() {
                *document = Value::Array(Vec::new());
            }
            if let Value::Array(items) = document {
                if items.is_empty() {
                    items.push(Value::Null);
                }
                items.truncate(1);
                set_at_path(&mut items[0], rest, value);
            }
        }
    }
}
