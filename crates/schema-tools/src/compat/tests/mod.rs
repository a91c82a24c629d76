//! Tests of comparisons that the schemas alone decide, and the shared check function.

mod beyond_schemas;

use countersign_contract::contract::{CompatibilityLevel, Contract, load_inline_contract};
use serde_json::{Value, json};

use super::{CompatOutcome, compare, compare_with};

fn contract(schema: &Value, more: &str) -> Contract {
    load_inline_contract(&format!("id: case\nversion: 1.0.0\nschema: {schema}\n{more}")).unwrap()
}

/// Formats one direction as a line: `yes`, `no: WITNESS`, or `unknown: REASON`.
fn shown(answer: &CompatOutcome) -> String {
    match answer {
        CompatOutcome::Yes => "yes".to_owned(),
        CompatOutcome::No { witness, reply_text: None, .. } => format!("no: {witness}"),
        CompatOutcome::No { reply_text: Some(text), .. } => format!("no, as text: {text}"),
        CompatOutcome::Unknown { reason } => format!("unknown: {reason}"),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a line a case reads better without ampersands")]
#[track_caller]
fn check_with(
    old: (Value, &str),
    new: (Value, &str),
    backward: &str,
    forward: &str,
    changes: &[&str],
) {
    let (old, new) = (contract(&old.0, old.1), contract(&new.0, new.1));
    let comparison = compare(&old, &new);
    let messages: Vec<String> = comparison
        .changes
        .iter()
        .map(|change| format!("{}: {}", change.pointer, change.message))
        .collect();
    assert_eq!(
        (shown(&comparison.backward).as_str(), shown(&comparison.forward).as_str()),
        (backward, forward),
        "{messages:?}"
    );
    assert_eq!(messages, changes);
    let expected = match (backward, forward) {
        ("yes", "yes") => CompatibilityLevel::Full,
        ("yes", _) => CompatibilityLevel::Backward,
        (_, "yes") => CompatibilityLevel::Forward,
        _ => CompatibilityLevel::Breaking,
    };
    assert_eq!(comparison.compatibility(), expected);
    assert_eq!(
        comparison.is_undecided(),
        backward.starts_with("unknown") || forward.starts_with("unknown")
    );
}

#[track_caller]
fn check(old: Value, new: Value, backward: &str, forward: &str, changes: &[&str]) {
    check_with((old, ""), (new, ""), backward, forward, changes);
}

#[expect(clippy::needless_pass_by_value, reason = "a line a case reads better without ampersands")]
fn closed(fields: Value, required: Value) -> Value {
    json!({"type": "object", "additionalProperties": false, "properties": fields, "required": required})
}

#[expect(clippy::needless_pass_by_value, reason = "a line a case reads better without ampersands")]
fn open(fields: Value, required: Value) -> Value {
    json!({"type": "object", "properties": fields, "required": required})
}

#[test]
fn fields_come_and_go() {
    let text = json!({"type": "string"});
    // An undeclared field may already be present and not be a string.
    check(
        open(json!({}), json!([])),
        open(json!({"a": text}), json!([])),
        "no: {\"a\":null}",
        "yes",
        &["/a: optional field `a` was added"],
    );
    check(
        closed(json!({}), json!([])),
        closed(json!({"a": text}), json!([])),
        "yes",
        "no: {\"a\":\"\"}",
        &["/a: optional field `a` was added"],
    );
    check(
        closed(json!({}), json!([])),
        closed(json!({"a": text}), json!(["a"])),
        "no: {}",
        "no: {\"a\":\"\"}",
        &["/a: required field `a` was added"],
    );
    check(
        open(json!({"a": text}), json!([])),
        open(json!({"a": text}), json!(["a"])),
        "no: {}",
        "yes",
        &["/a: field `a` became required"],
    );
    check(
        open(json!({"a": text}), json!(["a"])),
        open(json!({"a": text}), json!([])),
        "yes",
        "no: {}",
        &["/a: field `a` became optional"],
    );
    check(
        closed(json!({"a": text, "b": text}), json!([])),
        closed(json!({"a": text}), json!([])),
        "no: {\"b\":\"\"}",
        "yes",
        &["/b: field `b` is no longer declared"],
    );
    check(
        open(json!({"a": text}), json!([])),
        closed(json!({"a": text}), json!([])),
        "no: {\"extra_0\":0}",
        "yes",
        &[": undeclared fields are no longer allowed"],
    );
}

#[test]
fn values_grow_and_shrink() {
    let field = |schema: Value| closed(json!({"a": schema}), json!(["a"]));
    check(
        field(json!({"enum": ["x", "y"]})),
        field(json!({"enum": ["x", "y", "z"]})),
        "yes",
        "no: {\"a\":\"z\"}",
        &["/a: \"z\" is allowed"],
    );
    check(
        field(json!({"enum": ["x", "y"]})),
        field(json!({"enum": ["x"]})),
        "no: {\"a\":\"y\"}",
        "yes",
        &["/a: \"y\" is no longer allowed"],
    );
    check(
        field(json!({"const": 1})),
        field(json!({"const": 2})),
        "no: {\"a\":1}",
        "no: {\"a\":2}",
        &["/a: 1 is no longer allowed", "/a: 2 is allowed"],
    );
    check(
        field(json!({"type": "integer", "maximum": 100})),
        field(json!({"type": "integer", "maximum": 10})),
        "no: {\"a\":11}",
        "yes",
        &["/a: maximum 100 became 10"],
    );
    check(
        field(json!({"type": "integer", "minimum": 5})),
        field(json!({"type": "integer", "minimum": 1})),
        "yes",
        "no: {\"a\":1}",
        &["/a: minimum 5 became 1"],
    );
    check(
        field(json!({"type": "string"})),
        field(json!({"type": "string", "minLength": 1})),
        "no: {\"a\":\"\"}",
        "yes",
        &["/a: minLength none became 1"],
    );
    check(
        field(json!({"type": "integer"})),
        field(json!({"type": "number"})),
        "yes",
        "no: {\"a\":3.5}",
        &["/a: type \"integer\" became \"number\""],
    );
    check(
        field(json!({"type": "string"})),
        field(json!({"type": "integer"})),
        "no: {\"a\":\"\"}",
        "no: {\"a\":0}",
        &["/a: type \"string\" became \"integer\""],
    );
    check(
        field(json!({"type": "string"})),
        field(json!({"type": ["string", "null"]})),
        "yes",
        "no: {\"a\":null}",
        &["/a: type \"string\" became [\"string\",\"null\"]"],
    );
    check(
        field(json!({"type": "string"})),
        field(json!({"type": "string", "description": "Words."})),
        "yes",
        "yes",
        &[],
    );
}

#[test]
fn nested_and_listed() {
    let nested = |schema: Value| {
        closed(json!({"a": closed(json!({"b": schema}), json!(["b"]))}), json!(["a"]))
    };
    check(
        nested(json!({"enum": [1, 2]})),
        nested(json!({"enum": [1]})),
        "no: {\"a\":{\"b\":2}}",
        "yes",
        &["/a/b: 2 is no longer allowed"],
    );
    let list = |more: Value| {
        let mut schema = json!({"type": "array", "items": {"type": "integer"}});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        closed(json!({"a": schema}), json!(["a"]))
    };
    check(
        list(json!({})),
        list(json!({"minItems": 1})),
        "no: {\"a\":[]}",
        "yes",
        &["/a: minItems none became 1"],
    );
    check(
        list(json!({"maxItems": 1})),
        list(json!({"maxItems": 2})),
        "yes",
        "no: {\"a\":[0,0]}",
        &["/a: maxItems 1 became 2"],
    );
    check(
        list(json!({})),
        list(json!({"items": {"type": "integer", "minimum": 0}})),
        "no: {\"a\":[-1]}",
        "yes",
        &["/a/*: minimum none became 0"],
    );
    let referring = |maximum: u32| json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "integer", "maximum": maximum}}});
    check(referring(9), referring(5), "no: {\"a\":6}", "yes", &["/a: maximum 9 became 5"]);
    let recursive = |kinds: Value| json!({"$ref": "#/$defs/node", "$defs": {"node": closed(json!({"kind": {"enum": kinds}, "next": {"$ref": "#/$defs/node"}}), json!(["kind"]))}});
    // The set algebra does not decide recursive schemas, unless a value shows the difference.
    check(
        recursive(json!(["x"])),
        recursive(json!(["x", "y"])),
        "unknown: containment of the schemas could not be decided",
        "no: {\"kind\":\"y\"}",
        &["/kind: \"y\" is allowed"],
    );
}

#[test]
fn alternatives() {
    let either = |branches: Value| json!({"type": "object", "required": ["a"], "properties": {"a": {"oneOf": branches}}});
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    check(
        either(json!([text])),
        either(json!([text, number])),
        "yes",
        "no: {\"a\":0}",
        &["/a: oneOf was changed"],
    );
    // An overlapping branch excludes values: two branches match where only one may.
    check(
        either(json!([text])),
        either(json!([text, {"minLength": 3}])),
        "no: {\"a\":\"hav\"}",
        "no: {\"a\":null}",
        &["/a: oneOf was changed"],
    );
}

#[test]
fn examples_pass_where_made_up_values_do_not() {
    let rule = "rules: [{id: known, then: \"reply.a === 'the very word'\", says: one word only}]";
    let schema = |more: Value| closed(json!({"a": {"type": "string"}, "b": more}), json!(["a"]));
    let (old, new) = (
        contract(&schema(json!({"type": "integer"})), rule),
        contract(&schema(json!({"type": "integer", "maximum": 9})), rule),
    );
    assert_eq!(
        shown(&compare(&old, &new).backward),
        "unknown: the schemas differ, but no value that shows it was found"
    );
    let example = json!({"a": "the very word", "b": 12});
    assert_eq!(
        shown(&compare_with(&old, &new, &[example]).backward),
        "no: {\"a\":\"the very word\",\"b\":12}"
    );
}

#[test]
fn what_cannot_be_proven_is_said() {
    let schema = |keyword: &str| json!({"type": "object", "properties": {"a": {"type": "string", "pattern": format!("^(?:{keyword}){{2}}$")}}, "unevaluatedProperties": false});
    check(
        schema("ab|cd"),
        schema("cd|ab"),
        "unknown: containment of the schemas could not be decided",
        "unknown: containment of the schemas could not be decided",
        &["/a: pattern \"^(?:ab|cd){2}$\" became \"^(?:cd|ab){2}$\""],
    );
}
