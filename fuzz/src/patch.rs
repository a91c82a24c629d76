//! Patches of anybody's making: a patch with its format, a zero byte, and a document.

use countersign_contract::patch::{Authority, Patch};
use serde_json::{Value, json};

use super::text_ranges::parts;

/// Reads a patch, holds it against an authority, applies it and undoes it.
///
/// # Panics
/// Where an invariant of patches is broken.
pub fn patch(input: &[u8]) {
    let (patch, document) = parts(input);
    let Ok(source) = serde_json::from_slice::<Value>(patch) else { return };
    let Ok(before) = serde_json::from_slice::<Value>(document) else { return };
    let read = match &source {
        Value::Array(_) => Patch::parse(&source),
        _ => Patch::from_tagged(&source, &before),
    };
    let Ok(patch) = read else { return };
    let authority = Authority::parse(&["/open"], &["/engine".to_owned()]).expect("two pointers");
    let may = authority.check(&patch, &before).is_empty();
    let mut after = before.clone();
    let Ok(undo) = patch.apply(&mut after) else {
        assert_eq!(after, before, "a patch that failed changed the document");
        return;
    };
    if may {
        let closed = |document: &Value| {
            let mut rest = document.clone();
            if let Some(members) = rest.as_object_mut() {
                members.shift_remove("open");
            }
            rest
        };
        assert_eq!(closed(&after), closed(&before), "something else than /open was written");
    }
    let between = Patch::diff(&before, &after);
    let mut again = before.clone();
    between.apply(&mut again).expect("a difference applies");
    assert_eq!(again, after, "the difference of two documents leads elsewhere");
    undo.apply(&mut after).expect("what was done can be undone");
    assert_eq!(after, before, "undoing leads elsewhere");
    let merge = json!({"format": "merge_patch", "ops": source});
    if let Ok(merge) = Patch::from_tagged(&merge, &before) {
        let mut merged = before.clone();
        if let Ok(undo) = merge.apply(&mut merged) {
            undo.apply(&mut merged).expect("a merge can be undone");
            assert_eq!(merged, before, "undoing a merge leads elsewhere");
        }
    }
}
