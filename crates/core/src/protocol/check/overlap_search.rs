//! The search for a document that opens two gates at once.
//!
//! Samples of the document's contract, changed at the places the gates read, to the values the gates
//! compare with and their neighbours. What is found is a proof; what is not found proves nothing.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::analysis_budget::AnalysisBudget;
use crate::contract::{Contract, SchemaSampler};
use crate::expr::{Expr, ReadStep};
use crate::json;
use crate::protocol::{DocumentDefinition, Protocol, WorkflowDefinition};
use crate::reply::RuleContext;

/// How often gates are asked in one protocol.
const MAX_TESTS: usize = 200_000;
/// How often gates are asked for one pair.
const MAX_TESTS_PER_PAIR: usize = 20_000;
/// How many documents are begun with.
const MAX_BASE_DOCUMENTS: usize = 24;
/// How many documents made from one of them that open the first gate are tried on the second.
const MAX_DOCUMENTS_PER_BASE: usize = 3;
/// How many values and paths of a gate are tried.
const MAX_LITERALS: usize = 200;
const MAX_PATHS: usize = 200;
/// A question to a document of this weight or less costs no more than the question itself.
const LIGHT_DOCUMENT: usize = 256;
/// The slot of `state`; a gate knows `run` beside it.
const STATE_SLOT: usize = 0;

/// A gate that can be put to a document.
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

    /// The fields at the top of the document that it reads.
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

/// A search over the pairs of one protocol.
pub(super) struct OverlapSearch<'p> {
    /// What all pairs may cost together; a large document costs more than a small one.
    pub(super) budget: &'p AnalysisBudget,
    document: &'p DocumentDefinition,
    bases: Option<Vec<Value>>,
    tests_left: usize,
}

impl<'p> OverlapSearch<'p> {
    pub(super) fn new(protocol: &'p Protocol, budget: &'p AnalysisBudget) -> Self {
        Self { budget, document: &protocol.document, bases: None, tests_left: MAX_TESTS }
    }

    /// Turns to the gates of runs with this document.
    pub(super) fn set_document(&mut self, document: &'p DocumentDefinition) {
        if !std::ptr::eq(self.document, document) {
            self.document = document;
            self.bases = None;
        }
    }

    fn contract(&self) -> Option<&'p Arc<Contract>> {
        self.document.contract.as_ref()
    }

    /// A document of a run in this phase that opens both.
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

    /// Where the search begins: the first document, samples, and the edges of the contract.
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

    /// The document as the engine would leave it, if it is one that a run may have.
    fn apply_engine_fields(&self, document: &Value, run: &Value) -> Option<Value> {
        let mut document = document.clone();
        for place in &self.document.engine {
            let value = place.value.eval(&[Some(&document), Some(run)]).ok()?.to_json();
            if let Some(value) = value {
                let steps: Vec<ReadStep> = json::split_pointer(&place.at)
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
        let changes = |asked: &TestableGate<'_>| list_assignments(asked, &[first, second]);
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
        // One item says more than several.
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

/// How many values and bytes of text a document has.
fn measure_weight(document: &Value) -> usize {
    1 + match document {
        Value::String(text) => text.len() / 16,
        Value::Array(items) => items.iter().map(measure_weight).sum(),
        Value::Object(members) => members.values().map(measure_weight).sum(),
        _ => 0,
    }
}

/// The document with one of its lists cut down to one of its items.
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

/// One value put at one path.
type PathAssignment = (Vec<ReadStep>, Value);

/// The values worth trying at the paths that a gate reads.
fn list_assignments(
    asked: &TestableGate<'_>,
    both: &[&TestableGate<'_>; 2],
) -> Vec<PathAssignment> {
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
    let paths = asked.read_paths().into_iter().filter(|path| !path.is_empty()).take(MAX_PATHS);
    paths
        .flat_map(|path| {
            unique.iter().map(move |value| (path.clone(), value.clone())).collect::<Vec<_>>()
        })
        .collect()
}

/// The document itself, then with each change, then with each two.
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

/// Puts a value at a path; what holds it is made where it is missing.
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
