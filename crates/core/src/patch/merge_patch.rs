//! An RFC 7396 merge patch as the operations that do the same to a given document.
//!
//! Not a second way to change a document: what comes out is checked, applied and logged like any
//! other patch.

use serde_json::Value;

use super::patch_parser::invalid_patch_violation;
use super::{JsonPointer, Patch, PatchOperation};
use crate::limits::MAX_PATCH_POINTER_BYTES;
use crate::reply::Violation;

impl Patch {
    /// The operations that do to `target` what the merge patch would.
    ///
    /// Whatever the merge patch names becomes an operation, even where it changes nothing, so that
    /// naming a place one may not write is refused and not only changing it: an equal value is a
    /// `replace`, a null for a member that is not there is an `add` and a `remove`, and an empty
    /// object for one that is there is a `move` onto itself. Objects on the way to a named place are
    /// not named. The operations hold for `target` only.
    ///
    /// ```
    /// use countersign_core::patch::Patch;
    /// use serde_json::json;
    ///
    /// let mut document = json!({"title": "a", "author": {"given": "b", "family": "c"}});
    /// let merge = json!({"title": "z", "author": {"family": null}});
    /// let patch = Patch::merge(&document, &merge);
    /// assert_eq!(json!(patch), json!([
    ///     {"op": "replace", "path": "/title", "value": "z"},
    ///     {"op": "remove", "path": "/author/family"},
    /// ]));
    /// patch.apply(&mut document).unwrap();
    /// assert_eq!(document, json!({"title": "z", "author": {"given": "b"}}));
    /// ```
    /// A merge patch from outside is read with [`Patch::try_from_merge_patch`].
    #[must_use]
    pub fn from_merge_patch(target: &Value, merge: &Value) -> Self {
        let mut ops = Vec::new();
        match (target, merge) {
            (Value::Object(_), Value::Object(_)) => {
                push_member_operations(&mut ops, &JsonPointer::root(), target, merge);
            }
            _ => ops.push(PatchOperation::Replace {
                path: JsonPointer::root(),
                value: remove_nulls(merge),
            }),
        }
        Self { ops }
    }

    /// The same, or a violation where the operations would name far more than the merge patch says: a
    /// long key of `target` stands in the pointer of every member inside it.
    pub fn try_from_merge_patch(target: &Value, merge: &Value) -> Result<Self, Vec<Violation>> {
        let bytes = count_pointer_bytes(target, merge, 0, MAX_PATCH_POINTER_BYTES);
        if bytes <= MAX_PATCH_POINTER_BYTES {
            return Ok(Self::from_merge_patch(target, merge));
        }
        let expected =
            format!("places whose pointers have at most {MAX_PATCH_POINTER_BYTES} bytes together");
        Err(vec![
            invalid_patch_violation("", expected, "more")
                .with_hint("replace the object around them instead"),
        ])
    }
}

/// The operations for what is inside two objects. Members are taken away last, one after the other, so
/// that they can be taken away at once.
fn push_member_operations(
    ops: &mut Vec<PatchOperation>,
    pointer: &JsonPointer,
    target: &Value,
    merge: &Value,
) {
    let mut removals = Vec::new();
    for (name, value) in merge.as_object().into_iter().flatten() {
        let path = pointer.child(name);
        match (target.get(name), value) {
            (Some(_), Value::Null) => removals.push(PatchOperation::Remove { path }),
            (None, Value::Null) => {
                ops.push(PatchOperation::Add { path: path.clone(), value: Value::Null });
                removals.push(PatchOperation::Remove { path });
            }
            (Some(Value::Object(_)), Value::Object(inside)) if inside.is_empty() => {
                ops.push(PatchOperation::Move { from: path.clone(), path });
            }
            (Some(old @ Value::Object(_)), Value::Object(_)) => {
                push_member_operations(ops, &path, old, value)
            }
            (Some(_), _) => ops.push(PatchOperation::Replace { path, value: remove_nulls(value) }),
            (None, _) => ops.push(PatchOperation::Add { path, value: remove_nulls(value) }),
        }
    }
    ops.append(&mut removals);
}

/// How many bytes the pointers of [`Patch::merge`] have together; more than `limit` is not counted on.
fn count_pointer_bytes(target: &Value, merge: &Value, around: usize, limit: usize) -> usize {
    let mut sum: usize = 0;
    for (name, value) in merge.as_object().into_iter().flatten() {
        let path = around + 1 + name.len();
        sum = sum.saturating_add(match (target.get(name), value) {
            (Some(old @ Value::Object(_)), Value::Object(inside)) if !inside.is_empty() => {
                count_pointer_bytes(old, value, path, limit.saturating_sub(sum))
            }
            _ => 2 * path,
        });
        if sum > limit {
            break;
        }
    }
    sum
}

/// What a merge patch makes of nothing: itself, without the members that are null. Nulls in arrays
/// are values.
fn remove_nulls(merge: &Value) -> Value {
    match merge {
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), remove_nulls(value)))
            .collect(),
        other => other.clone(),
    }
}
