//! Makes the root of an export an object. A reply is always an object, and strict modes require one
//! at the root.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::exported_contract::LossEffect;
use super::normalized_schema::{SchemaShape, with_siblings};
use super::schema_exporter::SchemaExporter;

/// The maximum number of alternatives at the root that are joined into one object. If there are
/// more, they stay alternatives.
const MAX_JOINED_BRANCHES: usize = 64;

/// Returns the schema to start with and its pointer. References are followed, types other than
/// objects are left out, and alternatives are joined into one object that accepts what each of them
/// accepts.
pub(super) fn build_object_root(writer: &mut SchemaExporter<'_>) -> (Value, String) {
    let root = writer.traversal.references.root();
    let (schema, at) = follow_references(writer, root.clone(), String::new());
    let normal = writer.traversal.normalize(&schema, &at);
    match normal.shape {
        SchemaShape::Typed(types, mut keywords) if types.iter().any(|name| name == "object") => {
            if types.len() == 1 {
                return (schema, at);
            }
            keywords.insert("type".to_owned(), json!("object"));
            copy_description(&schema, &mut keywords);
            (Value::Object(keywords), at)
        }
        SchemaShape::Anything => (json!({"type": "object"}), at),
        SchemaShape::Alternatives(branches, keyword, beside) => {
            let mut objects = Vec::new();
            let whole = branches.iter().all(|branch| {
                collect_object_branches(writer, with_siblings(&beside, branch), &at, &mut objects)
            });
            match objects.len() {
                _ if !whole => (schema, at),
                0 => (schema, at),
                1 => (Value::Object(objects.remove(0)), at),
                _ => {
                    let reason =
                        "the provider requires one object at the root; the alternatives are merged";
                    writer.losses.record(&at, keyword, reason, LossEffect::Widened);
                    let mut joined = join_objects(&objects);
                    copy_description(&schema, &mut joined);
                    (Value::Object(joined), at)
                }
            }
        }
        _ => (schema, at),
    }
}

fn copy_description(schema: &Value, keywords: &mut Map<String, Value>) {
    keywords
        .extend(schema.get("description").map(|words| ("description".to_owned(), words.clone())));
}

/// Follows references that have no other keywords beside them.
fn follow_references(
    writer: &SchemaExporter<'_>,
    mut schema: Value,
    mut at: String,
) -> (Value, String) {
    let mut passed = BTreeSet::new();
    while let SchemaShape::Reference(pointer) = writer.traversal.normalize(&schema, &at).shape {
        let Some(target) = writer.traversal.references.root().pointer(&pointer) else { break };
        if !passed.insert(pointer.clone()) {
            // A reference that leads back to itself restricts nothing.
            return (Value::Bool(true), at);
        }
        (schema, at) = (target.clone(), pointer);
    }
    (schema, at)
}

/// Collects the objects among nested alternatives; returns false if there are too many, or if one
/// is not a plain object.
fn collect_object_branches(
    writer: &SchemaExporter<'_>,
    branch: Value,
    at: &str,
    into: &mut Vec<Map<String, Value>>,
) -> bool {
    if into.len() >= MAX_JOINED_BRANCHES {
        return false;
    }
    let (branch, at) = follow_references(writer, branch, at.to_owned());
    match writer.traversal.normalize(&branch, &at).shape {
        SchemaShape::Nothing => true,
        SchemaShape::Typed(types, mut keywords) => {
            if types.iter().any(|name| name == "object") {
                keywords.insert("type".to_owned(), json!("object"));
                into.push(keywords);
            }
            true
        }
        SchemaShape::Alternatives(branches, _, beside) => branches
            .iter()
            .take(MAX_JOINED_BRANCHES + 1)
            .all(|inner| collect_object_branches(writer, with_siblings(&beside, inner), &at, into)),
        SchemaShape::EnumMembers(members) => !members.iter().any(Value::is_object),
        SchemaShape::Anything | SchemaShape::Reference(_) => false,
    }
}

/// Returns one object schema that accepts what each of these accepts.
fn join_objects(objects: &[Map<String, Value>]) -> Map<String, Value> {
    let nothing = Map::new();
    let fields = |object: &'_ Map<String, Value>| -> Map<String, Value> {
        object.get("properties").and_then(Value::as_object).unwrap_or(&nothing).clone()
    };
    let required = |object: &Map<String, Value>| -> BTreeSet<String> {
        let names = object.get("required").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let is_closed = |object: &Map<String, Value>| {
        object.get("additionalProperties") == Some(&Value::Bool(false))
            && !object.contains_key("patternProperties")
    };
    let mut kinds: Map<String, Value> = Map::new();
    let all_fields: Vec<Map<String, Value>> = objects.iter().map(fields).collect();
    for name in all_fields.iter().flat_map(Map::keys) {
        if kinds.contains_key(name) {
            continue;
        }
        let mut seen: Vec<Value> = Vec::new();
        for (object, declared) in objects.iter().zip(&all_fields) {
            let kind = match declared.get(name) {
                Some(schema) => schema.clone(),
                None if is_closed(object) => continue,
                None => Value::Bool(true),
            };
            if !seen.contains(&kind) {
                seen.push(kind);
            }
        }
        let kind = if seen.len() == 1 { seen.remove(0) } else { json!({"anyOf": seen}) };
        kinds.insert(name.clone(), kind);
    }
    let always = objects.iter().map(required).reduce(|one, two| &one & &two).unwrap_or_default();
    let mut joined = Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(kinds)),
        ("required".to_owned(), json!(always)),
    ]);
    if objects.iter().all(is_closed) {
        joined.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    joined
}
