//! Two schema objects as one that asks for both, keyword by keyword.
//!
//! Exact for types, enumerations, bounds and fields. Of two patterns or formats the first is kept,
//! so the outcome may take more than both together, never less.

use serde_json::{Map, Value, json};

/// A schema that asks for both.
pub(super) fn both(left: &Value, right: &Value) -> Value {
    let anything = |schema: &Value| {
        schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
    };
    match (left, right) {
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
        _ if anything(left) || left == right => right.clone(),
        _ if anything(right) => left.clone(),
        _ => json!({"allOf": [left, right]}),
    }
}

/// One schema object out of two.
pub(in crate::contract) fn merge(
    mut left: Map<String, Value>,
    mut right: Map<String, Value>,
) -> Map<String, Value> {
    unfold_const(&mut left);
    unfold_const(&mut right);
    keep_declared(&mut left, &right);
    keep_declared(&mut right, &left);
    for (keyword, said) in right {
        let merged = match left.get(&keyword) {
            Some(before) => keyword_of_both(&keyword, before, &said),
            None => said,
        };
        left.insert(keyword, merged);
    }
    left
}

fn unfold_const(schema: &mut Map<String, Value>) {
    if let Some(value) = schema.remove("const") {
        let list = match schema.get("enum").and_then(Value::as_array) {
            Some(members) if !members.contains(&value) => json!([]),
            _ => json!([value]),
        };
        schema.insert("enum".to_owned(), list);
    }
}

/// A closed object forbids the fields that only the other one declares.
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

fn keyword_of_both(keyword: &str, left: &Value, right: &Value) -> Value {
    let larger = |yes: bool| {
        let (one, two) = (left.as_f64().unwrap_or(0.0), right.as_f64().unwrap_or(0.0));
        if (one >= two) == yes { left.clone() } else { right.clone() }
    };
    match keyword {
        "type" => common_types(left, right),
        "enum" => common_members(left, right),
        "required" => union(left, right),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => larger(true),
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            larger(false)
        }
        "uniqueItems" => Value::Bool(left == &Value::Bool(true) || right == &Value::Bool(true)),
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
            let mut fields = left.as_object().cloned().unwrap_or_default();
            for (name, schema) in right.as_object().into_iter().flatten() {
                let merged =
                    fields.get(name).map_or_else(|| schema.clone(), |one| both(one, schema));
                fields.insert(name.clone(), merged);
            }
            Value::Object(fields)
        }
        "allOf" => union(left, right),
        "additionalProperties" | "propertyNames" | "contains" => both(left, right),
        "items" | "additionalItems" if !left.is_array() && !right.is_array() => both(left, right),
        _ => left.clone(),
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_else(|| vec![value.clone()])
}

fn common_types(left: &Value, right: &Value) -> Value {
    let (left, right) = (list(left), list(right));
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

fn common_members(left: &Value, right: &Value) -> Value {
    let right = list(right);
    Value::Array(list(left).into_iter().filter(|member| right.contains(member)).collect())
}

fn union(left: &Value, right: &Value) -> Value {
    let mut all = list(left);
    for member in list(right) {
        if !all.contains(&member) {
            all.push(member);
        }
    }
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
        assert_eq!(Value::Object(merge(left, right)), expected);
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
