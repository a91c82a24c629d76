//! Undoes one step of a patch, either exactly or as operations.
//!
//! The exact undo also restores the order of keys; it reverts a patch that fails midway. The
//! operations form the inverse patch, for the log and for people. RFC 6902 cannot express the
//! position of a key among its siblings.

use serde_json::{Map, Value};

use super::value_slot::{SiblingPosition, ValueSlot};
use super::{JsonPointer, PatchOperation};

/// One change that a patch made to the document.
#[derive(Debug)]
pub(super) enum UndoStep {
    /// A value was added at a location that had none.
    Added { path: JsonPointer },
    /// A value replaced another.
    Replaced { path: JsonPointer, old: Value },
    /// A value was removed from this position among its siblings.
    Removed { path: JsonPointer, position: SiblingPosition, old: Value },
    /// Several members of one object were removed, in this order, from these positions.
    RemovedMembers { parent: String, taken: Vec<(JsonPointer, usize, Value)> },
    /// A value was moved from one location to another.
    Moved {
        from: JsonPointer,
        position: SiblingPosition,
        path: JsonPointer,
        /// The value that the moved value replaced.
        old: Option<Value>,
        /// A copy of the moved value, present if the value moved to the location of one of its own
        /// ancestors: RFC 6902 cannot undo such a `move` with another `move`.
        value_copy: Option<Value>,
    },
}

impl UndoStep {
    /// Restores the document to its state before the step, byte for byte.
    pub(super) fn revert(self, document: &mut Value) {
        match self {
            Self::Added { path } => {
                remove_at(document, &path);
            }
            Self::Replaced { path, old } => {
                replace_at(document, &path, old);
            }
            Self::Removed { path, position, old } => restore_at(document, &path, position, old),
            Self::RemovedMembers { parent, taken } => {
                let Some(Value::Object(members)) = document.pointer_mut(&parent) else { return };
                *members = interleave_members(std::mem::take(members), taken);
            }
            Self::Moved { from, position, path, old, value_copy: _ } => {
                let value = match old {
                    Some(old) => replace_at(document, &path, old),
                    None => remove_at(document, &path),
                };
                restore_at(document, &from, position, value);
            }
        }
    }

    /// Appends the operations that undo the step.
    pub(super) fn append_inverse(self, ops: &mut Vec<PatchOperation>) {
        match self {
            Self::Added { path } => ops.push(PatchOperation::Remove { path }),
            Self::Replaced { path, old } => ops.push(PatchOperation::Replace { path, value: old }),
            Self::Removed { path, old, .. } => ops.push(PatchOperation::Add { path, value: old }),
            Self::RemovedMembers { taken, .. } => {
                let added = taken.into_iter().rev();
                ops.extend(added.map(|(path, _, old)| PatchOperation::Add { path, value: old }));
            }
            Self::Moved { from, path, old, value_copy: Some(value), .. } => {
                ops.push(match old {
                    Some(old) => PatchOperation::Replace { path, value: old },
                    None => PatchOperation::Remove { path },
                });
                ops.push(PatchOperation::Add { path: from, value });
            }
            Self::Moved { from, path, old: None, value_copy: None, .. } => {
                ops.push(PatchOperation::Move { from: path, path: from });
            }
            Self::Moved { from, position, path, old: Some(old), value_copy: None } => {
                // The overwritten value returns after the moved item, so its index accounts for
                // that item.
                let home = match (position, from.split_last()) {
                    (SiblingPosition::Item(index), Some((array, _)))
                        if path.index_in(array) >= Some(index) =>
                    {
                        path.shift_index_in(array)
                    }
                    _ => path.clone(),
                };
                ops.push(PatchOperation::Move { from: path, path: from });
                ops.push(PatchOperation::Add { path: home, value: old });
            }
        }
    }
}

/// Puts the removed members back at their original positions among the remaining ones.
fn interleave_members(
    members: Map<String, Value>,
    mut taken: Vec<(JsonPointer, usize, Value)>,
) -> Map<String, Value> {
    taken.sort_by_key(|(_, position, _)| *position);
    let mut all = Map::with_capacity(members.len() + taken.len());
    let mut members = members.into_iter();
    for (path, position, old) in taken {
        all.extend(members.by_ref().take(position - all.len()));
        let name = path.split_last().map(|(_, name)| name.into_owned()).unwrap_or_default();
        all.insert(name, old);
    }
    all.extend(members);
    all
}

const UNDO_INVARIANT: &str = "the value changed by the undone operation exists";

fn remove_at(document: &mut Value, path: &JsonPointer) -> Value {
    ValueSlot::open_existing(document, path).and_then(ValueSlot::remove).expect(UNDO_INVARIANT).0
}

fn replace_at(document: &mut Value, path: &JsonPointer, value: Value) -> Value {
    ValueSlot::open_existing(document, path).expect(UNDO_INVARIANT).replace(value)
}

fn restore_at(document: &mut Value, path: &JsonPointer, position: SiblingPosition, value: Value) {
    ValueSlot::open(document, path).expect(UNDO_INVARIANT).restore(position, value);
}
