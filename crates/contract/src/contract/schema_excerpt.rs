//! Excerpts of schemas: what a schema demands at some locations of a value, and nothing else.
//!
//! A model that changes a part of a document reads the excerpt for that part.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::reference_resolver::{DATA_KEYWORDS, ReferenceResolver};
use crate::json;

/// Keywords that demand nothing and tell a reader of the excerpt nothing.
const OMITTED_KEYWORDS: [&str; 5] = ["$schema", "$id", "$comment", "title", "examples"];

/// Keywords whose value maps names to schemas.
const SCHEMA_MAPS: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Keywords that relate members of an object to each other. One that mentions a member of the
/// excerpt is copied whole.
const RELATIONS: [&str; 9] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
];

/// References that may follow each other at one location.
const MAX_REFERENCE_HOPS: usize = 16;

/// Returns what the schema demands of the values at these pointers, as a schema of the whole value;
/// `None` if it demands nothing there. An array element is written as `-`, `*` or a number.
///
/// The excerpt has every definition that it refers to, and no titles or ids.
#[must_use]
pub fn excerpt_schema(schema: &Value, pointers: &[String]) -> Option<Value> {
    let mut wanted = PointerTree::default();
    for pointer in pointers {
        wanted.insert(pointer);
    }
    let resolver = ReferenceResolver::new(schema);
    let mut excerpt = cut_excerpt(&resolver, schema, &wanted, 0)?;
    add_definitions(&resolver, &mut excerpt);
    Some(excerpt)
}

/// The locations of an excerpt; `is_whole` if everything below a location belongs to it.
#[derive(Debug, Default)]
struct PointerTree {
    is_whole: bool,
    members: BTreeMap<String, PointerTree>,
}

impl PointerTree {
    fn insert(&mut self, pointer: &str) {
        let mut node = self;
        for segment in json::split_pointer(pointer) {
            node = node.members.entry(segment.into_owned()).or_default();
        }
        node.is_whole = true;
    }
}

/// Cuts the excerpt for one location; `None` if the schema demands nothing there.
fn cut_excerpt(
    resolver: &ReferenceResolver<'_>,
    schema: &Value,
    wanted: &PointerTree,
    hops: usize,
) -> Option<Value> {
    if wanted.is_whole {
        let whole = without_annotations(schema, false);
        return demands_something(&whole).then_some(whole);
    }
    let members = schema.as_object()?;
    if let Some((_, target)) = resolver.resolve_in(schema)
        && hops < MAX_REFERENCE_HOPS
    {
        return cut_excerpt(resolver, target, wanted, hops + 1);
    }
    let mut kept = Map::new();
    for (name, below) in &wanted.members {
        let is_element = name == "-" || name == "*" || name.parse::<usize>().is_ok();
        let found = match schema.get("properties").and_then(|all| all.get(name)) {
            Some(member) => Some((Some("properties"), member)),
            None if is_element => schema.get("items").map(|items| (None, items)),
            None => schema.get("additionalProperties").map(|rest| (Some("properties"), rest)),
        };
        let Some((keyword, member)) = found else { continue };
        let Some(part) = cut_excerpt(resolver, member, below, 0) else { continue };
        match keyword {
            None => drop(kept.insert("items".to_owned(), part)),
            Some(keyword) => {
                let all = kept.entry(keyword).or_insert_with(|| Value::Object(Map::new()));
                all[name] = part;
            }
        }
    }
    let names: BTreeSet<&str> = wanted.members.keys().map(String::as_str).collect();
    for keyword in RELATIONS {
        if let Some(relation) = members.get(keyword).filter(|one| mentions_any(one, &names)) {
            let is_map = SCHEMA_MAPS.contains(&keyword);
            kept.insert(keyword.to_owned(), without_annotations(relation, is_map));
        }
    }
    if kept.contains_key("then") || kept.contains_key("else") {
        let condition = members.get("if").map(|one| without_annotations(one, false));
        kept.extend(condition.map(|condition| ("if".to_owned(), condition)));
    }
    let required = members.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<Value> = required
        .filter(|one| one.as_str().is_some_and(|one| names.contains(one)))
        .cloned()
        .collect();
    if kept.is_empty() {
        return None;
    }
    if !required.is_empty() {
        kept.insert("required".to_owned(), Value::Array(required));
    }
    Some(Value::Object(kept))
}

/// Whether a schema refuses any value at all, apart from the kind of container.
fn demands_something(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(keyword, value)| match keyword.as_str() {
            "description" | "default" => false,
            "additionalProperties" | "items" => demands_something(value),
            "type" => value != "object",
            "properties" => {
                value.as_object().is_some_and(|all| all.values().any(demands_something))
            }
            _ => true,
        }),
        Value::Bool(accepts) => !accepts,
        _ => false,
    }
}

/// Whether a keyword's value names one of these members, in `properties`, `required` or as a key.
fn mentions_any(value: &Value, names: &BTreeSet<&str>) -> bool {
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(key, inner)| names.contains(key.as_str()) || mentions_any(inner, names)),
        Value::Array(items) => items.iter().any(|item| mentions_any(item, names)),
        Value::String(text) => names.contains(text.as_str()),
        _ => false,
    }
}

/// Copies a schema, or with `is_map` a map of schemas, without keywords that demand nothing.
fn without_annotations(schema: &Value, is_map: bool) -> Value {
    match schema {
        Value::Object(members) => {
            let kept = members
                .iter()
                .filter(|(key, _)| is_map || !OMITTED_KEYWORDS.contains(&key.as_str()));
            let copied = kept.map(|(key, value)| {
                let is_data =
                    !is_map && (DATA_KEYWORDS.contains(&key.as_str()) || key == "required");
                let inner = if is_data {
                    value.clone()
                } else {
                    without_annotations(value, !is_map && SCHEMA_MAPS.contains(&key.as_str()))
                };
                (key.clone(), inner)
            });
            Value::Object(copied.collect())
        }
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| without_annotations(item, false)).collect())
        }
        other => other.clone(),
    }
}

/// Adds every definition that the excerpt refers to, at its own location.
fn add_definitions(resolver: &ReferenceResolver<'_>, excerpt: &mut Value) {
    let mut open = Vec::new();
    collect_references(excerpt, &mut open);
    let mut seen = BTreeSet::new();
    while let Some(reference) = open.pop() {
        if !seen.insert(reference.clone()) {
            continue;
        }
        let Some((pointer, target)) = resolver.resolve(&reference) else { continue };
        if excerpt.pointer(&pointer).is_some() {
            continue;
        }
        let definition = without_annotations(target, false);
        collect_references(&definition, &mut open);
        let mut place = &mut *excerpt;
        for segment in json::split_pointer(&pointer) {
            if !place.is_object() {
                break;
            }
            place = &mut place[&*segment];
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
        }
        *place = definition;
    }
}

fn collect_references(schema: &Value, into: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                into.push(reference.to_owned());
            }
            for (key, value) in members {
                if !DATA_KEYWORDS.contains(&key.as_str()) {
                    collect_references(value, into);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, into)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn excerpt(schema: &Value, pointers: &[&str]) -> Option<Value> {
        let pointers: Vec<String> = pointers.iter().map(|pointer| (*pointer).to_owned()).collect();
        excerpt_schema(schema, &pointers)
    }

    fn case() -> Value {
        json!({
            "$id": "case", "title": "Case", "type": "object", "additionalProperties": false,
            "required": ["meta", "issues"],
            "properties": {
                "meta": { "type": "object", "required": ["id"] },
                "facts": { "description": "Anything.", "type": "object", "additionalProperties": true },
                "issues": { "type": "array", "items": { "$ref": "#/$defs/Issue" } },
                "party": { "$ref": "#/$defs/Party" }
            },
            "allOf": [{ "if": { "required": ["party"] }, "then": { "required": ["facts"] } }],
            "$defs": {
                "Issue": { "title": "An issue", "type": "object", "required": ["title"],
                    "properties": { "title": { "type": "string", "minLength": 3 }, "level": { "$ref": "#/$defs/Level" } } },
                "Level": { "enum": ["low", "title"] },
                "Party": { "type": "object", "properties": { "name": { "type": "string" }, "note": true } },
                "Unused": { "type": "null" }
            }
        })
    }

    #[test]
    fn it_has_what_is_demanded_there_with_its_definitions() {
        let expected = json!({
            "properties": { "issues": { "type": "array", "items": { "$ref": "#/$defs/Issue" } } },
            "required": ["issues"],
            "$defs": {
                "Issue": { "type": "object", "required": ["title"],
                    "properties": { "title": { "type": "string", "minLength": 3 }, "level": { "$ref": "#/$defs/Level" } } },
                "Level": { "enum": ["low", "title"] }
            }
        });
        assert_eq!(excerpt(&case(), &["/issues"]), Some(expected));
    }

    #[test]
    fn an_element_and_a_member_behind_a_reference_are_found() {
        let item = excerpt(&case(), &["/issues/-"]).unwrap();
        assert_eq!(item["properties"]["issues"]["items"], json!({ "$ref": "#/$defs/Issue" }));
        let name = excerpt(&case(), &["/party/name"]).unwrap();
        assert_eq!(
            name["properties"]["party"]["properties"],
            json!({ "name": { "type": "string" } })
        );
        assert!(name.get("$defs").is_none(), "{name}");
    }

    #[test]
    fn relations_between_members_belong_to_it() {
        let facts = excerpt(&case(), &["/facts"]).unwrap();
        assert_eq!(facts, json!({ "allOf": case()["allOf"] }));
    }

    #[test]
    fn nothing_is_said_where_everything_is_allowed() {
        let open = json!({ "type": "object", "properties": { "facts": { "type": "object" } } });
        assert_eq!(excerpt(&open, &["/facts"]), None);
        assert_eq!(excerpt(&open, &["/facts/deep", "/other"]), None);
        assert_eq!(
            excerpt(&case(), &["/party/note", "/nowhere/at/all"]),
            excerpt(&case(), &["/party/x"])
        );
        assert_eq!(excerpt(&json!(true), &[""]), None);
    }

    #[test]
    fn definitions_that_refer_to_themselves_are_copied_once() {
        let tree = json!({
            "properties": { "root": { "$ref": "#/$defs/Node" } },
            "$defs": { "Node": { "properties": { "children": { "items": { "$ref": "#/$defs/Node" } } } } }
        });
        assert_eq!(excerpt(&tree, &["/root"]), Some(tree.clone()));
        let circle = json!({ "$ref": "#/$defs/A", "$defs": { "A": { "$ref": "#/$defs/A" } } });
        assert_eq!(excerpt(&circle, &["/a"]), None);
    }
}
