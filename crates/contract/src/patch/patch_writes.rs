//! Determines which locations an operation writes beyond the one it names.
//!
//! Inserting or removing an array item changes the value at every later index. The lengths of
//! arrays change while a patch runs, so [`ArrayLengths`] tracks them from operation to operation.

use std::collections::BTreeMap;

use serde_json::Value;

use super::json_pointer::parse_index;
use super::value_slot::find_value;
use super::{JsonPointer, PatchOperation};

/// How an operation changes the location it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteEffect {
    Set,
    Insert,
    Remove,
}

/// One write of an operation.
#[derive(Debug)]
pub(super) struct PatchWrite {
    /// The member of the operation that names the location: `path` or `from`.
    pub(super) member: &'static str,
    /// The written location, with `-` resolved to the index it stands for.
    pub(super) pointer: JsonPointer,
    /// The items whose index changes, if the operation inserts or removes an array item.
    pub(super) shift: Option<IndexShift>,
}

/// A range of array items: every index from `first` to `last`, inclusive, gets another value.
#[derive(Debug)]
pub(super) struct IndexShift {
    pub(super) array: JsonPointer,
    pub(super) first: usize,
    pub(super) last: usize,
}

/// The array lengths of a document while a patch runs over it.
pub(super) struct ArrayLengths<'d> {
    document: &'d Value,
    changed_lengths: BTreeMap<String, usize>,
}

impl<'d> ArrayLengths<'d> {
    pub(super) fn new(document: &'d Value) -> Self {
        Self { document, changed_lengths: BTreeMap::new() }
    }

    /// Returns every write of the operation, in the order in which they happen.
    pub(super) fn collect_writes(&mut self, op: &PatchOperation) -> Vec<PatchWrite> {
        match op {
            PatchOperation::Add { path, .. } | PatchOperation::Copy { path, .. } => {
                vec![self.resolve_write("path", path, WriteEffect::Insert)]
            }
            PatchOperation::Remove { path } => {
                vec![self.resolve_write("path", path, WriteEffect::Remove)]
            }
            PatchOperation::Replace { path, .. } => {
                vec![self.resolve_write("path", path, WriteEffect::Set)]
            }
            // A `move` onto itself changes nothing but still counts as a write to the location.
            PatchOperation::Move { from, path } if from == path => {
                vec![self.resolve_write("path", path, WriteEffect::Set)]
            }
            PatchOperation::Move { from, path } => vec![
                self.resolve_write("from", from, WriteEffect::Remove),
                self.resolve_write("path", path, WriteEffect::Insert),
            ],
            PatchOperation::Test { .. } => Vec::new(),
        }
    }

    fn resolve_write(
        &mut self,
        member: &'static str,
        path: &JsonPointer,
        effect: WriteEffect,
    ) -> PatchWrite {
        match self.record_shift(path, effect) {
            Some(shift) => {
                let item = JsonPointer::from_array_item(shift.array.as_str(), shift.first);
                PatchWrite { member, pointer: item, shift: Some(shift) }
            }
            None => PatchWrite { member, pointer: path.clone(), shift: None },
        }
    }

    fn record_shift(&mut self, path: &JsonPointer, effect: WriteEffect) -> Option<IndexShift> {
        let (parent, segment) = path.split_last().filter(|_| effect != WriteEffect::Set)?;
        let length = self.current_length(parent)?;
        let first = match parse_index(&segment) {
            Some(index) => index,
            None if segment == "-" && effect == WriteEffect::Insert => length,
            // There is no such item, so the patch cannot be applied.
            None => return None,
        };
        let (last, after) = match effect {
            WriteEffect::Insert => (length, length + 1),
            _ => (length.saturating_sub(1), length.saturating_sub(1)),
        };
        self.changed_lengths.insert(parent.to_owned(), after);
        let array =
            JsonPointer::parse(parent).expect("a part of a pointer up to a `/` is a pointer");
        Some(IndexShift { array, first, last: last.max(first) })
    }

    /// Returns the current length of an array, or `None` if there was no array at this location
    /// when the patch began. An array that the patch itself adds lies completely inside what the
    /// patch writes.
    fn current_length(&self, array: &str) -> Option<usize> {
        self.changed_lengths
            .get(array)
            .copied()
            .or_else(|| find_value(self.document, array).ok()?.as_array().map(Vec::len))
    }
}
