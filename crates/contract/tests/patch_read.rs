//! Patches as they come in: every fault told at once, format and shape in agreement.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use countersign_contract::patch::{Authority, Patch};
use countersign_contract::reply::{Violation, ViolationCode};
use serde_json::{Value, json};

fn lines(violations: &[Violation]) -> Vec<String> {
    for violation in violations {
        assert_eq!(violation.code, ViolationCode::InvalidPatch);
    }
    let hint = |violation: &Violation| {
        violation.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"))
    };
    violations.iter().map(|violation| format!("{}{}", violation.message, hint(violation))).collect()
}

#[track_caller]
fn malformed(patch: &Value, expected: &[&str]) {
    assert_eq!(lines(&Patch::parse(patch).unwrap_err()), expected, "{patch}");
}

#[track_caller]
fn mistagged(tagged: &Value, expected: &[&str]) {
    assert_eq!(lines(&Patch::from_tagged(tagged, &json!({})).unwrap_err()), expected, "{tagged}");
}

const VERBS: &str = r#"one of "add", "remove", "replace", "move", "copy", "test""#;

#[test]
fn what_is_no_patch_is_told_fault_by_fault() {
    malformed(&json!({}), &["the reply: expected an array of operations, found an object"]);
    malformed(&json!(null), &["the reply: expected an array of operations, found null"]);
    malformed(
        &json!([
            1,
            {},
            {"op": "set", "path": "/a"},
            {"op": "Add", "path": "/a", "value": 1},
            {"op": null, "path": "a"},
            {"op": "add", "path": "/a"},
            {"op": "replace", "path": 7},
            {"op": "move", "path": "/a~2"},
            {"op": "copy", "path": "/a", "from": "#/b"},
            {"op": "test", "path": "/a", "value": null},
            {"op": "remove", "path": null},
        ]),
        &[
            "/0: expected an operation, which is an object, found a number",
            &format!("/1/op: expected {VERBS}, found nothing"),
            "/1/path: expected a JSON Pointer, found nothing",
            &format!("/2/op: expected {VERBS}, found \"set\""),
            &format!("/3/op: expected {VERBS}, found \"Add\" (did you mean \"add\"?)"),
            &format!("/4/op: expected {VERBS}, found null"),
            "/4/path: expected a JSON Pointer, found \"a\" (a pointer begins with `/`)",
            "/5/value: expected a value, found nothing",
            "/6/path: expected a JSON Pointer, found 7",
            "/6/value: expected a value, found nothing",
            "/7/path: expected a JSON Pointer, found \"/a~2\" (write `~0` for `~` and `~1` for `/`)",
            "/7/from: expected a JSON Pointer, found nothing",
            "/8/from: expected a JSON Pointer, found \"#/b\" (a pointer begins with `/`)",
            "/10/path: expected a JSON Pointer, found null",
        ],
    );
}

#[test]
fn a_standard_patch_may_have_members_that_nobody_knows() {
    let patch = json!([{"op": "remove", "path": "/a", "value": 1, "from": 2, "why": "so"}]);
    assert_eq!(json!(Patch::parse(&patch).unwrap()), json!([{"op": "remove", "path": "/a"}]));
}

#[test]
fn a_tagged_patch_may_not() {
    mistagged(
        &json!({"format": "json_patch", "ops": [
            {"op": "remove", "path": "/a", "value": 1, "from": null},
            {"op": "add", "path": "/a", "value": 1, "from": "/b"},
            {"op": "move", "path": "/a", "from": "/b", "va/lue": 2},
        ]}),
        &[
            "/ops/0/value: expected only `op`, `path` in an operation `remove`, found 1",
            "/ops/1/from: expected only `op`, `path`, `value` in an operation `add`, found \"/b\"",
            "/ops/2/va~1lue: expected only `op`, `path`, `from` in an operation `move`, found 2",
        ],
    );
    mistagged(
        &json!({"format": "merge_patch", "ops": {}, "note": "x"}),
        &["/note: expected only `format` and `ops`, found \"x\""],
    );
}

#[test]
fn format_and_shape_must_agree() {
    let array = "/ops: expected an array of operations, because the format is json_patch, found";
    let object = "/ops: expected an object, because the format is merge_patch, found";
    let format = "/format: expected \"json_patch\" or \"merge_patch\", found";
    mistagged(&json!({"format": "json_patch", "ops": {}}), &[&format!("{array} an object")]);
    mistagged(&json!({"format": "json_patch", "ops": null}), &[&format!("{array} null")]);
    mistagged(&json!({"format": "json_patch"}), &[&format!("{array} nothing")]);
    mistagged(&json!({"format": "merge_patch", "ops": []}), &[&format!("{object} an array")]);
    mistagged(&json!({"format": "merge_patch", "ops": "x"}), &[&format!("{object} a string")]);
    mistagged(&json!({"format": "merge_patch"}), &[&format!("{object} nothing")]);
    mistagged(&json!({"format": "patch", "ops": []}), &[&format!("{format} \"patch\"")]);
    mistagged(&json!({"ops": []}), &[&format!("{format} nothing")]);
    mistagged(
        &json!([]),
        &["the reply: expected an object with `format` and `ops`, found an array"],
    );
}

#[test]
fn both_formats_become_operations() {
    let document = json!({"a": 1});
    let from = |format: &str, ops: Value| {
        json!(Patch::from_tagged(&json!({"format": format, "ops": ops}), &document).unwrap())
    };
    let ops = json!([{"op": "add", "path": "/b", "value": 2}]);
    assert_eq!(from("json_patch", ops.clone()), ops);
    assert_eq!(from("merge_patch", json!({"b": 2})), ops);
}

#[test]
fn violations_point_into_what_was_read() {
    let document = json!({"meta": {"status": "x"}, "domain": {}});
    let authority = Authority::parse(&["/domain"], &["/meta"]).unwrap();
    let pointers = |tagged: &Value| -> Vec<String> {
        let patch = Patch::from_tagged(tagged, &document).unwrap();
        authority
            .check(&patch, &document)
            .into_iter()
            .map(|violation| {
                patch.relocate_violation(tagged, violation).with_pointer_prefix("/patch")
            })
            .inspect(|violation| assert!(violation.message.starts_with(&violation.pointer)))
            .map(|violation| violation.pointer)
            .collect()
    };
    let ops = json!([
        {"op": "add", "path": "/domain/a", "value": 1},
        {"op": "move", "from": "/meta/status", "path": "/meta/old"},
    ]);
    assert_eq!(
        pointers(&json!({"format": "json_patch", "ops": ops})),
        ["/patch/ops/1/from", "/patch/ops/1/path"]
    );
    assert_eq!(
        pointers(
            &json!({"format": "merge_patch", "ops": {"domain": {"a": 1}, "meta": {"status": "y"}}})
        ),
        ["/patch/ops/meta/status"]
    );
}

#[test]
fn the_examples_of_the_pages_are_true() {
    let patch = json!({"format": "json_patch", "ops": [
        {"op": "set", "path": "/domain/price", "value": 10},
        {"op": "remove", "path": "domain/discount"},
        {"op": "add", "path": "/domain/term"},
    ]});
    mistagged(
        &patch,
        &[
            &format!("/ops/0/op: expected {VERBS}, found \"set\""),
            "/ops/1/path: expected a JSON Pointer, found \"domain/discount\" (a pointer begins with `/`)",
            "/ops/2/value: expected a value, found nothing",
        ],
    );
    let failed = |mut document: Value, patch: Value| {
        Violation::from(Patch::parse(&patch).unwrap().apply(&mut document).unwrap_err()).message
    };
    assert_eq!(
        failed(
            json!({"domain": {"items": ["a", "b"]}}),
            json!([{"op": "replace", "path": "/domain/items/2", "value": "c"}])
        ),
        "/0/path: cannot replace /domain/items/2: expected an index from 0 to 1 in the array at /domain/items, found 2"
    );
    assert_eq!(
        failed(
            json!({"domain": {"price": 12}}),
            json!([{"op": "test", "path": "/domain/price", "value": 10}])
        ),
        "/0/value: the test expects 10 at /domain/price, the document has 12"
    );
}
