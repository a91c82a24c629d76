//! Converts an RFC 7396 merge patch into the RFC 6902 operations that have the same effect on a
//! given document.
//!
//! The result is checked, applied and logged like any other patch, so a merge patch is not a second
//! mechanism for changing a document.

use serde_json::Value;

use super::patch_parser::invalid_patch_violation;
use super::{JsonPointer, Patch, PatchOperation};
use crate::limits::MAX_PATCH_POINTER_BYTES;
use crate::reply::Violation;

impl Patch {
    /// Returns the operations that have the same effect on `target` as the merge patch.
    ///
    /// Everything that the merge patch names becomes an operation, even if it changes nothing, so
    /// that the authority check refuses a merge patch that names a forbidden location, not only one
    /// that changes it. An equal value becomes a `replace`, a null for an absent member an `add`
    /// and a `remove`, and an empty object for an existing object a `move` onto itself. The objects
    /// on the path to a named location do not count as named. The operations are valid for `target`
    /// only.
    ///
    /// ```
    /// use countersign_contract::patch::Patch;
    /// use serde_json::json;
    ///
    /// let mut document = json!({"title": "a", "author": {"given": "b", "family": "c"}});
    /// let merge = json!({"title": "z", "author": {"family": null}});
    /// let patch = Patch::from_merge_patch(&document, &merge);
    /// assert_eq!(json!(patch), json!([
    ///     {"op": "replace", "path": "/title", "value": "z"},
    ///     {"op": "remove", "path": "/author/family"},
    /// ]));
    /// patch.apply(&mut document).unwrap();
    /// assert_eq!(document, json!({"title": "z", "author": {"given": "b"}}));
    /// ```
    ///
    /// For a merge patch from an untrusted source use [`Patch::try_from_merge_patch`].
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

    /// Like [`Patch::from_merge_patch`], but returns a violation if the pointers of the operations
    /// together exceed [`MAX_PATCH_POINTER_BYTES`]. They can be far larger than the merge patch,
    /// because a long key of `target` is repeated in the pointer of every member inside it.
    pub fn try_from_merge_patch(target: &Value, merge: &Value) -> Result<Self, Vec<Violation>> {
        let bytes = count_pointer_bytes(target, merge, 0, MAX_PATCH_POINTER_BYTES);
        if bytes <= MAX_PATCH_POINTER_BYTES {
            return Ok(Self::from_merge_patch(target, merge));
        }
        let expected = format!(
            "locations whose pointers have at most {MAX_PATCH_POINTER_BYTES} bytes in total"
        );
        Err(vec![
            invalid_patch_violation("", expected, "more")
                .with_hint("replace the object around them instead"),
        ])
    }
}

/// Appends the operations for the members of two objects. Removals come last and next to each
/// other, so that [`Patch::apply`] can do them in one pass.
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
                push_member_operations(ops, &path, old, value);
            }
            (Some(_), _) => ops.push(PatchOperation::Replace { path, value: remove_nulls(value) }),
            (None, _) => ops.push(PatchOperation::Add { path, value: remove_nulls(value) }),
        }
    }
    ops.append(&mut removals);
}

/// Returns an upper bound of the bytes in all pointers of [`Patch::from_merge_patch`]. Stops
/// counting once the sum exceeds `limit`.
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

/// Returns the result of applying a merge patch to nothing: the patch itself without its null
/// members. Nulls in arrays are values and stay.
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
