//! The public cases of RFC 6902 (json-patch-tests) and the appendix of RFC 7396.

#![expect(clippy::disallowed_methods, reason = "tests read their data from files")]
#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;

use countersign_contract::json::to_canonical_json;
use countersign_contract::patch::Patch;
use serde_json::{Value, json};

/// One file of cases: those that count, and the comments of those that their authors disabled.
fn cases(file: &str, test: &str) -> Option<(Vec<Value>, Vec<String>)> {
    let Some(folder) = testkit::find_data("json-patch") else {
        testkit::report_not_run(test, "no folder json-patch in the test data");
        return None;
    };
    let content = fs::read_to_string(folder.join(file)).unwrap();
    let all: Vec<Value> = serde_json::from_str(&content).unwrap();
    let (off, on): (Vec<Value>, Vec<Value>) =
        all.into_iter().partition(|case| case.get("disabled").is_some());
    let names = off.iter().map(|case| case["comment"].as_str().unwrap().to_owned()).collect();
    Some((on, names))
}

/// Reads and applies; the text of whatever said no.
fn patched(document: &mut Value, patch: &Value) -> Result<Patch, String> {
    let patch = Patch::parse(patch).map_err(|violations| format!("{violations:?}"))?;
    patch.apply(document).map_err(|error| error.to_string())
}

fn hold(cases: &[Value]) {
    for case in cases {
        let before = &case["doc"];
        let mut document = before.clone();
        let result = patched(&mut document, &case["patch"]);
        if case.get("error").is_some() {
            assert!(result.is_err(), "{case}");
            assert_eq!(document.to_string(), before.to_string(), "{case}");
            continue;
        }
        let inverse = result.unwrap_or_else(|said| panic!("{case}: {said}"));
        // A case without an expectation says that its tests hold, and changes nothing.
        let expected = case.get("expected").unwrap_or(before);
        assert_eq!(&document, expected, "{case}");
        inverse.apply(&mut document).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(&document, before, "{case}");
    }
}

#[test]
fn the_cases_of_the_rfc_hold() {
    let Some((cases, disabled)) =
        cases("spec_tests.json", "patch_suite::the_cases_of_the_rfc_hold")
    else {
        return;
    };
    assert_eq!(cases.len(), 16);
    // Its text cannot be a value: the operation has `op` twice. The next test but one has it.
    assert_eq!(disabled, ["A.13 Invalid JSON Patch Document"]);
    hold(&cases);
}

#[test]
fn the_cases_of_the_community_hold() {
    let Some((cases, disabled)) =
        cases("tests.json", "patch_suite::the_cases_of_the_community_hold")
    else {
        return;
    };
    assert_eq!(cases.len(), 92);
    assert_eq!(disabled, ["Toplevel scalar values OK?", "Whole document", "duplicate ops"]);
    hold(&cases);
}

#[test]
fn what_the_suite_disables_is_settled_here() {
    hold(&[
        json!({"doc": "foo", "patch": [{"op": "replace", "path": "", "value": "bar"}], "expected": "bar"}),
        json!({"doc": {"foo": 1}, "patch": [{"op": "test", "path": "", "value": {"foo": 1}}]}),
    ]);
    let twice = r#"[{"op": "add", "path": "/baz", "value": "qux", "op": "remove"}]"#;
    assert!(serde_json::from_str::<Patch>(twice).is_err());
}

#[test]
fn the_appendix_of_rfc_7396_holds() {
    let cases = [
        (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
        (json!({"a": "b"}), json!({"a": null}), json!({})),
        (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
        (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
        (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
        (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
        (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
        (json!({"a": "b"}), json!(["c"]), json!(["c"])),
        (json!({"a": "foo"}), json!(null), json!(null)),
        (json!({"a": "foo"}), json!("bar"), json!("bar")),
        (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
        (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
        (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        // Beyond the appendix: names that need escapes, nulls in arrays, nothing at all.
        (
            json!({"a/b": {"m~n": 1, "": 2}}),
            json!({"a/b": {"m~n": null, "": 3}}),
            json!({"a/b": {"": 3}}),
        ),
        (json!({"a": 1}), json!({"a": [null, {"b": null}]}), json!({"a": [null, {"b": null}]})),
        (json!({"a": 1}), json!({}), json!({"a": 1})),
        (json!({"a": {"b": 1}}), json!({"a": {}}), json!({"a": {"b": 1}})),
        (json!(1), json!({}), json!({})),
        (json!({"0": {"-": 1}}), json!({"0": {"-": 2, "1": 3}}), json!({"0": {"-": 2, "1": 3}})),
    ];
    for (target, merge, expected) in cases {
        let mut document = target.clone();
        let inverse = Patch::from_merge_patch(&target, &merge).apply(&mut document).unwrap();
        assert_eq!(document, expected, "{target} {merge}");
        inverse.apply(&mut document).unwrap();
        assert_eq!(to_canonical_json(&document), to_canonical_json(&target), "{target} {merge}");
    }
}
