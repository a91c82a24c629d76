//! What holds for every patch, friendly or hostile.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::collections::BTreeMap;

use countersign_contract::json::{child_pointer, to_canonical_json};
use countersign_contract::patch::{Authority, JsonPointer, Patch, PatchOperation};
use countersign_contract::reply::Violation;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value};

/// Few names, so that places meet; among them what looks like an index or needs an escape.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "a/b", "m~n", "~1", "", "0", "1", "-"])
        .prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..3).prop_map(Value::from),
        Just(Value::from(1.0)),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn document() -> impl Strategy<Value = Value> {
    prop::collection::vec((name(), value()), 1..6)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// Every place of a document with what stands there.
fn pointers_in(document: &Value) -> BTreeMap<String, &Value> {
    fn walk<'v>(pointer: String, value: &'v Value, into: &mut BTreeMap<String, &'v Value>) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    walk(format!("{pointer}/{index}"), item, into);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    walk(child_pointer(&pointer, name), member, into);
                }
            }
            _ => {}
        }
        into.insert(pointer, value);
    }
    let mut into = BTreeMap::new();
    walk(String::new(), document, &mut into);
    into
}

/// An operation before it knows its document.
#[derive(Debug, Clone)]
struct Draft {
    /// Left out where it cannot be applied; a hostile one stays in.
    friendly: bool,
    verb: usize,
    path: (Index, &'static str),
    from: (Index, &'static str),
    value: Value,
}

fn draft() -> impl Strategy<Value = Draft> {
    let tail = || {
        prop::sample::select(vec![
            "", "", "", "", "/-", "/0", "/1", "/new", "/a", "/~01", "/00", "/+1", "/-1", "/99",
        ])
    };
    let any_pointer = || (any::<Index>(), tail());
    (prop::bool::weighted(0.9), 0..6_usize, any_pointer(), any_pointer(), value())
        .prop_map(|(friendly, verb, path, from, value)| Draft { friendly, verb, path, from, value })
}

/// Turns drafts into operations; each sees the document as those before it left it, as far as they
/// could be applied.
fn patch(document: &Value, drafts: &[Draft]) -> Patch {
    let mut document = document.clone();
    let mut ops = Vec::new();
    for draft in drafts {
        let pointers: Vec<String> = pointers_in(&document).into_keys().collect();
        let pointer = |(index, tail): (Index, &str)| {
            JsonPointer::parse(format!("{}{tail}", index.get(&pointers))).unwrap()
        };
        let (path, from, value) = (pointer(draft.path), pointer(draft.from), draft.value.clone());
        let op = match draft.verb {
            0 => PatchOperation::Add { path, value },
            1 => PatchOperation::Remove { path },
            2 => PatchOperation::Replace { path, value },
            3 => PatchOperation::Move { from, path },
            4 => PatchOperation::Copy { from, path },
            // A test that has a chance.
            _ => match document.pointer(path.as_str()) {
                Some(found) => PatchOperation::Test { value: found.clone(), path },
                None => PatchOperation::Test { path, value },
            },
        };
        let applied = Patch::from_ops(vec![op.clone()]).apply(&mut document).is_ok();
        if applied || !draft.friendly {
            ops.push(op);
        }
    }
    Patch::from_ops(ops)
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    prop::collection::vec(draft(), 1..8)
}

/// Places before they know their document.
fn chosen(most: usize) -> impl Strategy<Value = Vec<(Index, &'static str)>> {
    let tail = prop::sample::select(vec!["", "", "", "", "/0", "/2", "/a", "/new"]);
    prop::collection::vec((any::<Index>(), tail), 0..=most)
}

/// An authority over places of the document and of the patch, and some that are not there.
fn authority(
    document: &Value,
    patch: &Patch,
    writes: &[(Index, &str)],
    protected: &[(Index, &str)],
) -> Authority {
    let mut pointers: Vec<String> = pointers_in(document).into_keys().collect();
    let free = pointers.len();
    for op in &patch.ops {
        pointers.push(op.path().to_string());
        if let PatchOperation::Move { from, .. } = op {
            pointers.push(from.to_string());
        }
    }
    let texts = |pool: &[String], chosen: &[(Index, &str)]| -> Vec<String> {
        chosen.iter().map(|(index, tail)| format!("{}{tail}", index.get(pool))).collect()
    };
    // What the patch wants is mostly what it gets: a refusal puts no law to the test.
    let wanted = if pointers.len() > free { &pointers[free..] } else { &pointers };
    let mut writes = [texts(&pointers, writes), texts(wanted, writes)].concat();
    writes.retain(|pointer| !pointer.is_empty());
    Authority::parse(&writes, &texts(&pointers, protected)).unwrap()
}

fn covers(outer: &str, pointer: &str) -> bool {
    pointer.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Everything that lies outside the given places. Of an object or array around one of them only
/// that it is one: its members are told on their own.
fn outside(document: &Value, writes: &[JsonPointer]) -> BTreeMap<String, Value> {
    pointers_in(document)
        .into_iter()
        .filter(|(pointer, _)| !writes.iter().any(|allowed| covers(allowed.as_str(), pointer)))
        .map(|(pointer, value)| {
            let text = match value {
                Value::Array(_) => Value::from("an array"),
                Value::Object(_) => Value::from("an object"),
                other => other.clone(),
            };
            (pointer, text)
        })
        .collect()
}

/// The pseudo code of RFC 7396, section 2.
fn merged(target: Option<&Value>, merge: &Value) -> Value {
    let Value::Object(members) = merge else { return merge.clone() };
    let mut result = target.and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
    for (name, value) in members {
        if value.is_null() {
            result.shift_remove(name);
        } else {
            let inside = merged(result.get(name), value);
            result.insert(name.clone(), inside);
        }
    }
    Value::Object(result)
}

/// Every place that a merge patch names: its leaves, and its empty objects.
fn named(pointer: &str, merge: &Value, into: &mut Vec<String>) {
    match merge {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                named(&child_pointer(pointer, name), value, into);
            }
        }
        _ if pointer.is_empty() && merge.is_object() => {}
        _ => into.push(pointer.to_owned()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_patch_between_two_values_makes_the_second(before in value(), after in value()) {
        let patch = Patch::diff(&before, &after);
        let mut changed = before.clone();
        let inverse = patch.apply(&mut changed).unwrap();
        prop_assert_eq!(&changed, &after);
        prop_assert_eq!(patch.ops.is_empty(), before == after);
        inverse.apply(&mut changed).unwrap();
        prop_assert_eq!(changed, before);
    }

    #[test]
    fn a_patch_applies_whole_and_back_or_not_at_all(document in document(), drafts in drafts()) {
        let patch = patch(&document, &drafts);
        let mut changed = document.clone();
        match patch.apply(&mut changed) {
            Err(error) => {
                prop_assert_eq!(to_canonical_json(&changed), to_canonical_json(&document));
                prop_assert_eq!(changed.to_string(), document.to_string());
                let pointer = Violation::from(error.clone()).pointer;
                let start = format!("/{}/", error.index());
                prop_assert!(pointer.starts_with(&start), "{}", pointer);
            }
            Ok(inverse) => {
                let after = changed.clone();
                let again = inverse.apply(&mut changed).unwrap();
                prop_assert_eq!(&changed, &document, "{:?} {:?}", patch, inverse);
                prop_assert_eq!(to_canonical_json(&changed), to_canonical_json(&document));
                // The inverse of the inverse is the patch, as far as values go.
                again.apply(&mut changed).unwrap();
                prop_assert_eq!(to_canonical_json(&changed), to_canonical_json(&after));
            }
        }
    }

    #[test]
    fn a_patch_is_the_same_after_it_was_kept(document in document(), drafts in drafts()) {
        let patch = patch(&document, &drafts);
        let text = serde_json::to_string(&patch).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Patch>(&text).unwrap(), &patch);
        prop_assert_eq!(&Patch::parse(&value).unwrap(), &patch);
    }

    #[test]
    fn what_is_authorised_stays_inside(
        document in document(),
        drafts in drafts(),
        writes in chosen(5),
        protected in chosen(2),
    ) {
        let patch = patch(&document, &drafts);
        let authority = authority(&document, &patch, &writes, &protected);
        stays_inside(&document, &patch, &authority)?;
    }

    #[test]
    fn a_merge_patch_does_what_the_rfc_says(target in value(), merge in value()) {
        let mut changed = target.clone();
        let inverse = Patch::from_merge_patch(&target, &merge).apply(&mut changed).unwrap();
        let expected = merged(Some(&target), &merge);
        prop_assert_eq!(&changed, &expected);
        prop_assert_eq!(changed.to_string(), expected.to_string());
        inverse.apply(&mut changed).unwrap();
        prop_assert_eq!(&changed, &target);
    }

    #[test]
    fn a_merge_patch_is_held_to_what_it_names(
        document in document(),
        merge in value(),
        writes in chosen(5),
        protected in chosen(2),
    ) {
        let patch = Patch::from_merge_patch(&document, &merge);
        let authority = authority(&document, &patch, &writes, &protected);
        stays_inside(&document, &patch, &authority)?;
        if authority.check(&patch, &document).is_empty() {
            let mut names = Vec::new();
            named("", &merge, &mut names);
            for name in names {
                let at = |pointers: &[JsonPointer]| pointers.iter().any(|pointer| covers(pointer.as_str(), &name));
                prop_assert!(at(authority.writable()), "{name}");
                prop_assert!(!at(authority.protected_pointers()), "{name}");
            }
        }
    }
}

fn stays_inside(
    document: &Value,
    patch: &Patch,
    authority: &Authority,
) -> Result<(), TestCaseError> {
    if !authority.check(patch, document).is_empty() {
        return Ok(());
    }
    let mut changed = document.clone();
    let Ok(inverse) = patch.apply(&mut changed) else { return Ok(()) };
    for protected in authority.protected_pointers() {
        let at = |document: &Value| document.pointer(protected.as_str()).map(Value::to_string);
        prop_assert_eq!(at(document), at(&changed), "{} {:?}", protected, patch);
    }
    prop_assert_eq!(
        outside(document, authority.writable()),
        outside(&changed, authority.writable()),
        "{:?} {:?}",
        authority,
        patch
    );
    // What was allowed may be taken back: the inverse stays inside as well.
    let mut back = changed.clone();
    inverse.apply(&mut back).unwrap();
    prop_assert_eq!(outside(&back, authority.writable()), outside(document, authority.writable()));
    Ok(())
}

/// The laws say nothing unless patches of every kind come up.
#[test]
fn the_laws_are_put_to_patches_of_every_kind() {
    let mut runner = TestRunner::deterministic();
    let strategy = (document(), drafts(), chosen(5), chosen(2));
    let (mut applied, mut refused, mut effective, mut barred) = (0, 0, 0, 0);
    let mut verbs: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..2000 {
        let (document, drafts, writes, protected) =
            strategy.new_tree(&mut runner).unwrap().current();
        let patch = patch(&document, &drafts);
        let mut changed = document.clone();
        let allowed =
            authority(&document, &patch, &writes, &protected).check(&patch, &document).is_empty();
        if patch.apply(&mut changed).is_err() {
            refused += 1;
            continue;
        }
        applied += 1;
        patch.ops.iter().for_each(|op| *verbs.entry(op.verb()).or_default() += 1);
        if allowed && changed != document {
            effective += 1;
        }
        barred += usize::from(!allowed);
    }
    let seen = format!(
        "{applied} applied, {refused} refused, {effective} allowed, {barred} barred, {verbs:?}"
    );
    assert!(applied >= 300 && refused >= 300 && effective >= 30 && barred >= 100, "{seen}");
    assert!(
        PatchOperation::VERBS.iter().all(|verb| verbs.get(verb).is_some_and(|count| *count >= 40)),
        "{seen}"
    );
}
