//! Estimates the cost of listing everything that is wrong with a value.
//!
//! The schema engine collects every error, each with its pointer as text, before it returns the
//! first one. For a small value this costs nothing; for a hostile one it takes gigabytes. The cost
//! is therefore estimated from the value before the engine runs.

use serde_json::Value;

use crate::limits::MAX_EXPLAIN_MEMORY_BYTES;

/// The bytes that one error takes in addition to its pointer.
const FAULT_BYTES: usize = 256;

/// The bytes that an array index takes in a pointer.
const INDEX_BYTES: usize = 6;

/// Returns the number of steps that the engine may take to list all errors of a value. It may keep
/// one error, with its pointer as text, per step.
pub(super) fn estimate_explain_steps(value: &Value) -> u64 {
    (MAX_EXPLAIN_MEMORY_BYTES / (FAULT_BYTES + measure_longest_pointer(value))) as u64
}

fn measure_longest_pointer(value: &Value) -> usize {
    let mut longest = 0;
    let mut open = vec![(value, 0)];
    while let Some((value, pointer)) = open.pop() {
        longest = longest.max(pointer);
        match value {
            Value::Array(items) => {
                open.extend(items.iter().map(|item| (item, pointer + INDEX_BYTES + 1)));
            }
            Value::Object(members) => {
                open.extend(members.iter().map(|(key, item)| (item, pointer + key.len() + 1)));
            }
            _ => {}
        }
    }
    longest
}

/// Counts the alternatives in all `anyOf` and `oneOf` of a schema.
pub(super) fn count_branches(schema: &Value) -> usize {
    let mut count = 0;
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        match schema {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                for (keyword, inside) in members {
                    if let ("anyOf" | "oneOf", Value::Array(branches)) = (keyword.as_str(), inside)
                    {
                        count += branches.len();
                    }
                    open.push(inside);
                }
            }
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contract::Schema;

    #[test]
    fn a_large_value_is_told_its_first_violation_alone() {
        let schema = json!({"properties": {"list": {"items": {"type": "string"}}}});
        let schema = Schema::compile(schema).unwrap();
        let small = schema.list_violations(&json!({"list": vec![0; 1_000]}));
        assert_eq!(crate::reply::count_violations(&small), 1_000);
        let large = schema.list_violations(&json!({"list": vec![0; 200_000]}));
        assert_eq!(large.len(), 1);
        assert_eq!(large[0].pointer, "/list/0");
        assert!(large[0].hint.as_ref().unwrap().contains("the first"), "{:?}", large[0]);
    }

    #[test]
    fn long_pointers_cost_more_than_short_ones() {
        let steps = |key: &str| estimate_explain_steps(&json!({key: [0]}));
        assert!(steps("short") > 50_000);
        assert!(steps(&"k".repeat(4_000)) < 5_000);
    }

    /// Each of these cases ended the process, or gave no explanation, when only depth and branches
    /// were counted.
    #[test]
    fn alternatives_that_multiply_with_the_depth_are_not_listed() {
        let operator = |n: usize| json!({"properties": {"op": {"const": n}, "left": {"$ref": "#"}}, "required": ["op"]});
        let operators = json!({"oneOf": (0..10).map(operator).collect::<Vec<_>>()});
        let halves = json!({"$defs": {"n": {"allOf": [
            {"properties": {"c": {"$ref": "#/$defs/n"}}},
            {"properties": {"c": {"$ref": "#/$defs/n"}, "t": {"type": "string"}}},
        ]}}, "$ref": "#/$defs/n"});
        let anchored = json!({"$anchor": "n", "anyOf": [
            {"required": ["a"], "properties": {"c": {"$ref": "#n"}}},
            {"required": ["b"], "properties": {"c": {"$ref": "#n"}}},
            {"required": ["d"], "properties": {"c": {"$ref": "#n"}}},
        ]});
        let nested = |key: &str, leaf: Value, levels: usize| {
            (0..levels).fold(leaf, |inner, n| json!({"op": n % 10, key: inner}))
        };
        for (schema, value) in [
            (operators, nested("left", json!({"op": "bad"}), 30)),
            (halves, nested("c", json!({"t": 1}), 30)),
            (anchored, nested("c", json!({}), 30)),
        ] {
            let violations = Schema::compile(schema).unwrap().list_violations(&value);
            assert_eq!(violations.len(), 1, "{violations:?}");
        }
    }

    #[test]
    fn optional_fields_of_many_records_are_explained() {
        let either = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
        let fields: Value = (0..40).map(|n| (format!("field_{n:02}"), either.clone())).collect();
        let schema = Schema::compile(json!({"items": {"properties": fields}})).unwrap();
        let record: Value = (0..40).map(|n| (format!("field_{n:02}"), json!("x"))).collect();
        let mut records = vec![record; 20];
        records[7]["field_03"] = json!(5);
        let violations = schema.list_violations(&json!(records));
        assert_eq!(violations[0].pointer, "/7/field_03", "{violations:?}");
    }

    #[test]
    fn alternatives_are_counted() {
        let schema = json!({"anyOf": [{"type": "null"}, {"oneOf": [true, false, true]}]});
        assert_eq!(count_branches(&schema), 5);
    }
}
