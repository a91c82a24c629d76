//! What it takes to go back one step: exactly, or as operations.
//!
//! Going back exactly restores the order of keys too; it serves a patch that stops half-way. The
//! operations are for later, for the log and for people, and RFC 6902 cannot say where among its
//! siblings a key stood.

use serde_json::{Map, Value};

use super::slot::{Position, Slot};
use super::{Op, Pointer};

/// One change that was made.
#[derive(Debug)]
pub(super) enum Undo {
    /// A value was added where none stood.
    Added { path: Pointer },
    /// A value took the place of another.
    Replaced { path: Pointer, old: Value },
    /// A value was taken away from this position among its siblings.
    Removed { path: Pointer, position: Position, old: Value },
    /// Several members of one object were taken away, in this order, from these positions.
    RemovedMembers { parent: String, taken: Vec<(Pointer, usize, Value)> },
    /// A value went from one place to another.
    Moved {
        from: Pointer,
        position: Position,
        path: Pointer,
        /// What it took the place of.
        old: Option<Value>,
        /// The value once more, where it went to a place around its own: RFC 6902 has no way back.
        again: Option<Value>,
    },
}

impl Undo {
    /// Makes the document what it was before, byte for byte.
    pub(super) fn revert(self, document: &mut Value) {
        match self {
            Self::Added { path } => {
                take(document, &path);
            }
            Self::Replaced { path, old } => {
                swap(document, &path, old);
            }
            Self::Removed { path, position, old } => put_back(document, &path, position, old),
            Self::RemovedMembers { parent, taken } => {
                let Some(Value::Object(members)) = document.pointer_mut(&parent) else { return };
                *members = interleaved(std::mem::take(members), taken);
            }
            Self::Moved { from, position, path, old, again: _ } => {
                let value = match old {
                    Some(old) => swap(document, &path, old),
                    None => take(document, &path),
                };
                put_back(document, &from, position, value);
            }
        }
    }

    /// Appends the operations that go back.
    pub(super) fn invert(self, ops: &mut Vec<Op>) {
        match self {
            Self::Added { path } => ops.push(Op::Remove { path }),
            Self::Replaced { path, old } => ops.push(Op::Replace { path, value: old }),
            Self::Removed { path, old, .. } => ops.push(Op::Add { path, value: old }),
            Self::RemovedMembers { taken, .. } => {
                let added = taken.into_iter().rev();
                ops.extend(added.map(|(path, _, old)| Op::Add { path, value: old }));
            }
            Self::Moved { from, path, old, again: Some(value), .. } => {
                ops.push(match old {
                    Some(old) => Op::Replace { path, value: old },
                    None => Op::Remove { path },
                });
                ops.push(Op::Add { path: from, value });
            }
            Self::Moved { from, path, old: None, again: None, .. } => {
                ops.push(Op::Move { from: path, path: from });
            }
            Self::Moved { from, position, path, old: Some(old), again: None } => {
                // What was overwritten comes back when its array may hold the moved item again.
                let home = match (position, from.split_last()) {
                    (Position::Item(index), Some((array, _)))
                        if path.index_in(array) >= Some(index) =>
                    {
                        path.shifted_in(array)
                    }
                    _ => path.clone(),
                };
                ops.push(Op::Move { from: path, path: from });
                ops.push(Op::Add { path: home, value: old });
            }
        }
    }
}

/// The members with those that were taken away back at the positions they had.
fn interleaved(
    members: Map<String, Value>,
    mut taken: Vec<(Pointer, usize, Value)>,
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

const HOLDS: &str = "what was changed a moment ago is still there";

fn take(document: &mut Value, path: &Pointer) -> Value {
    Slot::at(document, path).and_then(Slot::take).expect(HOLDS).0
}

fn swap(document: &mut Value, path: &Pointer, value: Value) -> Value {
    Slot::at(document, path).expect(HOLDS).swap(value)
}

fn put_back(document: &mut Value, path: &Pointer, position: Position, value: Value) {
    Slot::open(document, path).expect(HOLDS).put_back(position, value);
}
