//! Patches and merges: read, compared with an authority, applied, and undone.

use countersign_contract::limits::MAX_VIOLATIONS;
use countersign_contract::patch::{Authority, Patch, PatchOperation};
use countersign_contract::reply::count_violations;
use serde_json::{Map, Value, json};

use super::{budgeted_door, door};

/// An input of a size, ready to be worked on.
type Run = Box<dyn Fn()>;

/// A name, the size to begin with, and the input of a size.
type Family = (&'static str, usize, fn(usize) -> Run);

fn object(count: usize, value: &Value) -> Value {
    let members: Map<String, Value> =
        (0..count).map(|number| (format!("key_{number:06}"), value.clone())).collect();
    Value::Object(members)
}

fn pointers(count: usize, below: &str) -> Vec<String> {
    (0..count).map(|number| format!("/{below}/key_{number:06}")).collect()
}

fn apply(patch: &Patch, document: &Value) {
    let authority = Authority::parse(&["/open"], &["/engine".to_owned()]).unwrap();
    let _ = authority.check(patch, document);
    let mut changed = document.clone();
    if let Ok(undo) = patch.apply(&mut changed) {
        undo.apply(&mut changed).unwrap();
        assert_eq!(&changed, document);
    }
}

#[test]
fn merges() {
    let mut door = door("merge");
    door.measure_family(
        "nulls that remove every member",
        4_000,
        |size| {
            (json!({"open": object(size, &json!(1))}), json!({"open": object(size, &Value::Null)}))
        },
        |(document, merge)| apply(&Patch::from_merge_patch(document, merge), document),
    )
    .measure_family(
        "nulls that remove nothing",
        4_000,
        |size| (json!({"open": {}}), json!({"open": object(size, &Value::Null)})),
        |(document, merge)| apply(&Patch::from_merge_patch(document, merge), document),
    )
    .measure_family(
        "members that are new",
        4_000,
        |size| (json!({"open": {}}), json!({"open": object(size, &json!({"deep": [1]}))})),
        |(document, merge)| apply(&Patch::from_merge_patch(document, merge), document),
    )
    .measure_family(
        "the difference of two documents",
        4_000,
        |size| (json!({"open": object(size, &json!(1))}), json!({"open": object(size, &json!(2))})),
        |(before, after)| apply(&Patch::diff(before, after), before),
    )
    .measure_family(
        "the difference of two lists",
        4_000,
        |size| {
            let list =
                |step: usize| (0..size).map(|number| json!(number * step)).collect::<Value>();
            (json!({"open": list(1)}), json!({"open": list(3)}))
        },
        |(before, after)| apply(&Patch::diff(before, after), before),
    );
    door.assert_linear();
}

#[test]
fn operations() {
    let mut door = door("patch");
    let run = |(ops, document): &(Value, Value)| match Patch::parse(ops) {
        Ok(patch) => apply(&patch, document),
        Err(violations) => assert!(violations.len() <= 101, "{} violations", violations.len()),
    };
    door.measure_family("more operations than a patch may have", 4_000, |size| {
        (vec![json!({"op": "remove", "path": "/open/x"}); size].into(), json!({"open": {}}))
    }, run)
    .measure_family("operations that are none", 125, |size| {
        (vec![json!({"path": 5, "value": "x"}); size].into(), json!({}))
    }, run)
    .measure_family("writes beside the authority", 125, |size| {
        let op = |number: usize| json!({"op": "add", "path": format!("/closed/{number}"), "value": 1});
        ((0..size).map(op).collect(), json!({"closed": {}}))
    }, run)
    // Longer lists leave the second-level cache of a processor on the way, which looks like growth.
    .measure_family("items put before a long list", 4_000, |size| {
        let op = json!({"op": "add", "path": "/open/0", "value": 1});
        (vec![op; 100].into(), json!({"open": vec![0; size]}))
    }, run)
    .measure_family("a large value moved down and up again", 8_000, |size| {
        let down = json!({"op": "move", "from": "/open/a", "path": "/open/b/c/a"});
        let up = json!({"op": "move", "from": "/open/b/c/a", "path": "/open/a"});
        let ops: Vec<Value> = (0..500).flat_map(|_| [down.clone(), up.clone()]).collect();
        (ops.into(), json!({"open": {"a": vec![json!([]); size], "b": {"c": {}}}}))
    }, run)
    .measure_family("one value copied again and again", 100, |size| {
        let op = |number: usize| json!({"op": "copy", "from": "/open/a", "path": format!("/open/{number}")});
        ((0..size).map(op).collect(), json!({"open": {"a": "x".repeat(1_000)}}))
    }, run);
    door.assert_linear();
}

/// Applies a patch and undoes it.
fn there_and_back(document: &Value, patch: &Patch) {
    let mut changed = document.clone();
    let inverse = patch.apply(&mut changed).expect("it applies");
    inverse.apply(&mut changed).expect("the inverse applies");
    assert_eq!(changed.as_object().map(Map::len), document.as_object().map(Map::len));
}

/// Nulls for every second member, first to last.
fn merge_of_nulls(size: usize) -> Run {
    let document = object(2 * size, &json!(1));
    let merge: Map<String, Value> =
        (0..size).map(|n| (format!("key_{:06}", 2 * n), Value::Null)).collect();
    let merge = Value::Object(merge);
    Box::new(move || there_and_back(&document, &Patch::from_merge_patch(&document, &merge)))
}

/// Nulls for members that are there and for others, by turns.
fn merge_of_absent_nulls(size: usize) -> Run {
    let document = object(size, &json!(1));
    let mut merge = Map::new();
    for n in 0..size {
        merge.insert(format!("key_{n:06}"), Value::Null);
        merge.insert(format!("absent_{n:06}"), Value::Null);
    }
    let merge = Value::Object(merge);
    Box::new(move || there_and_back(&document, &Patch::from_merge_patch(&document, &merge)))
}

/// A long key around many members; the bytes are half key, half members.
fn merge_below_a_long_key(size: usize) -> Run {
    let key = "k".repeat(size * 16);
    let document = json!({&key: object(size, &json!(1))});
    let merge = json!({"format": "merge_patch", "ops": {key: object(size, &Value::Null)}});
    Box::new(move || match Patch::from_tagged(&merge, &document) {
        Ok(patch) => there_and_back(&document, &patch),
        Err(violations) => assert_eq!(violations.len(), 1),
    })
}

/// As many removals as a patch may have, from an object of growing size.
fn removals(size: usize) -> Run {
    let document = object(200 * size, &json!(1));
    let ops: Vec<Value> = (0..1_000.min(100 * size))
        .map(|n| json!({"op": "remove", "path": format!("/key_{n:06}")}))
        .collect();
    let patch = Patch::parse(&Value::Array(ops)).expect("a patch");
    Box::new(move || there_and_back(&document, &patch))
}

fn difference_below_a_long_key(size: usize) -> Run {
    let key = "k".repeat(size * 16);
    let (before, after) =
        (json!({&key: object(size, &json!(1))}), json!({&key: object(size, &json!(2))}));
    Box::new(move || {
        let patch = Patch::diff(&before, &after);
        let bytes: usize = patch.ops.iter().map(|op| op.path().as_str().len()).sum();
        assert!(bytes <= 2 * key.len() + 2_000 * patch.ops.len(), "{bytes} bytes of pointers");
    })
}

fn difference_of_lists(size: usize) -> Run {
    let list = |shift: usize| -> Value { (0..size).map(|n| json!([n + shift])).collect() };
    let (before, after) = (json!({"l": list(0)}), json!({"l": list(1)}));
    Box::new(move || {
        assert!(Patch::diff(&before, &after).ops.len() <= size);
    })
}

fn authority_of_many_places(size: usize) -> Run {
    let writes = pointers(size, "w");
    let protected = pointers(size, "p");
    let document = json!({"w": object(size, &json!(1))});
    let ops = (0..size).map(|n| PatchOperation::Remove {
        path: format!("/w/key_{n:06}").parse().expect("a pointer"),
    });
    let patch = Patch::from_ops(ops.collect());
    Box::new(move || {
        let authority = Authority::parse(&writes, &protected).expect("pointers");
        assert!(authority.check(&patch, &document).is_empty());
    })
}

/// Pointers of slashes alone, allowed and asked for.
fn authority_of_deep_pointers(size: usize) -> Run {
    let writes = (0..8).map(|n| "/".repeat(size - n)).collect::<Vec<_>>();
    let document = json!({});
    let ops = (0..8)
        .map(|n| PatchOperation::Remove { path: "/".repeat(size + n).parse().expect("a pointer") });
    let patch = Patch::from_ops(ops.collect());
    Box::new(move || {
        let authority = Authority::parse(&writes, &["/meta"]).expect("pointers");
        assert_eq!(count_violations(&authority.check(&patch, &document)), 8);
    })
}

/// Operations that are none, and members that nobody reads.
fn wrong_operations(size: usize) -> Run {
    let ops: Vec<Value> = (0..size)
        .map(|n| {
            let mut op = object(50, &json!(n));
            op["op"] = json!("ad");
            op["path"] = json!("no pointer");
            op
        })
        .collect();
    let tagged = json!({"format": "json_patch", "ops": ops});
    Box::new(move || {
        let violations = Patch::from_tagged(&tagged, &json!({})).expect_err("it is refused");
        assert!(violations.len() <= MAX_VIOLATIONS + 1);
    })
}

#[test]
fn patches_of_every_make() {
    let families: [Family; 9] = [
        ("merge of nulls", 1_000, merge_of_nulls),
        ("merge of absent nulls", 1_000, merge_of_absent_nulls),
        ("merge below a long key", 500, merge_below_a_long_key),
        ("removals", 100, removals),
        ("difference below a long key", 500, difference_below_a_long_key),
        ("difference of lists", 5_000, difference_of_lists),
        ("authority of many places", 1_000, authority_of_many_places),
        ("authority of deep pointers", 10_000, authority_of_deep_pointers),
        ("wrong operations", 100, wrong_operations),
    ];
    let mut door = budgeted_door("patch");
    for (name, base, make) in families {
        door.measure_family(name, base, make, |run| run());
    }
    door.assert_linear();
}
