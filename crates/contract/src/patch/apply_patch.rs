//! The [`Patch`] type and its atomic application to a document.
//!
//! Applying a patch touches only the locations that the patch names and makes no copy of the
//! document. If an operation fails, the steps done so far are reverted one by one. This module does
//! not check whether a patch may write to a location; see `authority.rs`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::patch_error::{PatchMismatch, PatchOperationError};
use super::undo_step::UndoStep;
use super::value_difference::find_difference;
use super::value_slot::{ValueSlot, find_value};
use super::{JsonPointer, PatchError, PatchOperation};
use crate::json::measure_depth;
use crate::limits::{MAX_PATCH_COPIED_BYTES, MAX_PATCH_MOVED_BYTES, MAX_RECORDED_DEPTH};

/// A change to a document: RFC 6902 operations, applied in order. It is stored and sent as the bare
/// array of operations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Patch {
    /// The operations, in the order in which they are applied.
    pub ops: Vec<PatchOperation>,
}

impl Patch {
    /// Creates a patch from the given operations without checking them.
    #[must_use]
    pub fn from_ops(ops: Vec<PatchOperation>) -> Self {
        Self { ops }
    }

    /// Applies the patch to the document and returns the inverse patch.
    ///
    /// If an operation fails, the document stays as it was, including the order of its keys. The
    /// inverse restores every value. It also restores the order of keys, with one exception: a key
    /// that was removed, moved away or overwritten by a `move` comes back as the last key of its
    /// object, because RFC 6902 cannot express a position among keys.
    ///
    /// ```
    /// use countersign_contract::patch::Patch;
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
    /// assert_eq!(refused.to_string(), "operation 0: `test` at `/domain/price` failed");
    ///
    /// inverse.apply(&mut document).unwrap();
    /// assert_eq!(document, json!({"domain": {"price": 10}}));
    /// ```
    pub fn apply(&self, document: &mut Value) -> Result<Self, PatchError> {
        tracing::trace!(operations = self.ops.len(), "applying a patch");
        let mut work =
            PatchTransaction { document, undo_log: Vec::new(), copied_bytes: 0, walked_bytes: 0 };
        let mut index = 0;
        while let Some(op) = self.ops.get(index) {
            let removed = work.remove_members(&self.ops[index..]);
            if removed > 0 {
                index += removed;
                continue;
            }
            if let Err(fault) = work.apply_operation(op) {
                work.revert_all();
                return Err(fault.into_patch_error(index, op));
            }
            index += 1;
        }
        let mut ops = Vec::with_capacity(work.undo_log.len());
        work.undo_log.into_iter().rev().for_each(|undo| undo.append_inverse(&mut ops));
        Ok(Self { ops })
    }
}

/// A patch while it is being applied, with the steps needed to revert it.
struct PatchTransaction<'d> {
    document: &'d mut Value,
    undo_log: Vec<UndoStep>,
    copied_bytes: usize,
    /// The number of bytes of values whose depth was measured because a `move` put them deeper.
    walked_bytes: usize,
}

impl PatchTransaction<'_> {
    /// Applies one operation, or returns an error and leaves the document unchanged.
    fn apply_operation(&mut self, op: &PatchOperation) -> Result<(), PatchOperationError> {
        match op {
            PatchOperation::Add { path, value } => {
                check_depth(path, value)?;
                self.add_value(path, value.clone())
            }
            PatchOperation::Remove { path } => {
                let (old, position) = ValueSlot::open_existing(self.document, path)
                    .and_then(ValueSlot::remove)
                    .map_err(PatchOperationError::Path)?;
                self.undo_log.push(UndoStep::Removed { path: path.clone(), position, old });
                Ok(())
            }
            PatchOperation::Replace { path, value } => {
                check_depth(path, value)?;
                let slot = ValueSlot::open_existing(self.document, path)
                    .map_err(PatchOperationError::Path)?;
                let old = slot.replace(value.clone());
                self.undo_log.push(UndoStep::Replaced { path: path.clone(), old });
                Ok(())
            }
            PatchOperation::Copy { from, path } => {
                let value =
                    find_value(self.document, from.as_str()).map_err(PatchOperationError::From)?;
                self.copied_bytes +=
                    measure_copy(value, MAX_PATCH_COPIED_BYTES - self.copied_bytes)
                        .ok_or_else(copy_limit_error)?;
                check_depth(path, value)?;
                let value = value.clone();
                self.add_value(path, value)
            }
            PatchOperation::Move { from, path } => self.move_value(from, path),
            PatchOperation::Test { path, value } => {
                let found =
                    find_value(self.document, path.as_str()).map_err(PatchOperationError::Path)?;
                find_difference(value, found).map_or(Ok(()), |difference| Err(difference.into()))
            }
        }
    }

    /// Removes several members of one object in a single pass when the first operations of `ops`
    /// remove them one after the other. Removing each member separately would shift all later
    /// members every time. Returns the number of operations handled: 0 if fewer than two leading
    /// operations remove existing members of the same object.
    fn remove_members(&mut self, ops: &[PatchOperation]) -> usize {
        let removed = |op: &PatchOperation| match op {
            PatchOperation::Remove { path } => {
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
        let mut paths: Vec<JsonPointer> = Vec::new();
        for op in ops {
            let Some((_, name)) = removed(op).filter(|(other, _)| *other == parent) else { break };
            // The regular path of `apply` reports the error of the operation at which this stops.
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
        let taken: Vec<(JsonPointer, usize, Value)> = taken.collect();
        let count = taken.len();
        self.undo_log.push(UndoStep::RemovedMembers { parent, taken });
        count
    }

    fn add_value(&mut self, path: &JsonPointer, value: Value) -> Result<(), PatchOperationError> {
        let slot = ValueSlot::open(self.document, path).map_err(PatchOperationError::Path)?;
        let path = slot.resolve_pointer(path);
        self.undo_log.push(match slot.insert(value) {
            Some(old) => UndoStep::Replaced { path, old },
            None => UndoStep::Added { path },
        });
        Ok(())
    }

    fn move_value(
        &mut self,
        from: &JsonPointer,
        path: &JsonPointer,
    ) -> Result<(), PatchOperationError> {
        let value = find_value(self.document, from.as_str()).map_err(PatchOperationError::From)?;
        if from == path {
            return Ok(());
        }
        if path.is_below(from) {
            let expected = "a location outside the value that moves";
            return Err(PatchOperationError::Path(PatchMismatch::new(
                expected,
                "a location inside it",
            )));
        }
        if path.depth() > from.depth() {
            self.walked_bytes += measure_copy(value, MAX_PATCH_MOVED_BYTES - self.walked_bytes)
                .ok_or_else(move_limit_error)?;
            check_depth(path, value)?;
        }
        let again = if from.is_below(path) {
            self.copied_bytes += measure_copy(value, MAX_PATCH_COPIED_BYTES - self.copied_bytes)
                .ok_or_else(copy_limit_error)?;
            Some(value.clone())
        } else {
            None
        };
        let (value, position) = ValueSlot::open_existing(self.document, from)
            .and_then(ValueSlot::remove)
            .map_err(PatchOperationError::From)?;
        let slot = match ValueSlot::open(self.document, path) {
            Ok(slot) => slot,
            Err(obstacle) => {
                UndoStep::Removed { path: from.clone(), position, old: value }
                    .revert(self.document);
                return Err(PatchOperationError::Path(obstacle));
            }
        };
        let path = slot.resolve_pointer(path);
        let old = slot.insert(value);
        self.undo_log.push(UndoStep::Moved {
            from: from.clone(),
            position,
            path,
            old,
            value_copy: again,
        });
        Ok(())
    }

    fn revert_all(&mut self) {
        while let Some(undo) = self.undo_log.pop() {
            undo.revert(self.document);
        }
    }
}

/// Rejects a value whose nesting, at its new location, exceeds [`MAX_RECORDED_DEPTH`]: a deeper
/// document could be stored but not read back.
fn check_depth(path: &JsonPointer, value: &Value) -> Result<(), PatchOperationError> {
    let depth = path.depth() + measure_depth(value);
    if depth <= MAX_RECORDED_DEPTH {
        return Ok(());
    }
    let expected = format!("at most {MAX_RECORDED_DEPTH} levels of nesting");
    Err(PatchOperationError::Path(PatchMismatch::new(expected, depth.to_string())))
}

/// Returns the cost in bytes of copying the value, or `None` if it exceeds `limit`. Stops walking
/// the value as soon as the limit is exceeded.
fn measure_copy(value: &Value, limit: usize) -> Option<usize> {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items
            .iter()
            .try_fold(0, |sum, item| Some(sum + measure_copy(item, limit.checked_sub(sum)?)?))?,
        Value::Object(members) => members.iter().try_fold(0, |sum, (key, member)| {
            let sum = sum + key.len();
            Some(sum + measure_copy(member, limit.checked_sub(sum)?)?)
        })?,
        _ => 0,
    };
    Some(1 + inside).filter(|weight| *weight <= limit)
}

fn copy_limit_error() -> PatchOperationError {
    let expected = format!("at most {MAX_PATCH_COPIED_BYTES} bytes to be copied by one patch");
    PatchOperationError::From(PatchMismatch::new(expected, "more"))
}

fn move_limit_error() -> PatchOperationError {
    let expected = format!("at most {MAX_PATCH_MOVED_BYTES} bytes to be moved deeper by one patch");
    PatchOperationError::From(PatchMismatch::new(expected, "more"))
}
