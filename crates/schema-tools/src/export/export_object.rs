//! Writes objects and arrays in the language of one provider.

use countersign_contract::json;
use serde_json::{Map, Value, json};

use super::exported_contract::LossEffect;
use super::normalized_schema::SchemaShape;
use super::nullable_fields::{may_be_absent, required_fields};
use super::schema_exporter::SchemaExporter;

impl SchemaExporter<'_> {
    pub(super) fn write_object(&mut self, keywords: &Map<String, Value>, at: &str) -> Value {
        let mut fields = Map::new();
        let mut required = Vec::new();
        let demanded = required_fields(keywords);
        for (name, field) in
            keywords.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            if field == &Value::Bool(false) {
                continue;
            }
            let inside = json::child_pointer(&format!("{at}/properties"), name);
            let absent = may_be_absent(&demanded, name, field);
            if absent
                && matches!(self.traversal.normalize(field, &inside).shape, SchemaShape::Nothing)
            {
                continue;
            }
            let mut out = self.write_schema(field, &inside);
            if absent && self.profile.all_required {
                if self.null_checker.accepts_null(&self.traversal.references, field) {
                    let reason =
                        "absent and null cannot be distinguished; the field is always sent";
                    self.losses.record(&inside, "required", reason, LossEffect::Narrowed);
                } else {
                    out = make_nullable(out);
                }
            }
            if !absent || self.profile.all_required {
                required.push(name.clone());
            }
            fields.insert(name.clone(), out);
        }
        for name in keywords
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            if !fields.contains_key(name) {
                let out = self.write_anything(at);
                fields.insert(name.to_owned(), out);
                required.push(name.to_owned());
            }
        }
        for (keyword, said) in keywords
            .iter()
            .filter(|(keyword, _)| matches!(keyword.as_str(), "minProperties" | "maxProperties"))
        {
            self.write_keyword(keyword, said, at, &mut Map::new());
        }
        let mut out = json!({"type": "object", "properties": fields, "required": required});
        out["additionalProperties"] = self.write_additional_properties(keywords, at);
        out
    }

    /// Writes the schema of undeclared fields.
    fn write_additional_properties(&mut self, keywords: &Map<String, Value>, at: &str) -> Value {
        let patterned = keywords.contains_key("patternProperties");
        let said = keywords.get("additionalProperties");
        if said == Some(&Value::Bool(false)) && !patterned {
            return Value::Bool(false);
        }
        if self.profile.closed_objects {
            let keyword = if patterned { "patternProperties" } else { "additionalProperties" };
            let reason = match keywords.get("properties").and_then(Value::as_object) {
                Some(fields) if !fields.is_empty() => {
                    "undeclared fields are allowed, but cannot be sent"
                }
                _ => "any fields are allowed, but only the empty object can be sent",
            };
            self.losses.record(at, keyword, reason, LossEffect::Narrowed);
            return Value::Bool(false);
        }
        match said {
            _ if patterned => {
                self.losses.record(
                    at,
                    "patternProperties",
                    "not supported by this provider; any field is accepted",
                    LossEffect::Widened,
                );
                Value::Bool(true)
            }
            Some(schema @ Value::Object(inside)) if !inside.is_empty() => {
                self.write_schema(schema, &format!("{at}/additionalProperties"))
            }
            _ => Value::Bool(true),
        }
    }

    pub(super) fn write_array(&mut self, keywords: &Map<String, Value>, at: &str) -> Value {
        let items = keywords.get("items");
        let listed = keywords.get("prefixItems").or(items.filter(|items| items.is_array()));
        let out = match (listed.and_then(Value::as_array), items) {
            (Some(prefix), further) => {
                self.losses.record(
                    at,
                    "prefixItems",
                    "the position of an item is not enforced",
                    LossEffect::Widened,
                );
                let further = match further {
                    Some(Value::Array(_)) => keywords.get("additionalItems"),
                    other => other,
                };
                let mut kinds: Vec<Value> = prefix
                    .iter()
                    .enumerate()
                    .map(|(index, item)| {
                        self.write_schema(item, &format!("{at}/prefixItems/{index}"))
                    })
                    .collect();
                match further {
                    Some(Value::Bool(false)) => {}
                    Some(schema) => kinds.push(self.write_schema(schema, &format!("{at}/items"))),
                    None => kinds.push(self.write_anything(at)),
                }
                match kinds.len() {
                    0 => self.write_nothing(at),
                    1 => kinds.remove(0),
                    _ => json!({"anyOf": kinds}),
                }
            }
            (None, Some(schema)) if schema != &Value::Bool(true) => {
                self.write_schema(schema, &format!("{at}/items"))
            }
            (None, _) => self.write_anything(at),
        };
        let mut list =
            Map::from_iter([("type".to_owned(), json!("array")), ("items".to_owned(), out)]);
        for (keyword, said) in keywords {
            if matches!(keyword.as_str(), "minItems" | "maxItems")
                || (keyword == "uniqueItems" && said == &Value::Bool(true))
            {
                self.write_keyword(keyword, said, at, &mut list);
            }
        }
        Value::Object(list)
    }
}

/// Returns a schema that also accepts null.
fn make_nullable(mut schema: Value) -> Value {
    let name = schema["type"].as_str().map(str::to_owned);
    match (name, schema.as_object_mut()) {
        (Some(name), Some(keywords)) if !keywords.contains_key("enum") => {
            keywords.insert("type".to_owned(), json!([name, "null"]));
            schema
        }
        _ => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}
