//! Who may write where: every verb, every way round.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use countersign_contract::patch::{Authority, JsonPointerError, Patch};
use countersign_contract::reply::ViolationCode;
use serde_json::{Value, json};

fn document() -> Value {
    json!({
        "domain": {
            "a": {"b": 1}, "a/b": 1, "m~n": 2, "~1": 3, "/": 4, "spare": 5,
            "list": [{"x": 1}, {"x": 2}, {"x": 3}],
            "locked": {"v": 1},
        },
        "control": {"limits": {"max": 3}},
        "items": [10, 11, 12, 13],
    })
}

fn authority(writes: &[&str], protected: &[&str]) -> Authority {
    Authority::parse(writes, protected).unwrap()
}

/// A phase that may write the domain, but for a few places in it.
fn phase() -> Authority {
    let protected =
        ["/domain/locked/v", "/domain/list/1/x", "/domain/a~1b", "/domain/~01", "/control"];
    authority(&["/domain"], &protected)
}

/// The pointers of the violations.
fn refusals(authority: &Authority, ops: &Value) -> Vec<String> {
    let violations = authority.check(&Patch::parse(ops).unwrap(), &document());
    assert!(violations.iter().all(|violation| violation.code == ViolationCode::NotAuthorized));
    violations.into_iter().map(|violation| violation.pointer).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum May {
    Not,
    /// Replace what stands there, no more.
    Set,
    /// Replace or take away.
    SetAndTake,
    All,
}

/// Tries every verb on a place, as `path` and as `from`.
#[track_caller]
fn verbs(authority: &Authority, path: &str, may: May) {
    let set = matches!(may, May::Set | May::SetAndTake | May::All);
    let put = may == May::All;
    let take = matches!(may, May::SetAndTake | May::All);
    // What stands where nothing may be written is not to be looked at either.
    let mut own = authority.writable().iter().map(|own| own.as_str());
    let look = own.any(|own| path == own || path.starts_with(&format!("{own}/")));
    let spare = "/domain/spare";
    let cases = [
        (json!({"op": "replace", "path": path, "value": 0}), set, "/0/path"),
        (json!({"op": "add", "path": path, "value": 0}), put, "/0/path"),
        (json!({"op": "copy", "from": spare, "path": path}), put, "/0/path"),
        (json!({"op": "move", "from": spare, "path": path}), put, "/0/path"),
        (json!({"op": "remove", "path": path}), take, "/0/path"),
        (json!({"op": "move", "from": path, "path": spare}), take, "/0/from"),
        (json!({"op": "move", "from": path, "path": path}), set, "/0/path"),
        (json!({"op": "copy", "from": path, "path": spare}), look, "/0/from"),
        (json!({"op": "test", "path": path, "value": 0}), look, "/0/path"),
    ];
    for (op, allowed, pointer) in cases {
        let refused = refusals(authority, &json!([op]));
        // The other place of a `move` or `copy` may be refused as well; it is not in question here.
        assert_eq!(!refused.iter().any(|refused| refused == pointer), allowed, "{op}");
    }
}

#[test]
fn every_verb_on_every_kind_of_place() {
    for (pointer, may) in [
        // Around: the root, parents of what is protected, parents of what may be written.
        ("", May::Not),
        ("/domain", May::Not),
        ("/domain/locked", May::Not),
        ("/domain/list", May::Not),
        // The place itself, below it, beside it.
        ("/domain/locked/v", May::Not),
        ("/domain/locked/v/deep/er", May::Not),
        ("/domain/locked/w", May::All),
        ("/domain/locked/vv", May::All),
        ("/domain/locked/", May::All),
        ("/domain/a", May::All),
        ("/domain/a/b", May::All),
        ("/domain/new", May::All),
        // Outside.
        ("/control", May::Not),
        ("/control/limits/max", May::Not),
        ("/domainx", May::Not),
        ("/", May::Not),
        ("/new", May::Not),
        // Items before, at and after a protected place.
        ("/domain/list/0", May::Set),
        ("/domain/list/0/x", May::All),
        ("/domain/list/1", May::Not),
        ("/domain/list/1/x", May::Not),
        ("/domain/list/1/y", May::All),
        ("/domain/list/2", May::All),
        ("/domain/list/2/x", May::All),
        ("/domain/list/3", May::All),
        ("/domain/list/-", May::All),
        // Escapes: `a/b` is not `a` and `b`, `~1` is not `/`.
        ("/domain/a~1b", May::Not),
        ("/domain/a~1b/c", May::Not),
        ("/domain/m~0n", May::All),
        ("/domain/~01", May::Not),
        ("/domain/~1", May::All),
    ] {
        verbs(&phase(), pointer, may);
    }
}

#[test]
fn single_items_may_be_written_without_their_array() {
    let two = authority(&["/items/2", "/items/3"], &[]);
    for (pointer, may) in [
        ("/items", May::Not),
        ("/items/1", May::Not),
        ("/items/2", May::SetAndTake),
        ("/items/3", May::SetAndTake),
        ("/items/2/deep", May::All),
        ("/items/-", May::Not),
        ("/items/4", May::Not),
        ("", May::Not),
    ] {
        verbs(&two, pointer, may);
    }
    let last = authority(&["/items/4"], &[]);
    assert_eq!(refusals(&last, &json!([{"op": "add", "path": "/items/4", "value": 0}])), [""; 0]);
    assert_eq!(refusals(&last, &json!([{"op": "add", "path": "/items/-", "value": 0}])), [""; 0]);
    // A protected index that is not there yet is protected all the same.
    let later = authority(&["/items"], &["/items/5"]);
    assert_eq!(
        refusals(&later, &json!([{"op": "add", "path": "/items/-", "value": 0}])),
        ["/0/path"]
    );
    verbs(&later, "/items/0", May::Set);
    verbs(&later, "/items/6", May::All);
}

#[test]
fn everything_and_nothing() {
    for pointer in ["", "/domain", "/control/limits", "/items/0", "/items/-", "/new"] {
        verbs(&authority(&[""], &[]), pointer, May::All);
        verbs(&authority(&[], &[]), pointer, May::Not);
        verbs(&authority(&[""], &[""]), pointer, May::Not);
    }
    verbs(&authority(&[""], &["/control/limits"]), "", May::Not);
    verbs(&authority(&[""], &["/control/limits"]), "/control", May::Not);
    verbs(&authority(&[""], &["/control/limits"]), "/control/other", May::All);
}

#[test]
fn merge_patches_are_held_to_the_same() {
    let document = document();
    let cases = [
        (json!({}), true),
        (json!({"domain": {"a": {"b": 2}}}), true),
        (json!({"domain": {"a": null, "new": {"x": {"y": null}}}}), true),
        (json!({"domain": {"a": {"nothing": null}}}), true),
        (json!({"domain": {"a": {}}}), true),
        (json!({"domain": {"locked": {"w": 1}}}), true),
        // The place itself: another value, the same value, none, inside.
        (json!({"domain": {"locked": {"v": 2}}}), false),
        (json!({"domain": {"locked": {"v": 1}}}), false),
        (json!({"domain": {"locked": {"v": null}}}), false),
        (json!({"domain": {"locked": {"v": {}}}}), false),
        (json!({"domain": {"locked": {"v": {"x": null}}}}), false),
        // Parents.
        (json!({"domain": {"locked": {}}}), false),
        (json!({"domain": {"locked": null}}), false),
        (json!({"domain": {"locked": "gone"}}), false),
        (json!({"domain": null}), false),
        (json!({"domain": {}}), false),
        (json!({"domain": {"list": []}}), false),
        (json!({"domain": {"list": {"2": 1}}}), false),
        (json!(null), false),
        (json!([]), false),
        (json!("text"), false),
        // Outside, even where nothing would change.
        (json!({"control": {}}), false),
        (json!({"control": {"limits": {"max": 3}}}), false),
        (json!({"control": {"not there": null}}), false),
        (json!({"not there": null}), false),
        (json!({"new": {"a": 1}}), false),
        // Escapes.
        (json!({"domain": {"a/b": 1}}), false),
        (json!({"domain": {"~1": 3}}), false),
        (json!({"domain": {"/": 3, "m~n": 3}}), true),
    ];
    for (merge, allowed) in cases {
        let violations = phase().check(&Patch::from_merge_patch(&document, &merge), &document);
        assert_eq!(violations.is_empty(), allowed, "{merge} {violations:?}");
    }
}

#[test]
fn a_sequence_cannot_smuggle() {
    let check = |authority: &Authority, ops: Value, expected: &[&str]| {
        assert_eq!(refusals(authority, &ops), expected, "{ops}");
    };
    // Out, changed, and in again.
    check(
        &phase(),
        json!([
            {"op": "copy", "from": "/control/limits", "path": "/domain/limits"},
            {"op": "replace", "path": "/domain/limits/max", "value": 99},
            {"op": "move", "from": "/domain/limits", "path": "/control/limits"},
        ]),
        &["/0/from", "/2/path"],
    );
    check(
        &phase(),
        json!([
            {"op": "copy", "from": "", "path": "/domain/all"},
            {"op": "replace", "path": "/domain/all/control", "value": {}},
            {"op": "move", "from": "/domain/all", "path": ""},
        ]),
        &["/0/from", "/2/path"],
    );
    // Away, so that the place may be made anew.
    check(
        &phase(),
        json!([
            {"op": "move", "from": "/domain/locked", "path": "/domain/away"},
            {"op": "add", "path": "/domain/locked", "value": {"v": 2}},
        ]),
        &["/0/from", "/1/path"],
    );
    // An item before a protected one goes out, and another comes in.
    check(
        &phase(),
        json!([
            {"op": "move", "from": "/domain/list/0", "path": "/domain/item"},
            {"op": "move", "from": "/domain/item", "path": "/domain/list/0"},
            {"op": "move", "from": "/domain/list/2", "path": "/domain/list/0"},
        ]),
        &["/0/from", "/1/path", "/2/path"],
    );
    // One item may be added at the end; a second one would stand elsewhere.
    check(
        &authority(&["/items/4"], &[]),
        json!([
            {"op": "add", "path": "/items/-", "value": 1},
            {"op": "add", "path": "/items/-", "value": 2},
            {"op": "add", "path": "/items/4", "value": 3},
        ]),
        &["/1/path", "/2/path"],
    );
    // Taken and put again: the length is followed.
    check(
        &authority(&["/items/3"], &[]),
        json!([
            {"op": "remove", "path": "/items/3"},
            {"op": "add", "path": "/items/3", "value": 1},
            {"op": "add", "path": "/items/3", "value": 2},
        ]),
        &["/2/path"],
    );
    // What the patch itself brings is its own.
    check(
        &authority(&["/domain/new"], &[]),
        json!([
            {"op": "add", "path": "/domain/new", "value": [1, 2]},
            {"op": "add", "path": "/domain/new/0", "value": 0},
            {"op": "remove", "path": "/domain/new/1"},
            {"op": "move", "from": "/domain/new/0", "path": "/domain/new/-"},
        ]),
        &[],
    );
}

#[test]
fn a_refusal_tells_where_to_and_why() {
    let message = |authority: &Authority, op: Value| {
        let violations = authority.check(&Patch::parse(&json!([op])).unwrap(), &document());
        let [violation] = violations.as_slice() else { panic!("{violations:?}") };
        format!("{violation} {}", violation.hint.as_deref().unwrap_or("-"))
    };
    assert_eq!(
        message(&authority(&["/domain"], &[]), json!({"op": "remove", "path": "/control/limits"})),
        "/0/path: expected a location under /domain, found /control/limits [not_authorized] -"
    );
    assert_eq!(
        message(&authority(&["/a", "/b"], &[]), json!({"op": "add", "path": "", "value": 1})),
        "/0/path: expected a location under /a or /b, found the whole document [not_authorized] -"
    );
    assert_eq!(
        message(&authority(&[], &[]), json!({"op": "add", "path": "/a", "value": 1})),
        "/0/path: expected no change, found /a [not_authorized] -"
    );
    assert_eq!(
        message(&authority(&["/items/2"], &[]), json!({"op": "remove", "path": "/items/2"})),
        "/0/path: expected a location under /items/2, found /items/2 [not_authorized] this would also change /items/3"
    );
    assert_eq!(
        message(&phase(), json!({"op": "replace", "path": "/domain", "value": {}})),
        "/0/path: expected a location that does not affect /domain/locked/v, found /domain [not_authorized] /domain/locked/v lies inside; write the locations next to it one by one"
    );
    assert_eq!(
        message(&phase(), json!({"op": "remove", "path": "/domain/list/0"})),
        "/0/path: expected a location that does not affect /domain/list/1/x, found /domain/list/0 [not_authorized] adding or removing an item shifts the index of the items after it, including /domain/list/1/x"
    );
}

#[test]
fn the_example_of_the_page_is_true() {
    let authority = authority(&["/domain"], &["/domain/locked"]);
    let ops = json!([
        {"op": "replace", "path": "/control/limits/max_loops", "value": 99},
        {"op": "move", "from": "/control/limits", "path": "/domain/limits"},
        {"op": "replace", "path": "/domain", "value": {}},
    ]);
    let violations = authority.check(&Patch::parse(&ops).unwrap(), &document());
    let messages: Vec<&str> =
        violations.iter().map(|violation| violation.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "/0/path: expected a location under /domain, found /control/limits/max_loops",
            "/1/from: expected a location under /domain, found /control/limits",
            "/2/path: expected a location that does not affect /domain/locked, found /domain",
        ]
    );
    assert_eq!(
        violations[2].hint.as_deref(),
        Some("/domain/locked lies inside; write the locations next to it one by one")
    );
}

#[test]
fn what_is_no_pointer_gives_no_authority() {
    assert_eq!(Authority::parse(&["domain"], &[""; 0]), Err(JsonPointerError::NoSlash));
    assert_eq!(Authority::parse(&["/a"], &["/meta~"]), Err(JsonPointerError::BareTilde));
}
