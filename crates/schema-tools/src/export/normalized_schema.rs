//! Normalizes a schema into one of a few shapes that every target handles.
//!
//! `allOf` and references with other keywords beside them are folded in. What no target can express
//! (conditions, `not`, dependencies) is dropped and listed.

use countersign_contract::contract::ReferenceResolver;
use countersign_contract::contract::Schema;
use serde_json::{Map, Value};

use crate::annotation_keywords::ANNOTATION_KEYWORDS;
use crate::sample::merge_schemas;

/// The maximum nesting of references and `allOf` that are folded into one schema. Deeper ones are
/// dropped as `limit`.
const MAX_FOLD_DEPTH: usize = 100;
/// The maximum number of subschemas that are folded into one schema. Further ones are dropped as
/// `limit`.
const MAX_FOLDED: usize = 5_000;

/// The shape of a schema.
#[derive(Debug)]
pub(super) enum SchemaShape {
    /// Every value is accepted.
    Anything,
    /// No value is accepted.
    Nothing,
    /// The schema at this pointer of the document.
    Reference(String),
    /// One of these branches, or exactly one if the keyword is `oneOf`. The keywords beside them
    /// apply as well.
    Alternatives(Vec<Value>, &'static str, Map<String, Value>),
    /// One of these values.
    EnumMembers(Vec<Value>),
    /// A value of one of these types, with these keywords.
    Typed(Vec<String>, Map<String, Value>),
}

/// A normalized schema.
#[derive(Debug)]
pub(super) struct NormalizedSchema {
    pub(super) shape: SchemaShape,
    /// The pointers and keywords that were dropped.
    pub(super) dropped: Vec<(String, String)>,
    /// Whether a reference was folded in.
    pub(super) has_inlined_reference: bool,
    pub(super) description: Option<String>,
}

/// Keywords that do not restrict a value.
const NON_ASSERTION_KEYWORDS: [&str; 4] = ["$id", "$defs", "definitions", "default"];
const UNSUPPORTED_KEYWORDS: [&str; 11] = [
    "if",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
    "$dynamicRef",
    "minContains",
];
/// Every type; `number` includes integers.
pub(super) const TYPES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

/// Normalizes a schema of the document; `at` is its pointer.
pub(super) fn normalize_schema(
    references: &ReferenceResolver<'_>,
    schema: &Value,
    at: &str,
) -> NormalizedSchema {
    let description = schema.get("description").and_then(Value::as_str).map(str::to_owned);
    let mut folding = SchemaNormalizer {
        references,
        dropped: Vec::new(),
        open_references: Vec::new(),
        subschemas_left: MAX_FOLDED,
        has_inlined_reference: false,
    };
    let keywords = folding.fold_schema(schema, at, 0);
    let SchemaNormalizer { mut dropped, has_inlined_reference: unfolded, .. } = folding;
    let shape = match keywords {
        None => SchemaShape::Nothing,
        Some(keywords) => classify_shape(references, keywords, at, &mut dropped),
    };
    NormalizedSchema { shape, dropped, has_inlined_reference: unfolded, description }
}

/// Returns a branch combined with the keywords beside the alternatives.
pub(super) fn with_siblings(beside: &Map<String, Value>, branch: &Value) -> Value {
    if beside.is_empty() {
        return branch.clone();
    }
    let both = Value::Array(vec![Value::Object(beside.clone()), branch.clone()]);
    Value::Object(Map::from_iter([("allOf".to_owned(), both)]))
}

struct SchemaNormalizer<'r, 's> {
    references: &'r ReferenceResolver<'s>,
    dropped: Vec<(String, String)>,
    /// The pointers of the references on the current path. A reference that leads back to itself
    /// for the same value adds nothing.
    open_references: Vec<String>,
    subschemas_left: usize,
    has_inlined_reference: bool,
}

impl SchemaNormalizer<'_, '_> {
    /// Folds everything that applies to the value into one object; `None` if no value is accepted.
    fn fold_schema(
        &mut self,
        schema: &Value,
        at: &str,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let said = match schema {
            Value::Bool(true) => return Some(Map::new()),
            Value::Object(said) => said,
            _ => return None,
        };
        if depth > MAX_FOLD_DEPTH || self.subschemas_left == 0 {
            self.dropped.push((at.to_owned(), "limit".to_owned()));
            return Some(Map::new());
        }
        self.subschemas_left -= 1;
        if let (true, Some(reference)) = (self.references.ignores_siblings, said.get("$ref")) {
            return Some(Map::from_iter([("$ref".to_owned(), reference.clone())]));
        }
        let mut keywords = Map::new();
        for (keyword, value) in said {
            match keyword.as_str() {
                word if ANNOTATION_KEYWORDS.contains(&word)
                    || NON_ASSERTION_KEYWORDS.contains(&word) => {}
                "allOf" | "then" | "else" => {}
                word if UNSUPPORTED_KEYWORDS.contains(&word) => {
                    self.dropped.push((at.to_owned(), keyword.clone()));
                }
                _ => {
                    keywords.insert(keyword.clone(), value.clone());
                }
            }
        }
        let parts =
            said.get("allOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (index, part) in parts.iter().enumerate() {
            let at = format!("{at}/allOf/{index}");
            let mut inner = self.fold_schema(part, &at, depth + 1)?;
            if keywords.contains_key("$ref") || (inner.contains_key("$ref") && !keywords.is_empty())
            {
                keywords = self.inline_reference(keywords, &at, depth)?;
                inner = self.inline_reference(inner, &at, depth)?;
            }
            for keyword in ["anyOf", "oneOf"] {
                if keywords.contains_key(keyword) && inner.shift_remove(keyword).is_some() {
                    self.dropped.push((at.clone(), keyword.to_owned()));
                }
            }
            keywords = merge_schemas(keywords, inner);
        }
        if keywords.len() > 1 && keywords.contains_key("$ref") {
            keywords = self.inline_reference(keywords, at, depth)?;
        }
        Some(keywords)
    }

    /// Replaces a reference by its target.
    fn inline_reference(
        &mut self,
        mut keywords: Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let Some(reference) = keywords.shift_remove("$ref") else { return Some(keywords) };
        let target = reference.as_str().and_then(|reference| self.references.resolve(reference));
        let Some((pointer, target)) = target else {
            self.dropped.push((at.to_owned(), "$ref".to_owned()));
            return Some(keywords);
        };
        self.has_inlined_reference = true;
        if self.open_references.contains(&pointer) {
            return Some(keywords);
        }
        self.open_references.push(pointer.clone());
        let referred = self.fold_schema(target, &pointer, depth + 1);
        let referred = referred.and_then(|said| self.inline_reference(said, &pointer, depth + 1));
        self.open_references.pop();
        Some(merge_schemas(keywords, referred?))
    }
}

fn classify_shape(
    references: &ReferenceResolver<'_>,
    mut keywords: Map<String, Value>,
    at: &str,
    dropped: &mut Vec<(String, String)>,
) -> SchemaShape {
    if keywords.is_empty() {
        return SchemaShape::Anything;
    }
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
        return match references.resolve(reference) {
            Some((pointer, _)) => SchemaShape::Reference(pointer),
            None => {
                dropped.push((at.to_owned(), "$ref".to_owned()));
                SchemaShape::Anything
            }
        };
    }
    if keywords.contains_key("enum") || keywords.contains_key("const") {
        let members = filter_enum_members(keywords);
        return if members.is_empty() {
            SchemaShape::Nothing
        } else {
            SchemaShape::EnumMembers(members)
        };
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = keywords.shift_remove(keyword) {
            if keywords.shift_remove(if keyword == "oneOf" { "anyOf" } else { "oneOf" }).is_some() {
                dropped.push((at.to_owned(), "anyOf".to_owned()));
            }
            return SchemaShape::Alternatives(branches, keyword, keywords);
        }
    }
    let types = match keywords.shift_remove("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => TYPES.map(str::to_owned).to_vec(),
    };
    if types.is_empty() { SchemaShape::Nothing } else { SchemaShape::Typed(types, keywords) }
}

/// Returns the members that the other keywords accept as well.
fn filter_enum_members(mut keywords: Map<String, Value>) -> Vec<Value> {
    let listed = match (keywords.shift_remove("const"), keywords.shift_remove("enum")) {
        (Some(value), Some(Value::Array(listed))) if !listed.contains(&value) => Vec::new(),
        (Some(value), _) => vec![value],
        (None, Some(Value::Array(listed))) => listed,
        (None, _) => Vec::new(),
    };
    if keywords.is_empty() {
        return listed;
    }
    // Keywords with references concern the content of arrays and objects, which are seldom members.
    keywords.retain(|_, said| !said.to_string().contains("\"$ref\""));
    let others = Value::Object(keywords);
    let compiled = Schema::compile(others).ok();
    let fits = |member: &Value| compiled.as_ref().is_none_or(|schema| schema.is_valid(member));
    listed.into_iter().filter(fits).collect()
}
