//! A row as it lies in a tree: the kinds of its values, then the values.

use std::cmp::Ordering;

use rusqlite::types::ValueRef;

/// A number in seven bits a byte, the highest first; and how many bytes it takes.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for (at, byte) in bytes.iter().take(9).enumerate() {
        if at == 8 {
            return Some((value << 8 | u64::from(*byte), 9));
        }
        value = value << 7 | u64::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}

/// The values of a record, in their order; it ends where they do, and at one that is not all there.
pub(super) struct Values<'a> {
    kinds: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Values<'a> {
    pub(super) fn of(record: &'a [u8]) -> Option<Self> {
        let (length, begin) = varint(record)?;
        let (kinds, rest) = record.split_at_checked(usize::try_from(length).ok()?)?;
        Some(Self { kinds: kinds.get(begin..)?, rest })
    }

    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let (value, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(value)
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = ValueRef<'a>;

    fn next(&mut self) -> Option<ValueRef<'a>> {
        let (kind, length) = varint(self.kinds)?;
        self.kinds = &self.kinds[length..];
        Some(match kind {
            0 => ValueRef::Null,
            1..=4 => ValueRef::Integer(whole(self.take(kind)?)),
            5 => ValueRef::Integer(whole(self.take(6)?)),
            6 => ValueRef::Integer(whole(self.take(8)?)),
            7 => ValueRef::Real(f64::from_bits(whole(self.take(8)?).cast_unsigned())),
            8 => ValueRef::Integer(0),
            9 => ValueRef::Integer(1),
            10 | 11 => return None,
            _ if kind % 2 == 0 => ValueRef::Blob(self.take((kind - 12) / 2)?),
            _ => ValueRef::Text(self.take((kind - 13) / 2)?),
        })
    }
}

/// A whole number, the highest byte first.
fn whole(bytes: &[u8]) -> i64 {
    let first = if bytes.first().is_some_and(|first| first & 0x80 != 0) { -1 } else { 0 };
    bytes.iter().fold(first, |value, byte| value << 8 | i64::from(*byte))
}

/// How a record stands to those that begin with these values; `None` where that cannot be said.
pub(super) fn stands(record: &[u8], prefix: &[ValueRef<'_>]) -> Option<Ordering> {
    let mut values = Values::of(record)?;
    for sought in prefix {
        let order = match (values.next()?, sought) {
            (ValueRef::Integer(value), ValueRef::Integer(sought)) => value.cmp(sought),
            (ValueRef::Text(value), ValueRef::Text(sought)) => value.cmp(sought),
            _ => return None,
        };
        if order.is_ne() {
            return Some(order);
        }
    }
    Some(Ordering::Equal)
}
