//! The root of an export. A reply is always an object, and strict modes want one at the root.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::loss::Effect;
use super::normal::{Shape, with_beside};
use super::schema::Writer;

/// Alternatives at the root that are joined into one object. More stay alternatives.
const MAX_JOINED: usize = 64;

/// The schema to begin with, and where it stands: references are followed, types other than
/// objects are left out, and alternatives are joined into one object that takes all of theirs.
pub(super) fn object_root(writer: &mut Writer<'_>) -> (Value, String) {
    let root = writer.unfolding.references.root();
    let (schema, at) = follow(writer, root.clone(), String::new());
    let normal = writer.unfolding.normal(&schema, &at);
    match normal.shape {
        Shape::Typed(types, mut keywords) if types.iter().any(|name| name == "object") => {
            if types.len() == 1 {
                return (schema, at);
            }
            keywords.insert("type".to_owned(), json!("object"));
            keep_words(&schema, &mut keywords);
            (Value::Object(keywords), at)
        }
        Shape::Anything => (json!({"type": "object"}), at),
        Shape::Alternatives(branches, keyword, beside) => {
            let mut objects = Vec::new();
            let whole = branches
                .iter()
                .all(|branch| collect(writer, with_beside(&beside, branch), &at, &mut objects));
            match objects.len() {
                _ if !whole => (schema, at),
                0 => (schema, at),
                1 => (Value::Object(objects.remove(0)), at),
                _ => {
                    let reason =
                        "the provider wants one object at the root; the alternatives are joined";
                    writer.lose(&at, keyword, reason, Effect::Widened);
                    let mut joined = join(&objects);
                    keep_words(&schema, &mut joined);
                    (Value::Object(joined), at)
                }
            }
        }
        _ => (schema, at),
    }
}

fn keep_words(schema: &Value, keywords: &mut Map<String, Value>) {
    keywords
        .extend(schema.get("description").map(|words| ("description".to_owned(), words.clone())));
}

/// Follows references that stand alone.
fn follow(writer: &Writer<'_>, mut schema: Value, mut at: String) -> (Value, String) {
    let mut passed = BTreeSet::new();
    while let Shape::Reference(pointer) = writer.unfolding.normal(&schema, &at).shape {
        let Some(target) = writer.unfolding.references.root().pointer(&pointer) else { break };
        if !passed.insert(pointer.clone()) {
            // A reference that leads back to itself says nothing.
            return (Value::Bool(true), at);
        }
        (schema, at) = (target.clone(), pointer);
    }
    (schema, at)
}

/// Collects the objects among alternatives inside alternatives; false where there are too many, or
/// one that is no plain object.
fn collect(
    writer: &Writer<'_>,
    branch: Value,
    at: &str,
    into: &mut Vec<Map<String, Value>>,
) -> bool {
    if into.len() >= MAX_JOINED {
        return false;
    }
    let (branch, at) = follow(writer, branch, at.to_owned());
    match writer.unfolding.normal(&branch, &at).shape {
        Shape::Nothing => true,
        Shape::Typed(types, mut keywords) => {
            if types.iter().any(|name| name == "object") {
                keywords.insert("type".to_owned(), json!("object"));
                into.push(keywords);
            }
            true
        }
        Shape::Alternatives(branches, _, beside) => branches
            .iter()
            .take(MAX_JOINED + 1)
            .all(|inner| collect(writer, with_beside(&beside, inner), &at, into)),
        Shape::Members(members) => !members.iter().any(Value::is_object),
        Shape::Anything | Shape::Reference(_) => false,
    }
}

/// One object that takes what each of these takes.
fn join(objects: &[Map<String, Value>]) -> Map<String, Value> {
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
