//! A patch, and what it does to a document: all of it or nothing.
//!
//! Only the places that a patch names are touched: no copy of the document is made, and a patch that
//! stops half-way is taken back step by step. Not here: whether a patch may write where it writes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::difference::difference;
use super::error::{Fault, Obstacle};
use super::slot::{Slot, find};
use super::undo::Undo;
use super::{Op, PatchError, Pointer};
use crate::json::nesting;
use crate::limits::{MAX_COPIED_BYTES, MAX_RECORDED_DEPTH, MAX_WALKED_BYTES};

/// A change of a document: RFC 6902 operations, done in order. Stored and sent as the bare array.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Patch {
    /// The operations.
    pub ops: Vec<Op>,
}

impl Patch {
    /// A patch of these operations.
    #[must_use]
    pub fn from_ops(ops: Vec<Op>) -> Self {
        Self { ops }
    }

    /// Changes the document and gives the patch that changes it back.
    ///
    /// A refused patch leaves the document as it was, down to the order of its keys. The inverse
    /// restores every value; it restores the order of keys too, except that a key which was removed,
    /// moved away or overwritten by a `move` comes back as the last of its object, because RFC 6902
    /// cannot name a position among keys.
    ///
    /// ```
    /// use countersign_core::patch::Patch;
    /// use serde_json::json;
    ///
    /// let mut document = json!({"domain": {"price": 10}});
    /// let patch = Patch::parse(&json!([
    ///     {"op": "test", "path": "/domain/price", "value": 10.0},
    ///     {"op": "replace", "path": "/domain/price", "value": 12},
    /// ])).unwrap();
    ///
    /// let inverse = patch.apply(&mut document).unwrap();
    /// assert_eq!(document, json!({"domain": {"price": 12}}));
    ///
    /// let refused = patch.apply(&mut document).unwrap_err();
    /// assert_eq!(refused.to_string(), "operation 0: `test` at `/domain/price` does not hold");
    ///
    /// inverse.apply(&mut document).unwrap();
    /// assert_eq!(document, json!({"domain": {"price": 10}}));
    /// ```
    pub fn apply(&self, document: &mut Value) -> Result<Self, PatchError> {
        let mut work = Work { document, done: Vec::new(), copied: 0, walked: 0 };
        let mut index = 0;
        while let Some(op) = self.ops.get(index) {
            let removed = work.remove_members(&self.ops[index..]);
            if removed > 0 {
                index += removed;
                continue;
            }
            if let Err(fault) = work.step(op) {
                work.revert();
                return Err(fault.at(index, op));
            }
            index += 1;
        }
        let mut ops = Vec::with_capacity(work.done.len());
        work.done.into_iter().rev().for_each(|undo| undo.invert(&mut ops));
        Ok(Self { ops })
    }
}

/// A patch half-way.
struct Work<'d> {
    document: &'d mut Value,
    done: Vec<Undo>,
    copied: usize,
    /// Bytes of values that were looked through because they moved deeper.
    walked: usize,
}

impl Work<'_> {
    /// Does one operation, or nothing.
    fn step(&mut self, op: &Op) -> Result<(), Fault> {
        match op {
            Op::Add { path, value } => {
                shallow_enough(path, value)?;
                self.add(path, value.clone())
            }
            Op::Remove { path } => {
                let (old, position) =
                    Slot::at(self.document, path).and_then(Slot::take).map_err(Fault::Path)?;
                self.done.push(Undo::Removed { path: path.clone(), position, old });
                Ok(())
            }
            Op::Replace { path, value } => {
                shallow_enough(path, value)?;
                let slot = Slot::at(self.document, path).map_err(Fault::Path)?;
                let old = slot.swap(value.clone());
                self.done.push(Undo::Replaced { path: path.clone(), old });
                Ok(())
            }
            Op::Copy { from, path } => {
                let value = find(self.document, from.as_str()).map_err(Fault::From)?;
                self.copied +=
                    weight(value, MAX_COPIED_BYTES - self.copied).ok_or_else(too_much)?;
                shallow_enough(path, value)?;
                let value = value.clone();
                self.add(path, value)
            }
            Op::Move { from, path } => self.shift(from, path),
            Op::Test { path, value } => {
                let found = find(self.document, path.as_str()).map_err(Fault::Path)?;
                difference(value, found).map_or(Ok(()), |difference| Err(difference.into()))
            }
        }
    }

    /// Takes several members of one object away at once, as the first operations ask one by one: each
    /// alone would move all that stand behind it. Gives how many operations that were; none where the
    /// first ones ask for something else, or for what is not there.
    fn remove_members(&mut self, ops: &[Op]) -> usize {
        let removed = |op: &Op| match op {
            Op::Remove { path } => {
                path.split_last().map(|(parent, name)| (parent.to_owned(), name.into_owned()))
            }
            _ => None,
        };
        let Some((parent, _)) = ops.first().and_then(removed) else { return 0 };
        if ops.get(1).and_then(removed).is_none_or(|(other, _)| other != parent) {
            return 0;
        }
        let Some(Value::Object(members)) = self.document.pointer_mut(&parent) else { return 0 };
        let mut order: BTreeMap<String, usize> = BTreeMap::new();
        let mut paths: Vec<Pointer> = Vec::new();
        for op in ops {
            let Some((_, name)) = removed(op).filter(|(other, _)| *other == parent) else { break };
            // The operation at which it stops is told by its own step.
            if order.contains_key(&name) || !members.contains_key(&name) {
                break;
            }
            order.insert(name, paths.len());
            paths.push(op.path().clone());
        }
        if paths.len() < 2 {
            return 0;
        }
        let mut taken: Vec<Option<(usize, Value)>> = vec![None; paths.len()];
        let mut kept = Map::with_capacity(members.len() - paths.len());
        for (position, (name, value)) in std::mem::take(members).into_iter().enumerate() {
            match order.get(&name) {
                Some(number) => taken[*number] = Some((position, value)),
                None => {
                    kept.insert(name, value);
                }
            }
        }
        *members = kept;
        let taken = paths.into_iter().zip(taken).filter_map(|(path, taken)| {
            let (position, old) = taken?;
            Some((path, position, old))
        });
        let taken: Vec<(Pointer, usize, Value)> = taken.collect();
        let count = taken.len();
        self.done.push(Undo::RemovedMembers { parent, taken });
        count
    }

    fn add(&mut self, path: &Pointer, value: Value) -> Result<(), Fault> {
        let slot = Slot::open(self.document, path).map_err(Fault::Path)?;
        let path = slot.pointer(path);
        self.done.push(match slot.put(value) {
            Some(old) => Undo::Replaced { path, old },
            None => Undo::Added { path },
        });
        Ok(())
    }

    fn shift(&mut self, from: &Pointer, path: &Pointer) -> Result<(), Fault> {
        let value = find(self.document, from.as_str()).map_err(Fault::From)?;
        if from == path {
            return Ok(());
        }
        if path.is_below(from) {
            let expected = "a place outside the value that moves";
            return Err(Fault::Path(Obstacle::new(expected, "a place inside it")));
        }
        if path.depth() > from.depth() {
            self.walked += weight(value, MAX_WALKED_BYTES - self.walked).ok_or_else(too_far)?;
            shallow_enough(path, value)?;
        }
        let again = if from.is_below(path) {
            self.copied += weight(value, MAX_COPIED_BYTES - self.copied).ok_or_else(too_much)?;
            Some(value.clone())
        } else {
            None
        };
        let (value, position) =
            Slot::at(self.document, from).and_then(Slot::take).map_err(Fault::From)?;
        let slot = match Slot::open(self.document, path) {
            Ok(slot) => slot,
            Err(obstacle) => {
                Undo::Removed { path: from.clone(), position, old: value }.revert(self.document);
                return Err(Fault::Path(obstacle));
            }
        };
        let path = slot.pointer(path);
        let old = slot.put(value);
        self.done.push(Undo::Moved { from: from.clone(), position, path, old, again });
        Ok(())
    }

    fn revert(&mut self) {
        while let Some(undo) = self.done.pop() {
            undo.revert(self.document);
        }
    }
}

/// A document that cannot be read back would be lost, so none is made.
fn shallow_enough(path: &Pointer, value: &Value) -> Result<(), Fault> {
    let depth = path.depth() + nesting(value);
    if depth <= MAX_RECORDED_DEPTH {
        return Ok(());
    }
    let expected = format!("at most {MAX_RECORDED_DEPTH} levels of nesting");
    Err(Fault::Path(Obstacle::new(expected, depth.to_string())))
}

/// What a copy of the value costs; `None` beyond the limit, and then not all of it is looked at.
fn weight(value: &Value, limit: usize) -> Option<usize> {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items
            .iter()
            .try_fold(0, |sum, item| Some(sum + weight(item, limit.checked_sub(sum)?)?))?,
        Value::Object(members) => members.iter().try_fold(0, |sum, (key, member)| {
            let sum = sum + key.len();
            Some(sum + weight(member, limit.checked_sub(sum)?)?)
        })?,
        _ => 0,
    };
    Some(1 + inside).filter(|weight| *weight <= limit)
}

fn too_much() -> Fault {
    let expected = format!("at most {MAX_COPIED_BYTES} bytes to be copied by one patch");
    Fault::From(Obstacle::new(expected, "more"))
}

fn too_far() -> Fault {
    let expected = format!("at most {MAX_WALKED_BYTES} bytes to be moved deeper by one patch");
    Fault::From(Obstacle::new(expected, "more"))
}
