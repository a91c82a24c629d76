//! Tests that every export, even of an unusual contract, stays within what its provider documents.

use countersign_contract::contract::load_inline_contract;
use serde_json::{Value, json};

use super::strict_mode::{self, StrictModeProfile};
use super::{ExportTarget, export_contract};

/// Schemas that occur in real contracts and that strict modes do not accept unchanged.
fn odd_schemas() -> Vec<Value> {
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}, "list": {"type": "array", "items": {"$ref": "#/$defs/n"}}}});
    vec![
        json!({}),
        json!({"properties": {"a": true, "b": false, "c": {}}}),
        json!({"type": ["object", "null"], "properties": {"a": {"type": ["array", "object", "string"]}}}),
        json!({"properties": {"a": {"enum": [{"x": [1, {"y": null}]}, [], [[]], 1, "s", null]}, "b": {"enum": []}, "c": {"const": {}}}}),
        json!({"properties": {"a": {"type": "array"}, "b": {"type": "array", "items": false}, "d": {"type": "array", "prefixItems": [{"type": "null"}]}}}),
        json!({"required": ["x", "y"], "properties": {"y": {"not": {}}}}),
        json!({"anyOf": [{"required": ["a"]}, {"properties": {"b": {"type": "string"}}}]}),
        json!({"oneOf": [{"type": "object", "properties": {"a": {"const": 1}}}, {"type": "array"}, {"$ref": "#/$defs/n"}], "$defs": {"n": node}}),
        json!({"$ref": "#/$defs/n", "$defs": {"n": node}}),
        json!({"$ref": "#/$defs/n", "maxProperties": 3, "$defs": {"n": node}}),
        json!({"allOf": [{"$ref": "#/$defs/n"}, {"anyOf": [{"required": ["next"]}, {"required": ["list"]}]}], "$defs": {"n": node}}),
        json!({"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": {"enum": [[1, 2]]}}),
        json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "properties": {"a": {"if": true, "then": {"type": "string"}}}}),
        json!({"properties": {"a": {"type": "string", "format": "iri", "minLength": 2}, "b": {"type": "number", "multipleOf": 2, "exclusiveMinimum": 0}}}),
        json!({"properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}}),
    ]
}

#[test]
fn exports_stay_within_the_subset_of_their_provider() {
    for schema in odd_schemas() {
        let contract =
            load_inline_contract(&format!("id: case\nversion: 1.0.0\nschema: {schema}")).unwrap();
        for target in [ExportTarget::OpenAi, ExportTarget::Anthropic, ExportTarget::Gemini] {
            let out = export_contract(&contract, target);
            let out = out.schema().unwrap();
            assert_eq!(out["type"], "object", "{} root of {schema}: {out}", target.as_str());
            let vendor = &strict_mode::strict_mode_profiles()[target.as_str()];
            check(vendor, out, &format!("{} of {schema}: {out:#}", target.as_str()));
            for (_, definition) in out["$defs"].as_object().into_iter().flatten() {
                check(vendor, definition, &format!("{} of {schema}: {out:#}", target.as_str()));
            }
        }
    }
}

fn check(vendor: &StrictModeProfile, schema: &Value, case: &str) {
    let keywords = schema.as_object().unwrap_or_else(|| panic!("{schema} in {case}"));
    for keyword in keywords.keys() {
        let structural = [
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "anyOf",
            "description",
            "$defs",
            "$ref",
        ];
        let known = structural.contains(&keyword.as_str()) || vendor.keywords.contains(keyword);
        assert!(known, "{keyword} in {case}");
    }
    if keywords.contains_key("$ref") {
        assert_eq!(keywords.len(), 1, "company of $ref in {case}");
        return;
    }
    if let Some(branches) = keywords.get("anyOf").and_then(Value::as_array) {
        assert!(branches.len() > 1, "a lone branch in {case}");
        for branch in branches {
            check(vendor, branch, case);
        }
        return;
    }
    let has_type = |name: &str| match &schema["type"] {
        Value::Array(names) => names.iter().any(|one| one == name),
        one => one == name,
    };
    assert!(schema["type"].is_string() || schema["type"].is_array(), "no type in {case}");
    if let Some(members) = keywords.get("enum").and_then(Value::as_array) {
        assert!(!members.is_empty(), "an empty enum in {case}");
        assert!(members.iter().all(|one| !one.is_object() && !one.is_array()), "{case}");
    }
    if has_type("array") {
        check(vendor, &schema["items"], case);
    }
    if has_type("object") {
        let others = &schema["additionalProperties"];
        let closed = others == &json!(false);
        assert!(closed || !vendor.closed_objects, "an open object in {case}");
        if others.is_object() {
            check(vendor, others, case);
        }
        let fields: Vec<&String> =
            schema["properties"].as_object().into_iter().flat_map(|all| all.keys()).collect();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert!(required.iter().all(|name| fields.iter().any(|field| field == name)), "{case}");
        assert!(!vendor.all_required || required.len() == fields.len(), "{case}");
        for (_, field) in schema["properties"].as_object().into_iter().flatten() {
            check(vendor, field, case);
        }
    }
}
