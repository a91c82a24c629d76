//! Tests of grammars of small schemas against texts.

use serde_json::{Value, json};
use testkit::GbnfMatcher;

use super::export_grammar;

/// Checks which texts match the grammar, which do not, and what is lost.
#[expect(clippy::needless_pass_by_value, reason = "a line a case reads better without ampersands")]
#[track_caller]
fn check(schema: Value, matching: &[&str], others: &[&str], losses: &[&str]) {
    let export = export_grammar(&schema);
    let grammar = export.grammar().unwrap();
    let matcher = GbnfMatcher::parse(grammar);
    for text in matching {
        assert!(matcher.matches(text), "{text} does not match\n{grammar}");
    }
    for text in others {
        assert!(!matcher.matches(text), "{text} matches\n{grammar}");
    }
    let lost: Vec<String> =
        export.losses.iter().map(|loss| format!("{} {}", loss.pointer, loss.keyword)).collect();
    assert_eq!(lost, losses);
}

#[test]
fn fields_in_order_with_their_commas() {
    let schema = |required: Value| json!({"type": "object", "additionalProperties": false, "required": required, "properties": {"a": {"type": "null"}, "b": {"type": "boolean"}, "c": {"type": "null"}}});
    check(
        schema(json!(["b"])),
        &[
            r#"{"b":true}"#,
            r#"{"a":null,"b":true}"#,
            r#"{ "b": false, "c": null }"#,
            "{\n  \"b\":true}\n",
        ],
        &[
            "{}",
            r#"{"a":null}"#,
            r#"{"b":1}"#,
            r#"{"b":true,}"#,
            r#"{"b":true,"a":null}"#,
            r#"{"b":true,"d":1}"#,
        ],
        &[" properties"],
    );
    check(
        schema(json!([])),
        &[
            "{}",
            r#"{"a":null}"#,
            r#"{"c":null}"#,
            r#"{"a":null,"c":null}"#,
            r#"{"a":null,"b":true,"c":null}"#,
        ],
        &[r#"{"c":null,"a":null}"#, r#"{,"c":null}"#],
        &[" properties"],
    );
    check(
        json!({"type": "object"}),
        &["{}", r#"{"x":[1,{"y":"z\n"}],"w":-1.5e3}"#],
        &["[]", r#"{"x":}"#],
        &[],
    );
    check(
        json!({"type": "object", "additionalProperties": {"type": "integer"}, "properties": {"a": {"const": "x"}}}),
        &["{}", r#"{"a":"x"}"#, r#"{"a":"x","b":1,"c":2}"#, r#"{"b":1}"#],
        &[r#"{"a":"y"}"#, r#"{"b":"c"}"#],
        &[" additionalProperties"],
    );
}

#[test]
fn a_declared_field_does_not_come_again_untyped() {
    check(
        json!({"type": "object", "properties": {"a": {"type": "null"}, "ab": {"type": "null"}, "b-c": {"type": "null"}}}),
        &[
            "{}",
            r#"{"a":null,"x":1}"#,
            r#"{"abc":1}"#,
            r#"{"":1}"#,
            r#"{"b":1,"b-":2,"b-cd":3,"\n":4,"a\t":5,"aé":6}"#,
        ],
        &[r#"{"a":1}"#, r#"{"x":1,"a":1}"#, r#"{"ab":1}"#, r#"{"x":1,"b-c":0}"#],
        &[" additionalProperties", " properties"],
    );
    let unusual = json!({"type": "object", "properties": {"é": {"type": "null"}}});
    check(unusual, &[r#"{"é":1}"#], &[], &[" additionalProperties"]);
}

#[test]
fn lists_by_count_and_by_place() {
    let list = |more: &str| {
        serde_json::from_str::<Value>(&format!(
            r#"{{"type": "array", "items": {{"enum": [1, 2]}}{more}}}"#
        ))
        .unwrap()
    };
    check(list(""), &["[]", "[1]", "[1, 2,1]"], &["[3]", "[1,]", "[1"], &[]);
    check(
        list(r#", "minItems": 2, "maxItems": 3"#),
        &["[1,2]", "[1,2,1]"],
        &["[]", "[1]", "[1,1,1,1]"],
        &[],
    );
    check(
        list(r#", "maxItems": 1, "uniqueItems": true"#),
        &["[]", "[1]"],
        &["[1,2]"],
        &[" uniqueItems"],
    );
    check(
        json!({"type": "array", "prefixItems": [{"const": 1}, {"const": "b"}], "items": false, "minItems": 1}),
        &["[1]", r#"[1,"b"]"#],
        &["[]", r#"["b"]"#, r#"[1,"b",2]"#],
        &[],
    );
}

#[test]
fn plain_values() {
    check(
        json!({"type": "string", "minLength": 2, "maxLength": 3}),
        &[r#""ab""#, r#""a\n\u00e9""#, r#""日本語""#],
        &[r#""a""#, r#""abcd""#, "\"a\nb\"", r#""\ud83d\ude00""#],
        &[],
    );
    check(
        json!({"type": "string", "minLength": 1, "maxLength": 5000}),
        &[r#""a""#],
        &[r#""""#],
        &[" maxLength"],
    );
    check(
        json!({"type": "string", "pattern": "^v[0-9]{1,2}(-[a-z]+)?$"}),
        &[r#""v1""#, r#""v22-ab""#],
        &[r#""v""#, r#""v123""#, r#""v1-""#],
        &[],
    );
    check(
        json!({"type": "integer", "minimum": 3, "maximum": 12}),
        &["3", "12"],
        &["2", "13", "3.5"],
        &[],
    );
    check(
        json!({"type": "integer", "minimum": 1, "maximum": 5000}),
        &["1", "5000"],
        &["0", "-1"],
        &[" maximum"],
    );
    check(
        json!({"type": "number", "minimum": 0, "maximum": 1}),
        &["0", "0.5", "1e-7"],
        &["-1", "01", "\"1\""],
        &[" maximum"],
    );
    check(
        json!({"type": ["string", "null"], "format": "date"}),
        &["null", r#""2026""#],
        &["1"],
        &[" format"],
    );
    check(
        json!({"enum": ["a\"b", null, {"c": [1]}]}),
        &[r#""a\"b""#, "null", r#"{"c":[1]}"#],
        &[r#""a""#],
        &[],
    );
}

#[test]
fn references_and_alternatives() {
    check(
        json!({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "additionalProperties": false, "required": ["v"], "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}}}),
        &[r#"{"v":1}"#, r#"{"v":1,"next":{"v":2,"next":{"v":3}}}"#],
        &[r#"{"next":{"v":1}}"#, r#"{"v":1,"next":{}}"#],
        &["/$defs/node properties"],
    );
    check(
        json!({"oneOf": [{"type": "string"}, {"type": "null"}]}),
        &["null", r#""x""#],
        &["1"],
        &[],
    );
    check(
        json!({"oneOf": [{"type": "string"}, {"minLength": 2, "type": "string"}]}),
        &[r#""x""#],
        &["1"],
        &[" oneOf"],
    );
    check(
        json!({"allOf": [{"type": "integer", "minimum": 0}, {"maximum": 2}, {"not": {"const": 1}}]}),
        &["0", "1", "2"],
        &["3"],
        &["/allOf/2 not"],
    );
}
