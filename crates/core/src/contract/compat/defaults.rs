//! Declared defaults, as far as they decide what a contract takes.
//!
//! A contract takes a value when the schema takes it with the defaults filled in. A required field
//! with a good default may therefore be absent. Here that is written back into the schema, where it
//! can be done exactly.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::contract::sample::standing_alone;
use crate::contract::{Rule, Schema};
use crate::json;

/// The defaults of a schema by the place they fill; `*` stands for every item.
pub(super) fn fills(schema: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    walk(schema, schema, "", &mut Vec::new(), &mut found);
    found
}

fn walk(
    root: &Value,
    schema: &Value,
    at: &str,
    passed: &mut Vec<(String, String)>,
    found: &mut BTreeMap<String, Value>,
) {
    if let Some(target) =
        schema.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#'))
    {
        match passed.iter().find(|(seen, _)| seen == target) {
            // The same structure again: where it began tells all that follows.
            Some((_, before)) => {
                found.insert(format!("{at} again"), json!(before));
            }
            None => {
                if let Some(referred) = root.pointer(target) {
                    passed.push((target.to_owned(), at.to_owned()));
                    walk(root, referred, at, passed, found);
                    passed.pop();
                }
            }
        }
    }
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        walk(root, part, at, passed, found);
    }
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let inside = json::child(at, name);
        if let Some(default) = field.get("default") {
            found.insert(inside.clone(), default.clone());
        }
        walk(root, field, &inside, passed, found);
    }
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        walk(root, items, &format!("{at}/*"), passed, found);
    }
}

/// A schema that takes, without filling, what this one takes with its defaults filled in;
/// `None` where that cannot be written exactly.
pub(super) fn written_out(schema: &Value) -> Option<Value> {
    let mut names = Vec::new();
    defaulted(schema, &mut names);
    if names.is_empty() {
        return Some(schema.clone());
    }
    let mut rewritten = schema.clone();
    rewrite(schema, &mut rewritten, &names).then_some(rewritten)
}

fn defaulted(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(keywords) => {
            for (name, field) in
                keywords.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                if field.get("default").is_some() {
                    names.push(name.clone());
                }
            }
            keywords.values().for_each(|inner| defaulted(inner, names));
        }
        Value::Array(parts) => parts.iter().for_each(|inner| defaulted(inner, names)),
        _ => {}
    }
}

/// Keywords under which a filled-in field could count, or under which nothing is filled in.
const DELICATE: [&str; 15] = [
    "if",
    "then",
    "else",
    "not",
    "anyOf",
    "oneOf",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "minProperties",
    "maxProperties",
    "unevaluatedProperties",
    "contains",
    "prefixItems",
];

/// Takes defaulted fields out of `required`; false where the outcome would not be exact.
fn rewrite(root: &Value, schema: &mut Value, names: &[String]) -> bool {
    let Some(keywords) = schema.as_object_mut() else { return true };
    for (keyword, said) in keywords.iter() {
        let said = said.to_string();
        let mentions = names.iter().any(|name| said.contains(&json!(name).to_string()))
            || said.contains("\"$ref\"");
        let delicate =
            DELICATE.contains(&keyword.as_str()) && (mentions || keyword.ends_with("Properties"));
        // Nothing is filled in below these, not even in a definition that is filled in elsewhere.
        let unfilled =
            keyword == "additionalProperties" || (keyword == "items" && said.starts_with('['));
        if delicate || (unfilled && (said.contains("\"default\"") || said.contains("\"$ref\""))) {
            return false;
        }
    }
    let good: Option<Vec<String>> = keywords
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(_, field)| field.get("default").is_some())
        .map(|(name, field)| fits(root, field).then(|| name.clone()))
        .collect();
    let Some(good) = good else { return false };
    if let Some(required) = keywords.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !good.iter().any(|field| name == field));
        // Required here and defaulted elsewhere: whether the two meet in one object is not seen from here.
        if required.iter().any(|name| names.iter().any(|field| name == field)) {
            return false;
        }
    }
    keywords.iter_mut().all(|(keyword, said)| match keyword.as_str() {
        "properties" | "$defs" | "definitions" => said
            .as_object_mut()
            .is_none_or(|fields| fields.values_mut().all(|field| rewrite(root, field, names))),
        "allOf" => said
            .as_array_mut()
            .is_none_or(|parts| parts.iter_mut().all(|part| rewrite(root, part, names))),
        "items" => rewrite(root, said, names),
        _ => true,
    })
}

/// Whether the default of a field is good in its own schema.
fn fits(root: &Value, field: &Value) -> bool {
    let Ok(schema) = Schema::compile(standing_alone(root, field)) else { return false };
    let mut value = field["default"].clone();
    schema.fill(&mut value);
    schema.is_valid(&value)
}

/// Whether a rule could see that a default is filled in at a place, or what it is.
pub(super) fn seen_by(rule: &Rule, place: &str, default: &Value) -> bool {
    let name = json::split(place).last().unwrap_or_default().into_owned();
    let reads =
        |source: &str| source.contains(&name) || source.contains("Object.") || source.contains('[');
    let when = rule.when.as_ref().is_some_and(|when| reads(when.source()));
    if when || reads(rule.then.source()) || name.contains(' ') {
        return true;
    }
    let mut visited = false;
    if let Some(each) = &rule.each {
        each.for_each(&frame(place, default), &mut |pointer, _| {
            visited |= pointer.to_string().starts_with(&place.replace("/*", "/0"));
        });
    }
    visited
}

/// The smallest value that has this value at this place.
fn frame(place: &str, value: &Value) -> Value {
    let segments: Vec<_> = json::split(place).collect();
    segments.iter().rev().fold(value.clone(), |inside, segment| match segment.as_ref() {
        "*" => json!([inside]),
        name => json!({name: inside}),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(
        clippy::needless_pass_by_value,
        reason = "a line a case reads better without ampersands"
    )]
    #[track_caller]
    fn check(schema: Value, expected: Option<Value>) {
        assert_eq!(written_out(&schema), expected, "{schema}");
    }

    #[test]
    fn a_good_default_makes_a_field_optional() {
        let field = json!({"type": "string", "default": "x"});
        check(
            json!({"required": ["a", "b"], "properties": {"a": field, "b": {}}}),
            Some(json!({"required": ["b"], "properties": {"a": field, "b": {}}})),
        );
        check(json!({"required": ["a"]}), Some(json!({"required": ["a"]})));
    }

    #[test]
    fn what_is_not_exact_is_not_written() {
        let field = json!({"type": "string", "default": "x"});
        let with = |more: Value| {
            let mut schema = json!({"properties": {"a": field}});
            schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            schema
        };
        check(with(json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}})), None);
        check(with(json!({"minProperties": 1})), None);
        check(with(json!({"allOf": [{"required": ["a"]}]})), None);
        // What is defined once may be filled in at one place and not at another.
        check(with(json!({"additionalProperties": {"$ref": "#/$defs/d"}})), None);
        check(
            json!({"required": ["a"], "properties": {"a": {"type": "integer", "default": "x"}}}),
            None,
        );
    }

    #[test]
    fn places_are_found_through_references_and_lists() {
        let schema = json!({"properties": {"l": {"items": {"$ref": "#/$defs/n"}}}, "$defs": {"n": {"properties": {"k": {"default": 1}, "next": {"$ref": "#/$defs/n"}}}}});
        let found: Vec<String> =
            fills(&schema).into_iter().map(|(place, value)| format!("{place}={value}")).collect();
        assert_eq!(found, ["/l/*/k=1", "/l/*/next again=\"/l/*\""]);
    }
}
