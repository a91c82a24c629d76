//! What it takes to go back one step: exactly, or as operations.
//!
//! Going back exactly restores the order of keys too; it serves a patch that stops half-way. The
//! operations are for later, for the log and for people, and RFC 6902 cannot say where among its
//! siblings a key stood.

use serde_json::{Map, Value};

use super::value_slot::{SiblingPosition, ValueSlot};
use super::{JsonPointer, PatchOperation};

/// One change that was made.
#[derive(Debug)]
pub(super) enum UndoStep {
    /// A value was added where none stood.
    Added { path: JsonPointer },
    /// A value took the place of another.
    Replaced { path: JsonPointer, old: Value },
    /// A value was taken away from this position among its siblings.
    Removed { path: JsonPointer, position: SiblingPosition, old: Value },
    /// Several members of one object were taken away, in this order, from these positions.
    RemovedMembers { parent: String, taken: Vec<(JsonPointer, usize, Value)> },
    /// A value went from one place to another.
    Moved {
        from: JsonPointer,
        position: SiblingPosition,
        path: JsonPointer,
        /// What it took the place of.
        old: Option<Value>,
        /// The value once more, where it went to a place around its own: RFC 6902 has no way back.
        value_copy: Option<Value>,
    },
}

impl UndoStep {
    /// Makes the document what it was before, byte for byte.
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

    /// Appends the operations that go back.
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
                // What was overwritten comes back when its array may hold the moved item again.
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

/// The members with those that were taken away back at the positions they had.
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

const UNDO_INVARIANT: &str = "what was changed a moment ago is still there";

fn remove_at(document: &mut Value, path: &JsonPointer) -> Value {
    ValueSlot::open_existing(document, path).and_then(ValueSlot::remove).expect(UNDO_INVARIANT).0
}

fn replace_at(document: &mut Value, path: &JsonPointer, value: Value) -> Value {
    ValueSlot::open_existing(document, path).expect(UNDO_INVARIANT).replace(value)
}

fn restore_at(document: &mut Value, path: &JsonPointer, position: SiblingPosition, value: Value) {
    ValueSlot::open(document, path).expect(UNDO_INVARIANT).restore(position, value);
}
