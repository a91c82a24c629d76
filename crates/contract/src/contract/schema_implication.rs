//! Decides, conservatively, whether values of one schema always satisfy another.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::reference_resolver::ReferenceResolver;

/// Nesting that is compared; deeper schemas count as different.
const MAX_DEPTH: usize = 32;

/// A schema inside its document, whose references it uses.
#[derive(Debug, Clone, Copy)]
pub struct SchemaView<'s> {
    resolver: &'s ReferenceResolver<'s>,
    schema: &'s Value,
}

impl<'s> SchemaView<'s> {
    /// The schema of a whole document.
    #[must_use]
    pub fn new(resolver: &'s ReferenceResolver<'s>) -> Self {
        Self { resolver, schema: resolver.root() }.follow_references()
    }

    /// The schema of a member that `properties` declares; `None` if it is not declared.
    #[must_use]
    pub fn member(self, name: &str) -> Option<Self> {
        let schema = self.schema.get("properties")?.get(name)?;
        Some(Self { schema, ..self }.follow_references())
    }

    /// The schema of the elements that `items` declares; `None` if there is none, or if the first
    /// elements have schemas of their own.
    #[must_use]
    pub fn element(self) -> Option<Self> {
        if self.schema.get("prefixItems").is_some() {
            return None;
        }
        let schema = self.schema.get("items").filter(|items| !items.is_array())?;
        Some(Self { schema, ..self }.follow_references())
    }

    /// Whether every value that satisfies this schema satisfies the other one. A `false` may be
    /// wrong; a `true` is not.
    #[must_use]
    pub fn implies(self, other: SchemaView<'_>) -> bool {
        implies(self, other, 0)
    }

    fn follow_references(mut self) -> Self {
        for _ in 0..MAX_DEPTH {
            let is_alone = self.schema.as_object().is_some_and(|members| {
                members.keys().all(|key| key == "$ref" || key == "description" || key == "title")
            });
            match self.resolver.resolve_in(self.schema).filter(|_| is_alone) {
                Some((_, schema)) => self.schema = schema,
                None => break,
            }
        }
        self
    }
}

fn implies(strong: SchemaView<'_>, weak: SchemaView<'_>, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    let none = Map::new();
    let (strong_members, weak_members) = match (strong.schema, weak.schema) {
        (_, Value::Bool(true)) | (Value::Bool(false), _) => return true,
        (Value::Object(strong), Value::Object(weak)) => (strong, weak),
        (Value::Bool(true), Value::Object(weak)) => (&none, weak),
        _ => return false,
    };
    weak_members.iter().all(|(keyword, value)| {
        let same = strong_members.get(keyword);
        match keyword.as_str() {
            "title" | "description" | "$comment" | "$id" | "$schema" | "default" | "examples"
            | "$defs" | "definitions" => true,
            "type" => same.is_some_and(|same| types(same).is_subset(&types(value))),
            "properties" => {
                let is_closed =
                    strong_members.get("additionalProperties") == Some(&Value::Bool(false));
                value.as_object().into_iter().flatten().all(|(name, _)| {
                    let weak = weak.member(name).expect("the member is declared");
                    match strong.member(name) {
                        Some(strong) => implies(strong, weak, depth + 1),
                        None => is_closed || weak.schema == &Value::Bool(true),
                    }
                })
            }
            "items" => match (strong.element(), weak.element()) {
                (Some(strong), Some(weak)) => implies(strong, weak, depth + 1),
                _ => value == &Value::Bool(true),
            },
            "additionalProperties" => match value {
                Value::Bool(true) => true,
                Value::Bool(false) => {
                    let names = |schema: &Value| -> BTreeSet<String> {
                        let members = schema.get("properties").and_then(Value::as_object);
                        members.into_iter().flatten().map(|(name, _)| name.clone()).collect()
                    };
                    same == Some(value) && names(strong.schema).is_subset(&names(weak.schema))
                }
                _ => false,
            },
            "required" => same.is_some_and(|same| strings(value).is_subset(&strings(same))),
            "enum" => match (same, strong_members.get("const")) {
                (_, Some(constant)) => contains(value, constant),
                (Some(Value::Array(same)), _) => same.iter().all(|one| contains(value, one)),
                _ => false,
            },
            "minLength" | "minItems" | "minProperties" | "minimum" | "exclusiveMinimum" => {
                number(same)
                    .is_some_and(|same| number(Some(value)).is_some_and(|least| same >= least))
            }
            "maxLength" | "maxItems" | "maxProperties" | "maximum" | "exclusiveMaximum" => {
                number(same)
                    .is_some_and(|same| number(Some(value)).is_some_and(|most| same <= most))
            }
            // These say nothing by themselves, or only together with others.
            "format" | "pattern" | "const" | "multipleOf" | "uniqueItems" => same == Some(value),
            _ => false,
        }
    })
}

fn types(value: &Value) -> BTreeSet<&str> {
    match value {
        Value::String(one) => BTreeSet::from([one.as_str()]),
        other => strings(other),
    }
}

fn strings(value: &Value) -> BTreeSet<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn contains(list: &Value, value: &Value) -> bool {
    list.as_array().is_some_and(|list| list.contains(value))
}

fn number(value: Option<&Value>) -> Option<f64> {
    value.and_then(Value::as_f64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn implied(strong: &Value, weak: &Value) -> bool {
        let (strong, weak) = (ReferenceResolver::new(strong), ReferenceResolver::new(weak));
        SchemaView::new(&strong).implies(SchemaView::new(&weak))
    }

    #[test]
    fn stronger_schemas_imply_weaker_ones() {
        let strong = json!({
            "type": "object", "additionalProperties": false, "required": ["note", "level"],
            "properties": {
                "note": { "type": "string", "minLength": 3 },
                "level": { "$ref": "#/$defs/Level" },
                "items": { "type": "array", "items": { "type": "integer", "minimum": 2 } }
            },
            "$defs": { "Level": { "enum": ["low"] } }
        });
        let weak = json!({
            "description": "A note", "type": ["object", "null"], "required": ["note"],
            "properties": {
                "note": { "type": "string", "minLength": 1 },
                "level": { "enum": ["low", "high"] },
                "items": { "items": { "minimum": 0 } },
                "never": { "type": "null" },
                "any": true
            }
        });
        assert!(implied(&strong, &weak));
        assert!(implied(&strong, &strong));
        assert!(!implied(&weak, &strong));
    }

    #[test]
    fn what_is_not_certain_is_not_implied() {
        let cases = [
            (json!(true), json!({ "type": "string" })),
            (json!({ "type": "string" }), json!({ "type": "string", "minLength": 1 })),
            (json!({ "properties": {} }), json!({ "properties": { "a": { "type": "string" } } })),
            (json!({ "enum": ["a", "b"] }), json!({ "enum": ["a"] })),
            (
                json!({ "additionalProperties": false, "properties": { "b": true } }),
                json!({ "additionalProperties": false, "properties": { "a": true } }),
            ),
            (json!({ "type": "array" }), json!({ "items": { "type": "string" } })),
            (
                json!({ "prefixItems": [true], "items": { "type": "string" } }),
                json!({ "items": { "type": "string" } }),
            ),
            (json!({ "type": "string" }), json!({ "not": { "const": "a" } })),
            (json!({ "minimum": 1 }), json!({ "minimum": 2 })),
        ];
        for (strong, weak) in &cases {
            assert!(!implied(strong, weak), "{strong} does not imply {weak}");
        }
        let circle = json!({ "properties": { "a": { "$ref": "#" } } });
        assert!(!implied(&circle, &circle), "an endless comparison ends");
    }
}
