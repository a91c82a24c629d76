//! Alternatives inside alternatives: schemas whose faults cannot be explained at any depth.
//!
//! The engine explains a value that fits no branch by trying every branch on everything inside.
//! Where a branch leads back to itself, that doubles with every level of the value.

use serde_json::Value;

/// How deep a value may nest and still be explained by such a schema.
pub(super) const DEEPEST_EXPLAINED: usize = 12;

/// How many places of a schema are looked at; one with more is taken to be of that kind.
const MOST_PLACES: usize = 20_000;

/// Whether some way through `anyOf` or `oneOf` leads back to where it began.
pub(super) fn recur(schema: &Value) -> bool {
    let mut search =
        Search { root: schema, way: vec![(String::new(), 0)], branches: 0, left: MOST_PLACES };
    search.finds(schema)
}

/// How deep a value nests.
pub(super) fn depth(value: &Value) -> usize {
    let members: &mut dyn Iterator<Item = &Value> = match value {
        Value::Array(items) => &mut items.iter(),
        Value::Object(members) => &mut members.values(),
        _ => return 0,
    };
    1 + members.map(depth).max().unwrap_or(0)
}

struct Search<'s> {
    root: &'s Value,
    /// The references that led here, each with the number of alternatives passed before it.
    way: Vec<(String, usize)>,
    branches: usize,
    left: usize,
}

impl Search<'_> {
    fn finds(&mut self, schema: &Value) -> bool {
        if self.left == 0 {
            return true;
        }
        self.left -= 1;
        match schema {
            Value::Array(items) => items.iter().any(|item| self.finds(item)),
            Value::Object(members) => {
                members.iter().any(|(keyword, inside)| match keyword.as_str() {
                    "enum" | "const" | "default" | "examples" => false,
                    "$ref" => inside.as_str().is_some_and(|target| self.follows(target)),
                    "anyOf" | "oneOf" => {
                        self.branches += 1;
                        let found = self.finds(inside);
                        self.branches -= 1;
                        found
                    }
                    _ => self.finds(inside),
                })
            }
            _ => false,
        }
    }

    fn follows(&mut self, target: &str) -> bool {
        let Some(pointer) = target.strip_prefix('#') else { return false };
        if let Some((_, before)) = self.way.iter().find(|(seen, _)| seen == pointer) {
            return self.branches > *before;
        }
        let Some(schema) = self.root.pointer(pointer) else { return false };
        self.way.push((pointer.to_owned(), self.branches));
        let found = self.finds(schema);
        self.way.pop();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Schema;
    use serde_json::json;

    fn formula() -> Value {
        let operator = |name: &str| {
            json!({
                "type": "object",
                "required": ["kind", "args"],
                "properties": {"kind": {"const": name}, "args": {"items": {"$ref": "#/$defs/e"}}}
            })
        };
        json!({
            "$ref": "#/$defs/e",
            "$defs": {"e": {"oneOf": [{"type": "integer"}, operator("and"), operator("or")]}}
        })
    }

    #[test]
    fn ways_back_through_alternatives_are_seen() {
        assert!(recur(&formula()));
        assert!(recur(&json!({"anyOf": [{"type": "null"}, {"items": {"$ref": "#"}}]})));
        // Recursion without a choice, and a choice without recursion, are explained at any depth.
        assert!(!recur(&json!({"properties": {"next": {"$ref": "#"}}})));
        assert!(!recur(
            &json!({"oneOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "null"}}})
        ));
    }

    #[test]
    fn a_deep_fault_is_told_at_once_if_not_in_full() {
        let schema = Schema::compile(formula()).unwrap();
        let nested = |levels: usize| {
            (0..levels).fold(json!("wrong"), |inner, _| json!({"kind": "and", "args": [inner]}))
        };
        let told = schema.violations(&nested(3));
        assert_eq!(told[0].pointer, "/args/0/args/0/args/0");
        let told = schema.violations(&nested(60));
        assert_eq!(told.len(), 1);
        assert!(told[0].message.contains("too deep"), "{}", told[0].message);
    }
}
