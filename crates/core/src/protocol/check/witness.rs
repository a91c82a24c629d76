//! The search for a document that opens two gates at once.
//!
//! Samples of the document's contract, changed at the places the gates read, to the values the gates
//! compare with and their neighbours. What is found is a proof; what is not found proves nothing.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::effort::Effort;
use crate::contract::{Contract, Sampler};
use crate::expr::{Expr, ReadStep};
use crate::json;
use crate::protocol::{Document, Protocol, Workflow};
use crate::reply::Context;

/// How often gates are asked in one protocol.
const MOST_QUESTIONS: usize = 200_000;
/// How often gates are asked for one pair.
const MOST_FOR_PAIR: usize = 20_000;
/// How many documents are begun with.
const MOST_BASES: usize = 24;
/// How many documents made from one of them that open the first gate are tried on the second.
const MOST_OF_BASE: usize = 3;
/// How many values and paths of a gate are tried.
const MOST_LITERALS: usize = 200;
const MOST_PATHS: usize = 200;
/// A question to a document of this weight or less costs no more than the question itself.
const LIGHT_DOCUMENT: usize = 256;
/// The slot of `state`; a gate knows `run` beside it.
const STATE: usize = 0;

/// A gate that can be put to a document.
#[derive(Debug)]
pub(super) enum Asked<'p> {
    Expression(&'p Expr),
    Status { pointer: &'p str, value: &'p str },
}

impl Asked<'_> {
    fn is_open(&self, document: &Value, run: &Value) -> bool {
        match self {
            Self::Expression(expr) => expr.test(&[Some(document), Some(run)]).unwrap_or(false),
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
    pub(super) fn fields(&self) -> Vec<String> {
        let first = |steps: &Vec<ReadStep>| match steps.first() {
            Some(ReadStep::Field(name)) => Some(name.clone()),
            _ => None,
        };
        self.paths().iter().filter_map(first).collect()
    }

    fn paths(&self) -> Vec<Vec<ReadStep>> {
        match self {
            Self::Expression(expr) => {
                let reads = expr.reads().iter().filter(|read| read.slot == STATE);
                reads.map(|read| read.steps.clone()).collect()
            }
            Self::Status { pointer, .. } => {
                vec![json::split(pointer).map(|name| ReadStep::Field(name.into_owned())).collect()]
            }
        }
    }

    fn literals(&self) -> Vec<Value> {
        match self {
            Self::Expression(expr) => expr.literals(),
            Self::Status { value, .. } => vec![Value::from(*value)],
        }
    }
}

/// A search over the pairs of one protocol.
pub(super) struct Search<'p> {
    /// What all pairs may cost together; a large document costs more than a small one.
    pub(super) effort: &'p Effort,
    document: &'p Document,
    bases: Option<Vec<Value>>,
    left: usize,
}

impl<'p> Search<'p> {
    pub(super) fn of(protocol: &'p Protocol, effort: &'p Effort) -> Self {
        Self { effort, document: &protocol.document, bases: None, left: MOST_QUESTIONS }
    }

    /// Turns to the gates of runs with this document.
    pub(super) fn turn_to(&mut self, document: &'p Document) {
        if !std::ptr::eq(self.document, document) {
            self.document = document;
            self.bases = None;
        }
    }

    fn contract(&self) -> Option<&'p Arc<Contract>> {
        self.document.contract.as_ref()
    }

    /// A document of a run in this phase that opens both.
    pub(super) fn both_open(
        &mut self,
        workflow: &Workflow,
        phase: &str,
        first: &Asked<'_>,
        second: &Asked<'_>,
    ) -> Option<Value> {
        if self.left == 0 {
            return None;
        }
        let run = json!({
            "id": "run", "workflow": workflow.id, "phase": phase, "status": "running",
            "version": 1, "created_at": "2000-01-01T00:00:00Z",
            "updated_at": "2000-01-01T00:00:00Z",
        });
        let most = MOST_FOR_PAIR.min(self.left);
        let mut pair = Pair { questions: most, run };
        let bases = self.bases.take().unwrap_or_else(|| self.bases());
        let found = pair.search(self, &bases, first, second);
        self.bases = Some(bases);
        self.left -= most - pair.questions;
        found
    }

    /// Where the search begins: the first document, samples, and the edges of the contract.
    fn bases(&self) -> Vec<Value> {
        let mut bases = vec![self.document.initial.clone()];
        if let Some(contract) = self.contract() {
            let sampler = Sampler::new(contract.schema.source());
            bases.extend((0..8).filter_map(|seed| sampler.sample(seed)));
            bases.extend(sampler.boundary());
        }
        bases.retain(Value::is_object);
        bases.truncate(MOST_BASES);
        bases
    }

    /// The document as the engine would leave it, if it is one that a run may have.
    fn settled(&self, document: &Value, run: &Value) -> Option<Value> {
        let mut document = document.clone();
        for place in &self.document.engine {
            let value = place.value.eval(&[Some(&document), Some(run)]).ok()?.to_json();
            if let Some(value) = value {
                let steps: Vec<ReadStep> =
                    json::split(&place.at).map(|name| ReadStep::Field(name.into_owned())).collect();
                put(&mut document, &steps, &value);
            }
        }
        let Some(contract) = self.contract() else { return Some(document) };
        let verdict = contract.admit_value(&document, &Context::default());
        verdict.violations().is_empty().then_some(document)
    }
}

/// The search for one pair.
struct Pair {
    questions: usize,
    run: Value,
}

impl Pair {
    fn search(
        &mut self,
        search: &Search<'_>,
        bases: &[Value],
        first: &Asked<'_>,
        second: &Asked<'_>,
    ) -> Option<Value> {
        let changes = |asked: &Asked<'_>| changes(asked, &[first, second]);
        let (of_first, of_second) = (changes(first), changes(second));
        let mut halves: Vec<Value> = Vec::new();
        for base in bases {
            let mut of_base = 0;
            let weight = weight(base);
            for document in once_and_twice(base, &of_first) {
                if of_base >= MOST_OF_BASE || !self.may_ask(search, weight) {
                    break;
                }
                if !first.is_open(&document, &self.run) {
                    continue;
                }
                if let Some(found) = self.proof(search, &document, first, second) {
                    return Some(found);
                }
                if !halves.contains(&document) {
                    halves.push(document);
                    of_base += 1;
                }
            }
        }
        for half in &halves {
            let weight = weight(half);
            for document in once_and_twice(half, &of_second) {
                if !self.may_ask(search, weight) {
                    return None;
                }
                if let Some(found) = self.proof(search, &document, first, second) {
                    return Some(found);
                }
            }
        }
        None
    }

    fn may_ask(&mut self, search: &Search<'_>, weight: usize) -> bool {
        self.questions = self.questions.saturating_sub(1);
        self.questions > 0 && search.effort.spend(weight / LIGHT_DOCUMENT)
    }

    fn proof(
        &self,
        search: &Search<'_>,
        document: &Value,
        first: &Asked<'_>,
        second: &Asked<'_>,
    ) -> Option<Value> {
        let open = |document: &Value| {
            second.is_open(document, &self.run) && first.is_open(document, &self.run)
        };
        if !open(document) {
            return None;
        }
        let mut found = search.settled(document, &self.run).filter(|settled| open(settled))?;
        // One item says more than several.
        for shorter in shorter(&found) {
            if let Some(settled) = search.settled(&shorter, &self.run).filter(|one| open(one)) {
                found = settled;
                break;
            }
        }
        Some(found)
    }
}

/// How many values and bytes of text a document has.
fn weight(document: &Value) -> usize {
    1 + match document {
        Value::String(text) => text.len() / 16,
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.values().map(weight).sum(),
        _ => 0,
    }
}

/// The document with one of its lists cut down to one of its items.
fn shorter(document: &Value) -> Vec<Value> {
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
type Put = (Vec<ReadStep>, Value);

/// The values worth trying at the paths that a gate reads.
fn changes(asked: &Asked<'_>, both: &[&Asked<'_>; 2]) -> Vec<Put> {
    let mut values: Vec<Value> = Vec::new();
    for literal in both.iter().flat_map(|one| one.literals().into_iter().take(MOST_LITERALS)) {
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
    let paths = asked.paths().into_iter().filter(|path| !path.is_empty()).take(MOST_PATHS);
    paths
        .flat_map(|path| {
            unique.iter().map(move |value| (path.clone(), value.clone())).collect::<Vec<_>>()
        })
        .collect()
}

/// The document itself, then with each change, then with each two.
fn once_and_twice<'d>(base: &'d Value, changes: &'d [Put]) -> impl Iterator<Item = Value> + 'd {
    let with = |document: &Value, (path, value): &Put| {
        let mut other = document.clone();
        put(&mut other, path, value);
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
fn put(document: &mut Value, steps: &[ReadStep], value: &Value) {
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
                put(members.entry(name.clone()).or_insert(Value::Null), rest, value);
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
                put(&mut items[0], rest, value);
            }
        }
    }
}
