//! Merges two schema objects, keyword by keyword, into one that requires both.
//!
//! The result is exact for types, enumerations, bounds and fields. Of two patterns or formats the
//! first is kept, so the result may accept more than both together, never less.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Combines two subschemas into one that requires both.
fn combine_subschemas(left: Value, right: Value) -> Value {
    let anything = |schema: &Value| {
        schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
    };
    match (left, right) {
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
        (left, right) if anything(&left) || left == right => right,
        (left, right) if anything(&right) => left,
        // Three or more parts share one `allOf` instead of nesting.
        (Value::Object(mut left), right) if is_only_all_of(&left) => {
            if let Some(Value::Array(parts)) = left.get_mut("allOf") {
                parts.push(right);
            }
            Value::Object(left)
        }
        (left, right) => json!({"allOf": [left, right]}),
    }
}

fn is_only_all_of(schema: &Map<String, Value>) -> bool {
    schema.len() == 1 && schema.get("allOf").is_some_and(Value::is_array)
}

/// Merges two schema objects into one that requires both.
pub(crate) fn merge_schemas(
    mut left: Map<String, Value>,
    mut right: Map<String, Value>,
) -> Map<String, Value> {
    const_to_enum(&mut left);
    const_to_enum(&mut right);
    keep_declared(&mut left, &right);
    keep_declared(&mut right, &left);
    for (keyword, said) in right {
        match left.get_mut(&keyword) {
            Some(before) => {
                let taken = std::mem::take(before);
                *before = merge_keyword(&keyword, taken, said);
            }
            None => {
                left.insert(keyword, said);
            }
        }
    }
    left
}

fn const_to_enum(schema: &mut Map<String, Value>) {
    if let Some(value) = schema.remove("const") {
        let list = match schema.get("enum").and_then(Value::as_array) {
            Some(members) if !members.contains(&value) => json!([]),
            _ => json!([value]),
        };
        schema.insert("enum".to_owned(), list);
    }
}

/// Removes the fields that a closed `other` object does not declare and therefore forbids.
fn keep_declared(schema: &mut Map<String, Value>, other: &Map<String, Value>) {
    let closed = other.get("additionalProperties") == Some(&Value::Bool(false));
    if !closed || other.contains_key("patternProperties") {
        return;
    }
    let declared = other.get("properties").and_then(Value::as_object);
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.retain(|name, _| declared.is_some_and(|declared| declared.contains_key(name)));
    }
}

fn merge_keyword(keyword: &str, left: Value, right: Value) -> Value {
    let larger = |left: Value, right: Value, yes: bool| {
        let (one, two) = (left.as_f64().unwrap_or(0.0), right.as_f64().unwrap_or(0.0));
        if (one >= two) == yes { left } else { right }
    };
    match keyword {
        "type" => intersect_types(left, right),
        "enum" => intersect_members(left, right),
        "required" | "allOf" => union_members(left, right),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            larger(left, right, true)
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            larger(left, right, false)
        }
        "uniqueItems" => Value::Bool(left == Value::Bool(true) || right == Value::Bool(true)),
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
            let (Value::Object(mut fields), Value::Object(more)) = (left, right) else {
                return Value::Object(Map::new());
            };
            for (name, schema) in more {
                match fields.get_mut(&name) {
                    Some(before) => *before = combine_subschemas(std::mem::take(before), schema),
                    None => {
                        fields.insert(name, schema);
                    }
                }
            }
            Value::Object(fields)
        }
        "additionalProperties" | "propertyNames" | "contains" => combine_subschemas(left, right),
        "items" | "additionalItems" if !left.is_array() && !right.is_array() => {
            combine_subschemas(left, right)
        }
        _ => left,
    }
}

fn into_items(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        one => vec![one],
    }
}

fn intersect_types(left: Value, right: Value) -> Value {
    let (left, right) = (into_items(left), into_items(right));
    let mut common: Vec<Value> = Vec::new();
    for one in &left {
        for two in &right {
            let narrower = match (one.as_str(), two.as_str()) {
                _ if one == two => one,
                (Some("number"), Some("integer")) => two,
                (Some("integer"), Some("number")) => one,
                _ => continue,
            };
            if !common.contains(narrower) {
                common.push(narrower.clone());
            }
        }
    }
    Value::Array(common)
}

fn intersect_members(left: Value, right: Value) -> Value {
    let right: BTreeSet<String> = into_items(right).iter().map(Value::to_string).collect();
    let is_common = |member: &Value| right.contains(&member.to_string());
    Value::Array(into_items(left).into_iter().filter(is_common).collect())
}

fn union_members(left: Value, right: Value) -> Value {
    let mut all = into_items(left);
    let mut seen: BTreeSet<String> = all.iter().map(Value::to_string).collect();
    all.extend(into_items(right).into_iter().filter(|member| seen.insert(member.to_string())));
    Value::Array(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(
        clippy::needless_pass_by_value,
        reason = "a line a case reads better without ampersands"
    )]
    #[track_caller]
    fn check(left: Value, right: Value, expected: Value) {
        let (Value::Object(left), Value::Object(right)) = (left, right) else { panic!() };
        assert_eq!(Value::Object(merge_schemas(left, right)), expected);
    }

    #[test]
    fn both_are_asked_for() {
        check(
            json!({"type": ["string", "number"]}),
            json!({"type": "integer"}),
            json!({"type": ["integer"]}),
        );
        check(json!({"enum": [1, 2, 3]}), json!({"const": 2}), json!({"enum": [2]}));
        check(
            json!({"minLength": 2, "maxLength": 9}),
            json!({"minLength": 3, "maxLength": 5}),
            json!({"minLength": 3, "maxLength": 5}),
        );
        check(
            json!({"required": ["a"]}),
            json!({"required": ["b", "a"]}),
            json!({"required": ["a", "b"]}),
        );
    }

    #[test]
    fn a_closed_object_keeps_strangers_out() {
        check(
            json!({"properties": {"a": {}}, "additionalProperties": false}),
            json!({"properties": {"a": {"type": "null"}, "b": {}}}),
            json!({"properties": {"a": {"type": "null"}}, "additionalProperties": false}),
        );
    }
}
