//! What a tool takes and gives, as a JSON Schema of one piece: made of the same types as the description of the
//! HTTP door, without references, which not every client follows.

use std::collections::BTreeMap;

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// How deep types stand in types at most; none of ours contains itself.
const MAX_DEPTH: usize = 32;

/// Where the description of the HTTP door keeps the types that have names.
const SCHEMAS_PREFIX: &str = "#/components/schemas/";

/// The schema of a type.
pub(super) fn build_schema<T: ToSchema>() -> JsonObject {
    let mut named = Vec::new();
    T::schemas(&mut named);
    let named: BTreeMap<String, Value> =
        named.into_iter().map(|(name, schema)| (name, json!(schema))).collect();
    let mut whole = inline_refs(json!(T::schema()), &named, MAX_DEPTH);
    // An object without members has no word about them, and some clients want one.
    whole.entry("properties").or_insert_with(|| json!({}));
    whole
}

fn inline_refs(schema: Value, named: &BTreeMap<String, Value>, deep: usize) -> Map<String, Value> {
    let Value::Object(mut schema) = schema else { return Map::new() };
    assert!(deep > 0, "a type that is sent contains itself");
    if let Some(Value::String(reference)) = schema.remove("$ref") {
        let meant = reference.strip_prefix(SCHEMAS_PREFIX).and_then(|name| named.get(name));
        let meant = meant.expect("utoipa collects every type that it refers to").clone();
        let mut meant = inline_refs(meant, named, deep - 1);
        // What is said at the place is more exact than what is said of the type.
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
    // What is said of something that may be absent stands in one of two branches; it belongs to both.
    let mut branches = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let said = branches.find_map(|branch| branch.get("description")).cloned();
    if let Some(said) = said {
        schema.entry("description").or_insert(said);
    }
    schema
}
