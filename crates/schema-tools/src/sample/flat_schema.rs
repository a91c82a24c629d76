//! Flattens a schema: folds references, `allOf` and one branch of each alternative into one object.
//!
//! Conditions (`if`) are kept separately, because whether they apply depends on the generated
//! value.

use serde_json::{Map, Value, json};

use super::merge_schemas::merge_schemas;
use super::sample_generator::SampleGenerator;
use crate::work_budget::count_values;

/// The depth of references and `allOf` beyond which flattening fails.
const MAX_FLATTEN_DEPTH: usize = 24;

/// The unconditional keywords of a value, and its conditions.
#[derive(Debug, Default)]
pub(super) struct FlatSchema<'s> {
    pub(super) keywords: Map<String, Value>,
    pub(super) conditions: Vec<SchemaCondition<'s>>,
}

/// One `if` with its consequences.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "`if` and `else` are keywords of Rust")]
pub(super) struct SchemaCondition<'s> {
    pub(super) if_schema: &'s Value,
    pub(super) then_schema: Option<&'s Value>,
    pub(super) else_schema: Option<&'s Value>,
}

/// Keywords that are folded or kept separately, and keywords that do not restrict a value.
const FOLDED_KEYWORDS: [&str; 18] = [
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

impl<'s> SampleGenerator<'s> {
    /// Flattens a schema of the document; `None` if it accepts nothing.
    pub(super) fn flatten(&mut self, schema: &'s Value) -> Option<FlatSchema<'s>> {
        let mut flat = FlatSchema::default();
        self.fold_schema(schema, &mut flat, 0)?;
        Some(flat)
    }

    fn fold_schema(
        &mut self,
        schema: &'s Value,
        flat: &mut FlatSchema<'s>,
        depth: usize,
    ) -> Option<()> {
        if depth > MAX_FLATTEN_DEPTH {
            return None;
        }
        let object = match schema {
            Value::Bool(takes) => return takes.then_some(()),
            other => other.as_object()?,
        };
        let own = object.iter().filter(|(keyword, _)| !FOLDED_KEYWORDS.contains(&keyword.as_str()));
        let own: Option<Map<String, Value>> = own
            .map(|(keyword, said)| {
                let affordable = self.budget.spend(count_values(said));
                affordable.then(|| (keyword.clone(), said.clone()))
            })
            .collect();
        let own = own?;
        flat.keywords = merge_schemas(std::mem::take(&mut flat.keywords), own);
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let target = self.resolve_reference(reference)?;
            self.fold_schema(target, flat, depth + 1)?;
        }
        for part in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.fold_schema(part, flat, depth + 1)?;
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = object.get(keyword).and_then(Value::as_array) {
                let branch = branches.get(self.choose_branch(branches.len()))?;
                self.fold_schema(branch, flat, depth + 1)?;
            }
        }
        if let Some(test) = object.get("if") {
            let (then, otherwise) = (object.get("then"), object.get("else"));
            flat.conditions.push(SchemaCondition {
                if_schema: test,
                then_schema: then,
                else_schema: otherwise,
            });
        }
        Some(())
    }

    fn resolve_reference(&self, reference: &str) -> Option<&'s Value> {
        self.references.resolve(reference).map(|(_, target)| target)
    }
}

/// Returns a subschema as a document of its own, with the definitions it may refer to.
pub(crate) fn to_standalone_schema(root: &Value, schema: &Value) -> Value {
    let mut document = json!({"allOf": [schema]});
    for keyword in ["$schema", "$defs", "definitions"] {
        if let Some(said) = root.get(keyword) {
            document[keyword] = said.clone();
        }
    }
    document
}
