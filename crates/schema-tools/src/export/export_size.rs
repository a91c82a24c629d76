//! Measures an export in the units that providers limit.

use serde_json::{Map, Value};

/// The counts of one exported schema.
#[derive(Debug, Default)]
pub(super) struct ExportSize {
    pub(super) properties: usize,
    pub(super) depth: usize,
    pub(super) enum_values: usize,
}

impl ExportSize {
    /// Measures a schema.
    pub(super) fn from_schema(schema: &Value) -> Self {
        let mut size = Self::default();
        size.measure(schema, 0);
        size
    }

    fn measure(&mut self, schema: &Value, depth: usize) {
        match schema {
            Value::Object(keywords) => {
                let deeper =
                    depth + usize::from(schema["type"] == "object" || schema["type"] == "array");
                self.depth = self.depth.max(deeper);
                self.properties += schema["properties"].as_object().map_or(0, Map::len);
                self.enum_values += schema["enum"].as_array().map_or(0, Vec::len);
                keywords.values().for_each(|inner| self.measure(inner, deeper));
            }
            Value::Array(parts) => parts.iter().for_each(|inner| self.measure(inner, depth)),
            _ => {}
        }
    }
}
