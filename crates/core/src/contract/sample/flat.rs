//! A schema laid flat: references, `allOf` and one branch of each alternative folded into one object.
//!
//! Conditions (`if`) are set aside: whether they hold shows only when the value is there.

use serde_json::{Map, Value, json};

use super::make::Maker;
use super::merge::merge;
use crate::contract::budget::count_values;

/// References and `allOf` deeper than this are given up.
const DEEPEST: usize = 24;

/// What a value must be, and what more is asked of it under a condition.
#[derive(Debug, Default)]
pub(super) struct Flat<'s> {
    pub(super) keywords: Map<String, Value>,
    pub(super) conditions: Vec<Condition<'s>>,
}

/// One `if` with what follows from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Condition<'s> {
    pub(super) test: &'s Value,
    pub(super) then: Option<&'s Value>,
    pub(super) otherwise: Option<&'s Value>,
}

/// Keywords that are folded in or set aside, and those that demand nothing of a value.
const FOLDED: [&str; 18] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "then",
    "else",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "$schema",
    "$id",
    "$comment",
    "deprecated",
    "not",
];

impl<'s> Maker<'s> {
    /// Lays a schema of the document flat; `None` where it takes nothing.
    pub(super) fn flatten(&mut self, schema: &'s Value) -> Option<Flat<'s>> {
        let mut flat = Flat::default();
        self.fold(schema, &mut flat, 0)?;
        Some(flat)
    }

    fn fold(&mut self, schema: &'s Value, flat: &mut Flat<'s>, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let object = match schema {
            Value::Bool(takes) => return takes.then_some(()),
            other => other.as_object()?,
        };
        let own = object.iter().filter(|(keyword, _)| !FOLDED.contains(&keyword.as_str()));
        let own: Option<Map<String, Value>> = own
            .map(|(keyword, said)| {
                let affordable = self.allowance.spend(count_values(said));
                affordable.then(|| (keyword.clone(), said.clone()))
            })
            .collect();
        let own = own?;
        flat.keywords = merge(std::mem::take(&mut flat.keywords), own);
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let target = self.resolve(reference)?;
            self.fold(target, flat, depth + 1)?;
        }
        for part in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.fold(part, flat, depth + 1)?;
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = object.get(keyword).and_then(Value::as_array) {
                let branch = branches.get(self.branch(branches.len()))?;
                self.fold(branch, flat, depth + 1)?;
            }
        }
        if let Some(test) = object.get("if") {
            let (then, otherwise) = (object.get("then"), object.get("else"));
            flat.conditions.push(Condition { test, then, otherwise });
        }
        Some(())
    }

    fn resolve(&self, reference: &str) -> Option<&'s Value> {
        self.references.resolve(reference).map(|(_, target)| target)
    }
}

/// A subschema as a document of its own, with the definitions it may refer to.
pub(in crate::contract) fn standing_alone(root: &Value, schema: &Value) -> Value {
    let mut document = json!({"allOf": [schema]});
    for keyword in ["$schema", "$defs", "definitions"] {
        if let Some(said) = root.get(keyword) {
            document[keyword] = said.clone();
        }
    }
    document
}
