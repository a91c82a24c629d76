//! Nesting depth of JSON values.

use serde_json::Value;

/// Returns the maximum nesting of arrays and objects; a scalar has depth 0. The function does not
/// recurse, because values may come from untrusted input.
#[must_use]
pub fn measure_depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 0)];
    while let Some((value, around)) = open.pop() {
        let inside = around + 1;
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, inside))),
            Value::Object(members) => open.extend(members.values().map(|member| (member, inside))),
            _ => continue,
        }
        deepest = deepest.max(inside);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn levels_are_counted() {
        assert_eq!(measure_depth(&json!(1)), 0);
        assert_eq!(measure_depth(&json!([])), 1);
        assert_eq!(measure_depth(&json!({"a": [1, {"b": {}}], "c": 1})), 4);
    }
}
