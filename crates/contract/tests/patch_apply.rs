//! What a patch does, how it says no, and what it leaves untouched.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use countersign_contract::limits::{MAX_PATCH_COPIED_BYTES, MAX_PATCH_OPS};
use countersign_contract::patch::{JsonPointer, Patch, PatchError, PatchOperation};
use countersign_contract::reply::{Violation, ViolationCode};
use serde_json::{Value, json};

fn parse(patch: &Value) -> Patch {
    Patch::parse(patch).unwrap_or_else(|violations| panic!("{patch}: {violations:?}"))
}

/// Refused with this line, and the document is as it was.
#[track_caller]
fn refused(document: &Value, patch: &Value, line: &str) {
    let mut changed = document.clone();
    let error = parse(patch).apply(&mut changed).unwrap_err();
    assert_eq!(changed.to_string(), document.to_string(), "{patch}");
    assert_eq!(Violation::from(error).to_string(), line, "{patch}");
}

/// Applied; the result and the document that the inverse gives, key order and all.
#[track_caller]
fn applied(document: &Value, patch: &Value, expected: &str, undone: &str) {
    let mut changed = document.clone();
    let inverse = parse(patch).apply(&mut changed).unwrap();
    assert_eq!(changed.to_string(), expected, "{patch}");
    inverse.apply(&mut changed).unwrap();
    assert_eq!(changed.to_string(), undone, "{patch}");
    assert_eq!(&changed, document, "{patch}");
}

#[test]
fn every_refusal_says_what_was_expected_and_what_was_found() {
    let document = json!({"a": {"b": [1, 2]}, "s": "text", "e": []});
    let cases = [
        (
            json!({"op": "remove", "path": "/x"}),
            "/0/path: cannot remove /x: expected a value at /x, found nothing [patch_failed]",
        ),
        (
            json!({"op": "add", "path": "/x/y/z", "value": 1}),
            "/0/path: cannot add /x/y/z: expected a value at /x, found nothing [patch_failed]",
        ),
        (
            json!({"op": "add", "path": "/s/y", "value": 1}),
            "/0/path: cannot add /s/y: expected an object or an array at /s, found a string [patch_failed]",
        ),
        (
            json!({"op": "replace", "path": "/a/b/2", "value": 1}),
            "/0/path: cannot replace /a/b/2: expected an index from 0 to 1 in the array at /a/b, found 2 [patch_failed]",
        ),
        (
            json!({"op": "replace", "path": "/a/b/01", "value": 1}),
            "/0/path: cannot replace /a/b/01: expected an index from 0 to 1 in the array at /a/b, found `01`, which is not an index [patch_failed]",
        ),
        (
            json!({"op": "add", "path": "/a/b/+1", "value": 1}),
            "/0/path: cannot add /a/b/+1: expected an index from 0 to 2 or `-` in the array at /a/b, found `+1`, which is not an index [patch_failed]",
        ),
        (
            json!({"op": "add", "path": "/a/b/3", "value": 1}),
            "/0/path: cannot add /a/b/3: expected an index from 0 to 2 or `-` in the array at /a/b, found 3 [patch_failed]",
        ),
        (
            json!({"op": "add", "path": "/a/b/18446744073709551616", "value": 1}),
            "/0/path: cannot add /a/b/18446744073709551616: expected an index from 0 to 2 or `-` in the array at /a/b, found `18446744073709551616`, which is not an index [patch_failed]",
        ),
        (
            json!({"op": "add", "path": "/a/b/-/c", "value": 1}),
            "/0/path: cannot add /a/b/-/c: expected an index from 0 to 1 in the array at /a/b, found `-`, which means the position after the last item [patch_failed]",
        ),
        (
            json!({"op": "remove", "path": "/a/b/-"}),
            "/0/path: cannot remove /a/b/-: expected an index from 0 to 1 in the array at /a/b, found `-`, which means the position after the last item [patch_failed]",
        ),
        (
            json!({"op": "test", "path": "/e/0", "value": 1}),
            "/0/path: cannot test /e/0: expected no index in the array at /e, found 0 [patch_failed]",
        ),
        (
            json!({"op": "copy", "from": "/x", "path": "/y"}),
            "/0/from: cannot copy /x: expected a value at /x, found nothing [patch_failed]",
        ),
        (
            json!({"op": "copy", "from": "/s", "path": "/x/y"}),
            "/0/path: cannot copy /x/y: expected a value at /x, found nothing [patch_failed]",
        ),
        (
            json!({"op": "move", "from": "/a/b/-", "path": "/y"}),
            "/0/from: cannot move /a/b/-: expected an index from 0 to 1 in the array at /a/b, found `-`, which means the position after the last item [patch_failed]",
        ),
        (
            json!({"op": "move", "from": "/a/b/0", "path": "/a/b/2"}),
            "/0/path: cannot move /a/b/2: expected an index from 0 to 1 or `-` in the array at /a/b, found 2 [patch_failed]",
        ),
        (
            json!({"op": "move", "from": "/a", "path": "/a/b/0"}),
            "/0/path: cannot move /a/b/0: expected a location outside the value that moves, found a location inside it [patch_failed]",
        ),
        (
            json!({"op": "move", "from": "", "path": "/a/b"}),
            "/0/path: cannot move /a/b: expected a location outside the value that moves, found a location inside it [patch_failed]",
        ),
        (
            json!({"op": "remove", "path": ""}),
            "/0/path: cannot remove the whole document: expected a location inside the document, which can be replaced but not removed, found the whole document [patch_failed]",
        ),
        (
            json!({"op": "test", "path": "/a", "value": {"b": [1, 3]}}),
            "/0/value: the test expects 3 at /a/b/1, the document has 2 [test_failed]",
        ),
        (
            json!({"op": "test", "path": "/s", "value": "other"}),
            "/0/value: the test expects \"other\" at /s, the document has \"text\" [test_failed]",
        ),
        (
            json!({"op": "test", "path": "", "value": {}}),
            "/0/value: the test expects nothing at /a, the document has {\"b\":[1,2]} [test_failed]",
        ),
        (
            json!({"op": "test", "path": "", "value": 1}),
            "/0/value: the test expects 1 at the whole document, the document has {\"a\":{\"b\":[1,2]},\"s\":\"text\",\"e\":[]} [test_failed]",
        ),
    ];
    for (op, line) in cases {
        refused(&document, &json!([op]), line);
    }
}

#[test]
fn the_text_of_an_error_has_no_values() {
    let mut document = json!({"key": "secret"});
    let patch = parse(&json!([{"op": "test", "path": "/key", "value": "guess"}]));
    let error = patch.apply(&mut document).unwrap_err();
    assert_eq!(error.to_string(), "operation 0: `test` at `/key` failed");
    assert_eq!(error.index(), 0);
    let PatchError::TestFailed { expected, found, .. } = error else { panic!() };
    assert_eq!((expected.as_str(), found.as_str()), ("\"guess\"", "\"secret\""));
}

#[test]
fn a_patch_that_stops_leaves_everything_as_it_was() {
    let document = json!({"z": 1, "m": {"y": [1, [2], {"k": 3}], "b": 2}, "a": {"c": 1, "b": 2}});
    let steps = [
        json!({"op": "remove", "path": "/z"}),
        json!({"op": "add", "path": "/m/y/0", "value": {"new": []}}),
        json!({"op": "add", "path": "/m/y/-", "value": 9}),
        json!({"op": "add", "path": "/a/c", "value": "over"}),
        json!({"op": "move", "from": "/m/y/1", "path": "/m/y/2/k"}),
        json!({"op": "move", "from": "/a/c", "path": "/m/b"}),
        json!({"op": "copy", "from": "", "path": "/copy"}),
        json!({"op": "move", "from": "/copy/m/y", "path": "/copy/m"}),
        json!({"op": "replace", "path": "/m", "value": null}),
        json!({"op": "move", "from": "/a/b", "path": "/a"}),
        json!({"op": "move", "from": "/copy", "path": ""}),
        json!({"op": "add", "path": "", "value": []}),
    ];
    for count in 1..=steps.len() {
        let mut patch = steps[..count].to_vec();
        patch.push(json!({"op": "test", "path": "", "value": "never"}));
        let mut changed = document.clone();
        let error = parse(&json!(patch)).apply(&mut changed).unwrap_err();
        assert_eq!(error.index(), count, "{error}");
        assert_eq!(changed.to_string(), document.to_string(), "{count}");
    }
}

#[test]
fn the_inverse_restores_values_always_and_order_where_it_can_be_said() {
    let document = json!({"a": 1, "b": [1, 2, 3], "c": {"d": {"e": 4}, "f": 5}});
    let same = document.to_string();
    let check =
        |patch: Value, expected: &str, undone: &str| applied(&document, &patch, expected, undone);
    check(json!([]), &same, &same);
    check(
        json!([{"op": "add", "path": "/n", "value": 0}]),
        r#"{"a":1,"b":[1,2,3],"c":{"d":{"e":4},"f":5},"n":0}"#,
        &same,
    );
    check(
        json!([{"op": "add", "path": "/a", "value": 0}]),
        r#"{"a":0,"b":[1,2,3],"c":{"d":{"e":4},"f":5}}"#,
        &same,
    );
    check(
        json!([{"op": "add", "path": "/b/1", "value": 0}]),
        r#"{"a":1,"b":[1,0,2,3],"c":{"d":{"e":4},"f":5}}"#,
        &same,
    );
    check(
        json!([{"op": "add", "path": "/b/-", "value": 0}]),
        r#"{"a":1,"b":[1,2,3,0],"c":{"d":{"e":4},"f":5}}"#,
        &same,
    );
    check(
        json!([{"op": "remove", "path": "/b/0"}]),
        r#"{"a":1,"b":[2,3],"c":{"d":{"e":4},"f":5}}"#,
        &same,
    );
    check(json!([{"op": "remove", "path": "/c"}]), r#"{"a":1,"b":[1,2,3]}"#, &same);
    check(
        json!([{"op": "move", "from": "/b/2", "path": "/b/0"}]),
        r#"{"a":1,"b":[3,1,2],"c":{"d":{"e":4},"f":5}}"#,
        &same,
    );
    check(
        json!([{"op": "move", "from": "/b/0", "path": "/b/-"}]),
        r#"{"a":1,"b":[2,3,1],"c":{"d":{"e":4},"f":5}}"#,
        &same,
    );
    check(json!([{"op": "move", "from": "/a", "path": "/a"}]), &same, &same);
    check(
        json!([{"op": "copy", "from": "/b", "path": "/c/f"}]),
        r#"{"a":1,"b":[1,2,3],"c":{"d":{"e":4},"f":[1,2,3]}}"#,
        &same,
    );
    check(json!([{"op": "copy", "from": "", "path": ""}]), &same, &same);
    check(json!([{"op": "add", "path": "", "value": 7}]), "7", &same);
    check(
        json!([{"op": "move", "from": "/c/d/e", "path": ""}]),
        "4",
        r#"{"a":1,"b":[1,2,3],"c":{"d":{"e":4},"f":5}}"#,
    );
    // A key that was not the last of its object comes back as the last.
    check(
        json!([{"op": "remove", "path": "/a"}]),
        r#"{"b":[1,2,3],"c":{"d":{"e":4},"f":5}}"#,
        r#"{"b":[1,2,3],"c":{"d":{"e":4},"f":5},"a":1}"#,
    );
    check(
        json!([{"op": "move", "from": "/c/d", "path": "/c"}]),
        r#"{"a":1,"b":[1,2,3],"c":{"e":4}}"#,
        r#"{"a":1,"b":[1,2,3],"c":{"f":5,"d":{"e":4}}}"#,
    );
    check(
        json!([{"op": "move", "from": "/c/f", "path": "/a"}]),
        r#"{"a":5,"b":[1,2,3],"c":{"d":{"e":4}}}"#,
        r#"{"b":[1,2,3],"c":{"d":{"e":4},"f":5},"a":1}"#,
    );
}

#[test]
fn the_way_back_knows_that_arrays_shift() {
    // The removal moves the array under the path; what was overwritten must come back at its old index.
    applied(
        &json!([1, {}, {"k": 2}]),
        &json!([{"op": "move", "from": "/0", "path": "/1/k"}]),
        r#"[{},{"k":1}]"#,
        r#"[1,{},{"k":2}]"#,
    );
    applied(
        &json!([{"k": 2}, 1]),
        &json!([{"op": "move", "from": "/1", "path": "/0/k"}]),
        r#"[{"k":1}]"#,
        r#"[{"k":2},1]"#,
    );
    applied(
        &json!([{"x": 1}]),
        &json!([{"op": "move", "from": "/0/x", "path": "/0"}]),
        "[1,{}]",
        r#"[{"x":1}]"#,
    );
    // Keys that look like indices do not shift.
    applied(
        &json!({"0": 1, "1": {"k": 2}}),
        &json!([{"op": "move", "from": "/0", "path": "/1/k"}]),
        r#"{"1":{"k":1}}"#,
        r#"{"1":{"k":2},"0":1}"#,
    );
}

#[test]
fn numbers_and_escapes_and_odd_keys() {
    let document = json!({"": {"": 1}, "a/b": 1, "m~n": 2, "~1": 3, "c%d": 4, "-": 5, "01": 6, " ": 7, "é": 8});
    let patch = json!([
        {"op": "test", "path": "/", "value": {"": 1.0}},
        {"op": "test", "path": "//", "value": 1e0},
        {"op": "test", "path": "/a~1b", "value": 1},
        {"op": "test", "path": "/m~0n", "value": 2},
        {"op": "test", "path": "/~01", "value": 3},
        {"op": "test", "path": "/c%d", "value": 4},
        {"op": "test", "path": "/-", "value": 5},
        {"op": "test", "path": "/01", "value": 6},
        {"op": "test", "path": "/ ", "value": 7},
        {"op": "test", "path": "/é", "value": 8},
    ]);
    applied(&document, &patch, &document.to_string(), &document.to_string());
}

#[test]
fn only_what_is_named_is_touched() {
    let rest: Vec<String> = (0..1000).map(|n| format!("{n}").repeat(30)).collect();
    let mut document = json!({"rest": rest, "a": {"b": "moved text"}});
    let addresses = |document: &Value| -> Vec<*const u8> {
        document["rest"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item.as_str().unwrap().as_ptr())
            .collect()
    };
    assert!(document.to_string().len() > 80_000);
    let before = (addresses(&document), document["a"]["b"].as_str().unwrap().as_ptr());
    let small = json!([
        {"op": "add", "path": "/a/c", "value": 1},
        {"op": "move", "from": "/a/b", "path": "/d"},
        {"op": "remove", "path": "/a"},
    ]);
    parse(&small).apply(&mut document).unwrap();
    assert_eq!(addresses(&document), before.0);
    assert_eq!(document["d"].as_str().unwrap().as_ptr(), before.1, "a move copies nothing");
    let text = document.to_string();
    let stops = json!([
        {"op": "move", "from": "/d", "path": "/e"},
        {"op": "remove", "path": "/nowhere"},
    ]);
    parse(&stops).apply(&mut document).unwrap_err();
    assert_eq!(addresses(&document), before.0);
    assert_eq!(document["d"].as_str().unwrap().as_ptr(), before.1);
    assert_eq!(document.to_string(), text);
}

#[test]
fn copies_cannot_multiply_without_end() {
    let doubling: Vec<Value> =
        (0..60).map(|n| json!({"op": "copy", "from": "", "path": format!("/c{n}")})).collect();
    let mut document = json!({"text": "x".repeat(100)});
    let before = document.clone();
    let error = parse(&json!(doubling)).apply(&mut document).unwrap_err();
    assert_eq!(document, before);
    assert!(
        error.to_string().contains(&format!("at most {MAX_PATCH_COPIED_BYTES} bytes")),
        "{error}"
    );
    // One large copy is fine up to the bound, and not beyond.
    for (length, fits) in [(MAX_PATCH_COPIED_BYTES - 1, true), (MAX_PATCH_COPIED_BYTES, false)] {
        let mut document = json!({"text": "x".repeat(length)});
        let patch = parse(&json!([{"op": "copy", "from": "/text", "path": "/again"}]));
        assert_eq!(patch.apply(&mut document).is_ok(), fits);
    }
}

#[test]
fn a_document_stays_readable() {
    let deep = |levels: usize| (0..levels).fold(json!(0), |inside, _| json!([inside]));
    for (levels, fits) in [(99, true), (100, false)] {
        for verb in ["add", "replace"] {
            let patch = json!([{"op": verb, "path": "/a", "value": deep(levels)}]);
            let mut document = json!({"a": 1});
            assert_eq!(parse(&patch).apply(&mut document).is_ok(), fits, "{verb} {levels}");
        }
        let mut document = json!({"a": deep(levels - 1), "b": {}});
        for verb in ["move", "copy"] {
            let patch = json!([{"op": verb, "from": "/a", "path": "/b/c"}]);
            assert_eq!(parse(&patch).apply(&mut document.clone()).is_ok(), fits, "{verb} {levels}");
        }
        let patch = json!([{"op": "move", "from": "/a", "path": "/c"}]);
        parse(&patch).apply(&mut document).unwrap();
    }
}

#[test]
fn operations_can_be_made_by_hand_and_kept_as_text() {
    let patch = Patch::from_ops(vec![
        PatchOperation::Add { path: JsonPointer::root().child("a/b"), value: json!(1) },
        PatchOperation::Move {
            from: "/a~1b".parse().unwrap(),
            path: JsonPointer::parse("/c").unwrap(),
        },
    ]);
    let text = serde_json::to_string(&patch).unwrap();
    assert_eq!(
        text,
        r#"[{"op":"add","path":"/a~1b","value":1},{"op":"move","from":"/a~1b","path":"/c"}]"#
    );
    assert_eq!(serde_json::from_str::<Patch>(&text).unwrap(), patch);
    let mut document = json!({});
    patch.apply(&mut document).unwrap();
    assert_eq!(document, json!({"c": 1}));
}

#[test]
fn a_patch_has_a_bounded_number_of_operations() {
    let patch = |count: usize| json!(vec![json!({"op": "test", "path": "", "value": 0}); count]);
    assert_eq!(parse(&patch(MAX_PATCH_OPS)).ops.len(), MAX_PATCH_OPS);
    let violations = Patch::parse(&patch(MAX_PATCH_OPS + 1)).unwrap_err();
    assert_eq!(violations[0].code, ViolationCode::InvalidPatch);
    assert_eq!(
        violations[0].message,
        format!(
            "the reply: expected at most {MAX_PATCH_OPS} operations, found {}",
            MAX_PATCH_OPS + 1
        )
    );
}
