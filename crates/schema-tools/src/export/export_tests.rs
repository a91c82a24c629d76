//! Tests of exports of small schemas, with their complete output.

use countersign_contract::contract::{Contract, load_inline_contract};
use serde_json::{Value, json};

use super::{ExportTarget, LossEffect, export_contract};

fn contract(schema: &Value) -> Contract {
    load_inline_contract(&format!("id: case\nversion: 1.0.0\nschema: {schema}")).unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "a line a case reads better without ampersands")]
#[track_caller]
fn check(target: ExportTarget, schema: Value, expected: Value, losses: &[&str]) {
    let export = export_contract(&contract(&schema), target);
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
        ExportTarget::OpenAi,
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
        ExportTarget::OpenAi,
        open,
        object(json!({"a": object(json!({}), json!([]))}), json!(["a"])),
        &["/properties/a additionalProperties narrowed", " additionalProperties narrowed"],
    );
}

#[test]
fn anthropic_keeps_fields_optional() {
    check(
        ExportTarget::Anthropic,
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
            "/properties/b default unstated",
            "/properties/b minimum widened",
        ],
    );
    let node = object(json!({"next": {"$ref": "#/$defs/node"}}), json!([]));
    let recursive = json!({"type": "object", "additionalProperties": false, "properties": {"n": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}});
    let export = export_contract(&contract(&recursive), ExportTarget::Anthropic);
    assert!(
        export
            .losses
            .iter()
            .any(|loss| loss.keyword == "$ref" && loss.effect == LossEffect::Narrowed)
    );
}

#[test]
fn gemini_keeps_objects_open() {
    check(
        ExportTarget::Gemini,
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
        ExportTarget::Anthropic,
        field(both.clone()),
        object(json!({"a": {"anyOf": both}}), json!(["a"])),
        &[],
    );
    let overlapping = json!([{"type": "number"}, {"type": "integer"}]);
    check(
        ExportTarget::Anthropic,
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
    check(ExportTarget::OpenAi, schema, expected, &["/allOf/0 if widened"]);
    let ruled = load_inline_contract("id: case\nversion: 1.0.0\nschema: { type: object, additionalProperties: false }\nrules: [{id: never, then: 'false', at: /a, says: nothing is good}]").unwrap();
    let lost: Vec<String> = export_contract(&ruled, ExportTarget::Grammar)
        .losses
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(lost, ["/a: rule:never: nothing is good [widened, enforced by the runtime]"]);
}

#[test]
fn the_table_is_dated_and_says_what_is_contested() {
    for target in [ExportTarget::OpenAi, ExportTarget::Anthropic, ExportTarget::Gemini] {
        assert_eq!(target.as_of(), Some("2026-11-15"));
        assert!(!target.contested_points().is_empty());
    }
    assert_eq!(
        ExportTarget::ALL.map(|target| ExportTarget::parse(target.as_str())),
        ExportTarget::ALL.map(Some)
    );
}

/// Exports a schema, which must neither crash nor take long, to every target.
#[expect(clippy::needless_pass_by_value, reason = "a line a case reads better without ampersands")]
fn export_all(schema: Value) -> Vec<super::ExportedContract> {
    let contract = contract(&schema);
    ExportTarget::ALL.map(|target| export_contract(&contract, target)).into()
}

#[test]
fn recursion_beside_other_keywords_becomes_a_definition() {
    let node = json!({"type": "object", "additionalProperties": false, "required": ["v"], "properties": {
        "v": {"type": "integer"}, "next": {"$ref": "#/$defs/node", "required": ["next"]}
    }});
    let all = export_all(json!({"$ref": "#/$defs/node", "$defs": {"node": node}}));
    let openai = all[0].schema().unwrap();
    assert_eq!(
        openai["properties"]["next"]["properties"]["next"],
        json!({"$ref": "#/$defs/Definition0"}),
        "{openai:#}"
    );
    assert!(openai["$defs"]["Definition0"]["properties"]["v"].is_object(), "{openai:#}");
    // Gemini's language has no recursion: any object is accepted, and the losses say so.
    assert!(all[2].losses.iter().any(|loss| loss.effect == LossEffect::Widened
        && loss.keyword == "$ref"
        && loss.reason.contains("any object is accepted")));
    assert!(all[3].grammar().unwrap().contains("ref-0-"), "{}", all[3].grammar().unwrap());
}

#[test]
fn a_schema_that_refers_to_itself_for_the_same_value_is_exported() {
    let own = json!({"type": "object", "allOf": [{"$ref": "#"}, {"properties": {"a": {"type": "null"}}}]});
    for export in export_all(own) {
        assert!(export.output.to_string().contains('a'));
    }
    export_all(json!({"allOf": [{"$ref": "#"}]}));
    export_all(
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
    );
    let grows = json!({"type": "object", "properties": {"n": {"allOf": [
        {"$ref": "#"}, {"properties": {"n": {"minProperties": 1, "properties": {"n": {"$ref": "#"}}}}}
    ]}}});
    export_all(grows);
}

#[test]
fn references_to_anchors_are_followed_and_others_are_listed() {
    let schema = |target: &str| object(json!({"a": {"$ref": target}}), json!(["a"]));
    let mut anchored = schema("#here");
    anchored["$defs"] = json!({"x": {"$anchor": "here", "type": "integer"}});
    let mut expected = object(json!({"a": {"$ref": "#/$defs/x"}}), json!(["a"]));
    expected["$defs"] = json!({"x": {"type": "integer"}});
    check(ExportTarget::Gemini, anchored, expected, &[]);
    let mut own = schema("inner");
    own["$defs"] = json!({"x": {"$id": "inner", "type": "integer"}});
    let lost = export_contract(&contract(&own), ExportTarget::Gemini).losses;
    assert_eq!(
        lost[0].to_string(),
        "/properties/a: $ref: the reference cannot be resolved here [widened, enforced by the runtime]"
    );
}

#[test]
fn mutually_recursive_definitions_stay_small() {
    let to = |number: usize| json!({"$ref": format!("#/$defs/d{number}")});
    let every = |count: usize| -> Value {
        (0..count).map(|number| (format!("to{number}"), to(number))).collect()
    };
    let defs: Value =
        (0..8).map(|number| (format!("d{number}"), object(every(8), json!([])))).collect();
    let schema = json!({"type": "object", "additionalProperties": false, "properties": {"d": to(0)}, "$defs": defs});
    for export in export_all(schema) {
        assert!(export.output.to_string().len() < 20_000);
        assert!(export.nullable.len() <= 1000);
    }
}

#[test]
fn an_export_beyond_its_limits_says_so() {
    let level = |number: usize| {
        let next = json!({"$ref": format!("#/$defs/{}", number + 1), "minProperties": 1});
        json!({"type": "object", "properties": {"l": next, "r": next}})
    };
    let mut defs: serde_json::Map<String, Value> =
        (0..30).map(|number| (number.to_string(), level(number))).collect();
    defs.insert("30".to_owned(), json!({"type": "object"}));
    let schema =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/0"}}, "$defs": defs});
    let all = export_all(schema);
    // Without recursion there are no named definitions, so the tree is cut off.
    assert!(
        all[2]
            .losses
            .iter()
            .any(|loss| loss.keyword == "limit" && loss.effect == LossEffect::Widened)
    );
    assert!(all[0].output.to_string().len() < 100_000);
}

#[test]
fn the_root_is_one_object() {
    let shape = |kind: &str, field: &str| {
        object(json!({"kind": {"const": kind}, field: {"type": "number"}}), json!(["kind", field]))
    };
    let either = json!({"oneOf": [shape("circle", "radius"), shape("square", "side")]});
    check(
        ExportTarget::Anthropic,
        either.clone(),
        object(
            json!({"kind": {"anyOf": [{"type": "string", "enum": ["circle"]}, {"type": "string", "enum": ["square"]}]}, "radius": {"type": "number"}, "side": {"type": "number"}}),
            json!(["kind"]),
        ),
        &[" oneOf widened"],
    );
    let openai = export_contract(&contract(&either), ExportTarget::OpenAi);
    assert_eq!(openai.nullable, ["/radius", "/side"]);
    let mut reply = json!({"kind": "circle", "radius": 1, "side": null});
    openai.drop_nulls(&mut reply);
    assert_eq!(reply, json!({"kind": "circle", "radius": 1}));
    // A reply is always an object, so the other types of the root are left out.
    check(
        ExportTarget::Gemini,
        json!({"properties": {"a": {"type": "null"}}}),
        json!({"type": "object", "properties": {"a": {"type": "null"}}, "required": [], "additionalProperties": true}),
        &[],
    );
}

#[test]
fn listed_objects_lists_and_nothing_are_written_out() {
    let schema = object(
        json!({"a": {"enum": ["x", {"k": 1}, [1, "b"]]}, "never": {"enum": []}, "list": {"type": "array", "items": false}}),
        json!(["a"]),
    );
    let fixed = object(json!({"k": {"type": "number", "enum": [1]}}), json!(["k"]));
    let list = json!({"type": "array", "items": {"type": ["number", "string"], "enum": [1, "b"]}});
    check(
        ExportTarget::Anthropic,
        schema,
        object(
            json!({"a": {"anyOf": [{"type": "string", "enum": ["x"]}, fixed, list]}, "list": {"type": "array", "items": {"type": "null"}}}),
            json!(["a"]),
        ),
        &[
            "/properties/a enum widened",
            "/properties/a minItems widened",
            "/properties/a maxItems widened",
            "/properties/list/items not widened",
        ],
    );
}
