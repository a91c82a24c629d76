//! The JSON Schemas of tool parameters and results, generated from the same types as the OpenAPI
//! description. References are inlined, because not every client resolves them.

use std::collections::BTreeMap;

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// Maximum nesting of types; no type may contain itself.
const MAX_DEPTH: usize = 32;

/// Prefix of references to named types in the OpenAPI description.
const SCHEMAS_PREFIX: &str = "#/components/schemas/";

/// Builds the schema of a type, with all references inlined.
pub(super) fn build_schema<T: ToSchema>() -> JsonObject {
    let mut named = Vec::new();
    T::schemas(&mut named);
    let named: BTreeMap<String, Value> =
        named.into_iter().map(|(name, schema)| (name, json!(schema))).collect();
    let mut whole = inline_refs(json!(T::schema()), &named, MAX_DEPTH);
    // An object without members has no `properties`, but some clients require it.
    whole.entry("properties").or_insert_with(|| json!({}));
    whole
}

fn inline_refs(schema: Value, named: &BTreeMap<String, Value>, deep: usize) -> Map<String, Value> {
    let Value::Object(mut schema) = schema else { return Map::new() };
    assert!(deep > 0, "a schema type contains itself");
    if let Some(Value::String(reference)) = schema.remove("$ref") {
        let meant = reference.strip_prefix(SCHEMAS_PREFIX).and_then(|name| named.get(name));
        let meant = meant.expect("utoipa collects every type that it refers to").clone();
        let mut meant = inline_refs(meant, named, deep - 1);
        // The description of the member is more specific than that of its type.
        meant.extend(schema);
        return meant;
    }
    schema.remove("example");
    schema.remove("format");
    let within = |value: Value| Value::Object(inline_refs(value, named, deep - 1));
    for (key, value) in &mut schema {
        let old = value.take();
        *value = match (key.as_str(), old) {
            ("properties" | "patternProperties", Value::Object(members)) => {
                members.into_iter().map(|(name, member)| (name, within(member))).collect()
            }
            ("oneOf" | "anyOf" | "allOf" | "prefixItems", Value::Array(items)) => {
                items.into_iter().map(within).collect()
            }
            ("items" | "additionalProperties" | "not", old @ Value::Object(_)) => within(old),
            (_, old) => old,
        };
    }
    // For an optional member, the description is in one of two branches, but it applies to both.
    let mut branches = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let said = branches.find_map(|branch| branch.get("description")).cloned();
    if let Some(said) = said {
        schema.entry("description").or_insert(said);
    }
    schema
}
