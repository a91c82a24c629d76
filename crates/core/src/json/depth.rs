//! How deep values nest, and how deep those may that are kept in a log.

use serde_json::Value;

/// How deep a document, an answer or a result may nest. Less than a reply may: in the log they stand
/// inside events, and what reads events stops at 128 levels.
pub const MAX_KEPT_DEPTH: usize = 100;

/// How many arrays and objects stand in one another; a plain value has none. No recursion: values
/// come from outside.
#[must_use]
pub fn nesting(value: &Value) -> usize {
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
        assert_eq!(nesting(&json!(1)), 0);
        assert_eq!(nesting(&json!([])), 1);
        assert_eq!(nesting(&json!({"a": [1, {"b": {}}], "c": 1})), 4);
    }
}
