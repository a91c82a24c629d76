//! Which places an operation writes, beyond the one it names.
//!
//! An item that is put into an array or taken out of it changes what stands at every later index.
//! The lengths of arrays change while a patch runs, so they are followed from operation to operation.

use std::collections::BTreeMap;

use serde_json::Value;

use super::pointer::index;
use super::slot::find;
use super::{Op, Pointer};

/// What an operation does at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Set,
    Insert,
    Remove,
}

/// One write.
#[derive(Debug)]
pub(super) struct Reach {
    /// The member of the operation that names the place: `path` or `from`.
    pub(super) member: &'static str,
    /// The place, with `-` turned into the index it stands for.
    pub(super) place: Pointer,
    /// The items that get another index, where the place is one of an array.
    pub(super) shift: Option<Shift>,
}

/// A stretch of an array: every index from `first` to `last` gets another value.
#[derive(Debug)]
pub(super) struct Shift {
    pub(super) array: Pointer,
    pub(super) first: usize,
    pub(super) last: usize,
}

/// A document as far as indices are concerned, while a patch runs over it.
pub(super) struct Lengths<'d> {
    document: &'d Value,
    changed: BTreeMap<String, usize>,
}

impl<'d> Lengths<'d> {
    pub(super) fn of(document: &'d Value) -> Self {
        Self { document, changed: BTreeMap::new() }
    }

    /// Every write of the operation, in the order in which they happen.
    pub(super) fn writes(&mut self, op: &Op) -> Vec<Reach> {
        match op {
            Op::Add { path, .. } | Op::Copy { path, .. } => {
                vec![self.reach("path", path, Effect::Insert)]
            }
            Op::Remove { path } => vec![self.reach("path", path, Effect::Remove)],
            Op::Replace { path, .. } => vec![self.reach("path", path, Effect::Set)],
            // Onto itself: nothing moves, and the place is named all the same.
            Op::Move { from, path } if from == path => {
                vec![self.reach("path", path, Effect::Set)]
            }
            Op::Move { from, path } => vec![
                self.reach("from", from, Effect::Remove),
                self.reach("path", path, Effect::Insert),
            ],
            Op::Test { .. } => Vec::new(),
        }
    }

    fn reach(&mut self, member: &'static str, path: &Pointer, effect: Effect) -> Reach {
        match self.shift(path, effect) {
            Some(shift) => {
                let place = Pointer::item(shift.array.as_str(), shift.first);
                Reach { member, place, shift: Some(shift) }
            }
            None => Reach { member, place: path.clone(), shift: None },
        }
    }

    fn shift(&mut self, path: &Pointer, effect: Effect) -> Option<Shift> {
        let (parent, segment) = path.split_last().filter(|_| effect != Effect::Set)?;
        let length = self.length(parent)?;
        let first = match index(&segment) {
            Some(index) => index,
            None if segment == "-" && effect == Effect::Insert => length,
            // No such item: the patch cannot be applied.
            None => return None,
        };
        let (last, after) = match effect {
            Effect::Insert => (length, length + 1),
            _ => (length.saturating_sub(1), length.saturating_sub(1)),
        };
        self.changed.insert(parent.to_owned(), after);
        let array = Pointer::parse(parent).expect("a part of a pointer up to a `/` is a pointer");
        Some(Shift { array, first, last: last.max(first) })
    }

    /// How many items an array has by now; `None` where no array stood when the patch began. One
    /// that the patch itself brings lies wholly inside what it writes.
    fn length(&self, array: &str) -> Option<usize> {
        self.changed
            .get(array)
            .copied()
            .or_else(|| find(self.document, array).ok()?.as_array().map(Vec::len))
    }
}
