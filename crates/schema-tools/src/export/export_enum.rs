//! Writes enumerations in the language of one provider. Providers accept only plain values in
//! `enum`, so objects and arrays among the members are written as schemas.

use serde_json::{Map, Value, json};

use super::exported_contract::LossEffect;
use super::schema_exporter::{SchemaExporter, format_type_names};

impl SchemaExporter<'_> {
    /// Writes a schema that accepts exactly these values, as far as the provider's language allows.
    pub(super) fn write_enum_members(&mut self, members: &[Value], at: &str) -> Value {
        let is_plain = |member: &&Value| !member.is_object() && !member.is_array();
        let plain: Vec<&Value> = members.iter().filter(is_plain).collect();
        let mut kinds = Vec::new();
        if !plain.is_empty() {
            let mut types: Vec<&str> = Vec::new();
            for member in &plain {
                let name = type_name(member);
                if !types.contains(&name) {
                    types.push(name);
                }
            }
            kinds.push(json!({"type": format_type_names(&types), "enum": plain}));
        }
        for member in members.iter().filter(|member| !is_plain(member)) {
            let kind = match member {
                Value::Object(fields) => self.write_const_object(fields, at),
                Value::Array(items) => self.write_const_list(items, at),
                _ => continue,
            };
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if kinds.len() == 1 { kinds.remove(0) } else { json!({"anyOf": kinds}) }
    }

    fn write_const_object(&mut self, fields: &Map<String, Value>, at: &str) -> Value {
        let written: Map<String, Value> = fields
            .iter()
            .map(|(name, value)| {
                (name.clone(), self.write_enum_members(std::slice::from_ref(value), at))
            })
            .collect();
        let required: Vec<&String> = fields.keys().collect();
        json!({"type": "object", "properties": written, "required": required, "additionalProperties": false})
    }

    fn write_const_list(&mut self, items: &[Value], at: &str) -> Value {
        self.losses.record(
            at,
            "enum",
            "the order of listed items is not enforced",
            LossEffect::Widened,
        );
        let item = if items.is_empty() {
            json!({"type": "null"})
        } else {
            self.write_enum_members(items, at)
        };
        let mut out =
            Map::from_iter([("type".to_owned(), json!("array")), ("items".to_owned(), item)]);
        for keyword in ["minItems", "maxItems"] {
            self.write_keyword(keyword, &json!(items.len()), at, &mut out);
        }
        Value::Object(out)
    }
}

/// Returns the JSON Schema type of a value.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
