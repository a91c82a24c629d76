//! Exports of small schemas, written out.

use serde_json::{Value, json};

use super::{Effect, Target, export};
use crate::contract::{Contract, load_inline};

fn contract(schema: &Value) -> Contract {
    load_inline(&format!("id: case\nversion: 1.0.0\nschema: {schema}")).unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "a line a case reads better without ampersands")]
#[track_caller]
fn check(target: Target, schema: Value, expected: Value, losses: &[&str]) {
    let export = export(&contract(&schema), target);
    assert_eq!(export.schema().unwrap(), &expected);
    let lost: Vec<String> = export
        .losses
        .iter()
        .map(|loss| format!("{} {} {}", loss.pointer, loss.keyword, loss.effect.as_str()))
        .collect();
    assert_eq!(lost, losses);
}

#[expect(clippy::needless_pass_by_value, reason = "a line a case reads better without ampersands")]
fn object(fields: Value, required: Value) -> Value {
    json!({"type": "object", "properties": fields, "required": required, "additionalProperties": false})
}

#[test]
fn openai_has_every_field_required_and_closed() {
    check(
        Target::OpenAi,
        object(
            json!({"a": {"type": "string", "minLength": 1}, "b": {"enum": ["x"]}, "c": {"type": ["string", "null"]}, "d": {"type": "integer", "maximum": 3}}),
            json!(["a"]),
        ),
        json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]}, "c": {"type": ["string", "null"]}, "d": {"type": ["integer", "null"], "maximum": 3}},
            "required": ["a", "b", "c", "d"],
            "additionalProperties": false
        }),
        &["/properties/a minLength widened", "/properties/c required narrowed"],
    );
    let open =
        json!({"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"]});
    check(
        Target::OpenAi,
        open,
        object(json!({"a": object(json!({}), json!([]))}), json!(["a"])),
        &["/properties/a additionalProperties narrowed", " additionalProperties narrowed"],
    );
}

#[test]
fn anthropic_keeps_fields_optional() {
    check(
        Target::Anthropic,
        object(
            json!({"a": {"type": "array", "items": {"type": "string", "format": "uri"}, "minItems": 2}, "b": {"type": "number", "minimum": 0, "default": 1}}),
            json!(["a", "b"]),
        ),
        object(
            json!({"a": {"type": "array", "items": {"type": "string", "format": "uri"}}, "b": {"type": "number"}}),
            json!(["a"]),
        ),
        &[
            "/properties/a minItems widened",
            "/properties/b default untold",
            "/properties/b minimum widened",
        ],
    );
    let node = object(json!({"next": {"$ref": "#/$defs/node"}}), json!([]));
    let recursive = json!({"type": "object", "additionalProperties": false, "properties": {"n": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}});
    let export = export(&contract(&recursive), Target::Anthropic);
    assert!(
        export.losses.iter().any(|loss| loss.keyword == "$ref" && loss.effect == Effect::Narrowed)
    );
}

#[test]
fn gemini_keeps_objects_open() {
    check(
        Target::Gemini,
        json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^a"}}, "additionalProperties": {"type": "integer", "minimum": 1}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": {"type": "integer", "minimum": 1}}),
        &["/properties/a pattern widened"],
    );
}

#[test]
fn exactly_one_is_rewritten_only_where_proven() {
    let field = |branches: Value| object(json!({"a": {"oneOf": branches}}), json!(["a"]));
    let both = json!([{"type": "string"}, {"type": "integer"}]);
    check(
        Target::Anthropic,
        field(both.clone()),
        object(json!({"a": {"anyOf": both}}), json!(["a"])),
        &[],
    );
    let overlapping = json!([{"type": "number"}, {"type": "integer"}]);
    check(
        Target::Anthropic,
        field(overlapping.clone()),
        object(json!({"a": {"anyOf": overlapping}}), json!(["a"])),
        &["/properties/a oneOf widened"],
    );
}

#[test]
fn definitions_conditions_and_rules() {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["a"], "properties": {"a": {"$ref": "#/definitions/x", "description": "Words."}}, "definitions": {"x": {"const": 1}},
        "allOf": [{"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["a"]}}], "$schema": "http://json-schema.org/draft-07/schema#"});
    let mut expected = object(json!({"a": {"$ref": "#/$defs/x"}}), json!(["a"]));
    expected["$defs"] = json!({"x": {"type": "number", "enum": [1]}});
    check(Target::OpenAi, schema, expected, &["/allOf/0 if widened"]);
    let ruled = load_inline("id: case\nversion: 1.0.0\nschema: { type: object, additionalProperties: false }\nrules: [{id: never, then: 'false', at: /a, says: nothing is good}]").unwrap();
    let lost: Vec<String> =
        export(&ruled, Target::Grammar).losses.iter().map(ToString::to_string).collect();
    assert_eq!(lost, ["/a: rule:never: nothing is good [widened, enforced by the runtime]"]);
}

#[test]
fn the_table_is_dated_and_says_what_is_contested() {
    for target in [Target::OpenAi, Target::Anthropic, Target::Gemini] {
        assert_eq!(target.as_of(), Some("2026-11-15"));
        assert!(!target.contested().is_empty());
    }
    assert_eq!(Target::ALL.map(|target| Target::parse(target.as_str())), Target::ALL.map(Some));
}
