//! Tests that samples are valid and repeatable, and that boundary values are complete.

use countersign_contract::contract::Schema;
use serde_json::{Value, json};

use super::SchemaSampler;

/// Checks that every sample is valid and that at least 30 of 40 seeds give one.
#[expect(clippy::needless_pass_by_value, reason = "a line a case reads better without ampersands")]
#[track_caller]
fn check(schema: Value) {
    let compiled = Schema::compile(schema.clone()).unwrap();
    let sampler = SchemaSampler::new(&schema);
    let made: Vec<Value> = (0..40).filter_map(|seed| sampler.generate_sample(seed)).collect();
    assert!(made.len() >= 30, "{} of 40 for {schema}", made.len());
    for value in made.iter().chain(&sampler.generate_boundary_values()) {
        assert!(compiled.is_valid(value), "{value} for {schema}");
    }
    assert_eq!(sampler.generate_sample(3), sampler.generate_sample(3));
}

#[test]
fn scalars() {
    check(json!({"type": "string", "minLength": 3, "maxLength": 5}));
    check(json!({"type": "integer", "exclusiveMinimum": 3, "maximum": 9, "multipleOf": 3}));
    check(json!({"type": "number", "minimum": -1.5, "exclusiveMaximum": 0}));
    check(json!({"enum": [1, "two", null, {"three": 3}]}));
    check(json!({"const": {"a": [1]}}));
    check(json!({"type": ["null", "boolean", "string"]}));
    for format in ["date-time", "date", "time", "email", "uri", "uuid", "ipv4", "ipv6"] {
        check(json!({"type": "string", "format": format}));
    }
    check(json!({"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"}));
}

#[test]
fn objects_and_arrays() {
    check(
        json!({"type": "object", "required": ["a", "undeclared"], "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}),
    );
    check(
        json!({"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 2}),
    );
    check(
        json!({"type": "object", "patternProperties": {"^x-": {"type": "null"}}, "additionalProperties": false}),
    );
    check(
        json!({"type": "object", "propertyNames": {"pattern": "^[a-z]{3}$"}, "minProperties": 1}),
    );
    check(
        json!({"type": "array", "items": {"enum": [1, 2, 3, 4]}, "uniqueItems": true, "minItems": 2}),
    );
    check(
        json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false, "minItems": 1}),
    );
    check(
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "null"}}),
    );
    check(json!({"type": "array", "contains": {"const": 7}}));
}

#[test]
fn keywords_are_combined() {
    check(json!({"allOf": [{"type": "integer"}, {"minimum": 3}, {"maximum": 9}]}));
    check(json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "null"}}]}));
    check(
        json!({"oneOf": [{"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 3}]}),
    );
    check(json!({"type": "string", "not": {"enum": ["", "a"]}}));
    check(json!({
        "type": "object", "required": ["kind"],
        "properties": {"kind": {"enum": ["a", "b"]}, "x": {"type": "string"}, "y": {"type": "integer"}},
        "if": {"properties": {"kind": {"const": "a"}}}, "then": {"required": ["x"]}, "else": {"required": ["y"], "properties": {"y": {"minimum": 5}}}
    }));
    check(json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}, "all": {"type": "array", "items": {"$ref": "#"}}}}}
    }));
}

#[test]
fn what_cannot_be_made_is_not() {
    for schema in [
        json!(false),
        json!({"type": "string", "pattern": "(?i)x"}),
        json!({"type": "integer", "minimum": 3, "maximum": 2}),
    ] {
        assert_eq!(SchemaSampler::new(&schema).generate_sample(0), None, "{schema}");
    }
    assert_eq!(SchemaSampler::new(&json!({"type": "no such type"})).generate_sample(0), None);
}

#[test]
fn the_edges_are_all_there() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["kind"],
        "properties": {"kind": {"enum": ["a", "b", "c"]}, "count": {"type": "integer", "minimum": 2, "maximum": 9}, "tags": {"type": "array", "maxItems": 3, "items": {"type": "boolean"}}}
    });
    let edges = SchemaSampler::new(&schema).generate_boundary_values();
    let has = |wanted: &dyn Fn(&Value) -> bool| edges.iter().any(wanted);
    assert!(has(&|value| value == &json!({"kind": "a"})));
    for kind in ["a", "b", "c"] {
        assert!(has(&|value| value["kind"] == kind), "{kind}");
    }
    for count in [2, 3, 8, 9] {
        assert!(has(&|value| value["count"] == count), "{count}");
    }
    for length in [0, 1, 2, 3] {
        assert!(
            has(&|value| value["tags"].as_array().is_some_and(|tags| tags.len() == length)),
            "{length}"
        );
    }
    assert!(has(&|value| value.get("tags").is_some() && value.get("count").is_none()));
}
