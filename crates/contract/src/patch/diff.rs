//! Computes the patch that turns one value into another, short and readable for people.
//!
//! Arrays are compared from both ends, so an insertion or a removal in one position shows as
//! exactly that. The result contains no `move` and no `copy`: only the author knows whether an
//! equal value at another location is the same one.

use serde_json::Value;

use super::{JsonPointer, Patch, PatchOperation};
use crate::limits::MAX_DIFF_POINTER_BYTES;

impl Patch {
    /// Returns the operations that turn `before` into `after`; the patch is empty if they are
    /// equal.
    ///
    /// ```
    /// use countersign_contract::patch::Patch;
    /// use serde_json::json;
    ///
    /// let mut before = json!({"tasks": [1, 2, 3]});
    /// let after = json!({"tasks": [1, 3], "done": true});
    /// let patch = Patch::diff(&before, &after);
    /// assert_eq!(json!(patch), json!([
    ///     {"op": "remove", "path": "/tasks/1"},
    ///     {"op": "add", "path": "/done", "value": true},
    /// ]));
    /// patch.apply(&mut before).unwrap();
    /// assert_eq!(before, after);
    /// ```
    #[must_use]
    pub fn diff(before: &Value, after: &Value) -> Self {
        let mut ops = Vec::new();
        diff_values(&JsonPointer::root(), before, after, &mut ops);
        Self { ops }
    }
}

fn diff_values(at: &JsonPointer, before: &Value, after: &Value, ops: &mut Vec<PatchOperation>) {
    match (before, after) {
        _ if before == after => {}
        // Every operation below a long pointer would repeat that pointer.
        _ if at.as_str().len() > MAX_DIFF_POINTER_BYTES => {
            ops.push(PatchOperation::Replace { path: at.clone(), value: after.clone() });
        }
        (Value::Object(old), Value::Object(new)) => {
            for key in old.keys().filter(|key| !new.contains_key(*key)) {
                ops.push(PatchOperation::Remove { path: at.child(key) });
            }
            for (key, value) in new {
                match old.get(key) {
                    Some(was) => diff_values(&at.child(key), was, value, ops),
                    None => {
                        ops.push(PatchOperation::Add { path: at.child(key), value: value.clone() });
                    }
                }
            }
        }
        (Value::Array(old), Value::Array(new)) => diff_arrays(at, old, new, ops),
        _ => ops.push(PatchOperation::Replace { path: at.clone(), value: after.clone() }),
    }
}

fn diff_arrays(at: &JsonPointer, old: &[Value], new: &[Value], ops: &mut Vec<PatchOperation>) {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[start..], &new[start..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let item_path = |index: usize| at.child(&(start + index).to_string());
    for (index, (was, is)) in old.iter().zip(new).enumerate() {
        diff_values(&item_path(index), was, is, ops);
    }
    // Remove from the back, so that the items still to be removed keep their indices.
    for index in (new.len()..old.len()).rev() {
        ops.push(PatchOperation::Remove { path: item_path(index) });
    }
    for (index, value) in new.iter().enumerate().skip(old.len()) {
        ops.push(PatchOperation::Add { path: item_path(index), value: value.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(before: &Value, after: &Value, expected: &Value) {
        let patch = Patch::diff(before, after);
        assert_eq!(json!(patch), *expected);
        let mut changed = before.clone();
        patch.apply(&mut changed).unwrap();
        assert_eq!(changed, *after);
    }

    #[test]
    fn equal_values_need_nothing() {
        check(&json!({"a": [1, {"b": null}]}), &json!({"a": [1, {"b": null}]}), &json!([]));
    }

    #[test]
    fn members_come_go_and_change() {
        check(
            &json!({"a": 1, "b/c": 2, "d": {"e": 1}}),
            &json!({"a": 1, "d": {"e": 2}, "f~": []}),
            &json!([
                {"op": "remove", "path": "/b~1c"},
                {"op": "replace", "path": "/d/e", "value": 2},
                {"op": "add", "path": "/f~0", "value": []},
            ]),
        );
    }

    #[test]
    fn what_changes_below_a_long_key_is_replaced_at_that_key() {
        let key = "k".repeat(2_000);
        let (before, after) = (json!({&key: {"a": 1, "b": 2}}), json!({&key: {"a": 2, "b": 3}}));
        let path = format!("/{key}");
        let value = json!({"a": 2, "b": 3});
        check(&before, &after, &json!([{"op": "replace", "path": path, "value": value}]));
    }

    #[test]
    fn an_item_put_in_the_middle_is_one_operation() {
        check(
            &json!([1, 2, 3]),
            &json!([1, 9, 2, 3]),
            &json!([{"op": "add", "path": "/1", "value": 9}]),
        );
    }

    #[test]
    fn items_that_went_are_removed_from_the_back() {
        check(
            &json!([0, 1, 2, 3]),
            &json!([0]),
            &json!([
                {"op": "remove", "path": "/3"},
                {"op": "remove", "path": "/2"},
                {"op": "remove", "path": "/1"},
            ]),
        );
    }

    #[test]
    fn another_kind_of_value_is_replaced_whole() {
        check(&json!({"a": 1}), &json!([1]), &json!([{"op": "replace", "path": "", "value": [1]}]));
        check(&json!(1), &json!(1.0), &json!([{"op": "replace", "path": "", "value": 1.0}]));
    }
}
