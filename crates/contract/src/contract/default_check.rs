//! Finds the declared defaults that are invalid in their own schema.
//!
//! One validator checks all of them: the document is embedded as a separate resource, and one field
//! per default refers to the subschema that declares it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::schema_defaults::BrokenDefault;
use super::schema_explainer::SchemaExplainer;
use super::validator_options;
use crate::reply::ViolationList;

/// A declared default in both forms that are checked.
#[derive(Debug)]
pub(super) struct DeclaredDefault {
    /// The default as the schema declares it.
    pub(super) as_declared: Value,
    /// The default with the defaults inside it filled in.
    pub(super) filled: Value,
}

/// The `$id` of the embedded document if it has none of its own.
const EMBEDDED_SCHEMA_ID: &str = "urn:countersign:schema";

/// Returns the defaults, given by the pointer of the declaring schema, that are invalid in that
/// schema both as declared and with the defaults inside them filled in.
pub(super) fn find_broken_defaults(
    root: &Value,
    declared: &BTreeMap<String, DeclaredDefault>,
) -> Vec<BrokenDefault> {
    let (Some(keywords), false) = (root.as_object(), declared.is_empty()) else {
        return Vec::new();
    };
    let address = match keywords.get("$id").and_then(Value::as_str) {
        None => EMBEDDED_SCHEMA_ID,
        Some(own) if !own.contains('#') => own,
        Some(_) => return Vec::new(),
    };
    let mut document = root.clone();
    document["$id"] = json!(address);
    let (mut fields, mut plain, mut filled) = (Map::new(), Map::new(), Map::new());
    for (index, (pointer, default)) in declared.iter().enumerate() {
        let target = format!("{address}#{}", encode_pointer(pointer));
        fields.insert(index.to_string(), json!({"$ref": target}));
        plain.insert(index.to_string(), default.as_declared.clone());
        filled.insert(index.to_string(), default.filled.clone());
    }
    let mut whole = json!({"properties": fields, "definitions": {"document": document}});
    whole["$schema"] = keywords
        .get("$schema")
        .cloned()
        .unwrap_or(json!("https://json-schema.org/draft/2020-12/schema"));
    let Ok(validator) = validator_options::build_options(root).build(&whole) else {
        return Vec::new();
    };
    let faults = |values: Map<String, Value>| -> BTreeMap<usize, String> {
        let values = Value::Object(values);
        let mut found = BTreeMap::new();
        for error in validator.iter_errors(&values) {
            let path = error.instance_path().as_str().to_owned();
            let index = path.split('/').nth(1).and_then(|index| index.parse().ok());
            let Some(index) = index else { continue };
            found.entry(index).or_insert_with(|| {
                let mut violations = ViolationList::default();
                SchemaExplainer { schema: &Value::Null }.explain_error(&error, "", &mut violations);
                violations.finish().first().map_or_else(String::new, |one| {
                    format!("expected {}, found {}", one.expected, one.found)
                })
            });
        }
        found
    };
    let (plain, filled) = (faults(plain), faults(filled));
    let pointers: Vec<&String> = declared.keys().collect();
    filled
        .into_iter()
        .filter(|(index, _)| plain.contains_key(index))
        .map(|(index, message)| BrokenDefault {
            pointer: format!("{}/default", pointers[index]),
            message,
        })
        .collect()
}

/// Percent-encodes a pointer for use in a reference.
fn encode_pointer(pointer: &str) -> String {
    let mut text = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~$".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}
