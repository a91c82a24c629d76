//! One page of a tree, as `SQLite` writes it.

use std::cmp::Ordering;
use std::ops::Range;

use rusqlite::types::ValueRef;

use super::record::{Values, stands, varint};

/// Every page of an index has so many cells.
const AT_LEAST: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    IndexInterior = 2,
    TableInterior = 5,
    IndexLeaf = 10,
    TableLeaf = 13,
}

/// A page of which nothing is sure but its length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page<'a> {
    bytes: &'a [u8],
    kind: Kind,
    cells: usize,
}

impl<'a> Page<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Option<Self> {
        let kinds = [Kind::IndexInterior, Kind::TableInterior, Kind::IndexLeaf, Kind::TableLeaf];
        let kind = kinds.into_iter().find(|kind| bytes.first() == Some(&(*kind as u8)))?;
        let cells = u16::from_be_bytes(part(bytes, 3)?).into();
        Some(Self { bytes, kind, cells })
    }

    pub(super) fn is_leaf(self) -> bool {
        !self.is_interior()
    }

    fn is_interior(self) -> bool {
        matches!(self.kind, Kind::IndexInterior | Kind::TableInterior)
    }

    fn cell(self, number: usize) -> Option<&'a [u8]> {
        let header = if self.is_interior() { 12 } else { 8 };
        let at = u16::from_be_bytes(part(self.bytes, header + 2 * number)?);
        self.bytes.get(usize::from(at)..)
    }

    /// A page below: the one before a cell, or behind the last.
    fn below(self, number: usize) -> Option<u32> {
        let place =
            if number < self.cells { part(self.cell(number)?, 0) } else { part(self.bytes, 8) };
        place.map(u32::from_be_bytes)
    }

    /// All pages below; none below a leaf.
    pub(super) fn all_below(self) -> Option<Vec<u32>> {
        let numbers = if self.is_interior() { 0..=self.cells } else { return Some(Vec::new()) };
        numbers.map(|number| self.below(number)).collect()
    }

    /// A record of an index.
    fn record(self, number: usize) -> Option<&'a [u8]> {
        let cell = self.cell(number)?.get(if self.is_interior() { 4.. } else { 0.. })?;
        let (_, length) = varint(cell)?;
        cell.get(length..)
    }

    /// The records of an index that begin with these values.
    fn beginning(self, prefix: &[ValueRef<'_>]) -> Option<Range<usize>> {
        let order = |number| stands(self.record(number)?, prefix);
        let from = self.first(|number| order(number).map(Ordering::is_ge))?;
        Some(from..self.first(|number| order(number).map(Ordering::is_gt))?)
    }

    /// The first cell that this is true of: of those behind it it is true as well.
    fn first(self, is: impl Fn(usize) -> Option<bool>) -> Option<usize> {
        let (mut from, mut to) = (0, self.cells);
        while from < to {
            let middle = from.midpoint(to);
            if is(middle)? {
                to = middle;
            } else {
                from = middle + 1;
            }
        }
        Some(from)
    }

    /// Where to go on for the records of an index that begin with these values, the last of them: pages below,
    /// and rows that they stand for.
    pub(super) fn entries(
        self,
        prefix: &[ValueRef<'_>],
        most: usize,
    ) -> Option<(Vec<u32>, Vec<i64>)> {
        let here = match self.kind {
            Kind::IndexInterior | Kind::IndexLeaf => self.beginning(prefix)?,
            Kind::TableInterior | Kind::TableLeaf => return None,
        };
        let mut below = Vec::new();
        if self.is_interior() {
            let last = (here.start..=here.end).rev().take(most.div_ceil(AT_LEAST) + 1);
            below = last.map(|number| self.below(number)).collect::<Option<_>>()?;
        }
        let rows = here.rev().take(most).filter_map(|number| {
            match Values::of(self.record(number)?)?.last()? {
                ValueRef::Integer(row) => Some(row),
                _ => None,
            }
        });
        Some((below, rows.collect()))
    }

    /// Where to go on for a row of a table; `None` where it is here.
    pub(super) fn row(self, row: i64) -> Option<u32> {
        if self.kind != Kind::TableInterior {
            return None;
        }
        let last = |number| varint(self.cell(number)?.get(4..)?);
        let number = self.first(|number| Some(last(number)?.0.cast_signed() >= row))?;
        self.below(number)
    }
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}
