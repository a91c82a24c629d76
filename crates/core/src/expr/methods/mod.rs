//! What the methods of arrays and strings do.

pub(super) mod array;
pub(super) mod string;

use super::budget::Budget;
use super::coerce::to_integer;
use super::error::Fault;
use super::value::Val;

/// An argument, or `undefined` where none was given.
pub(super) fn argument<'v, 'a>(args: &'v [Val<'a>], index: usize) -> &'v Val<'a> {
    args.get(index).unwrap_or(&Val::Undefined)
}

/// A position that counts from the end when negative, held between 0 and the length.
fn relative(value: &Val<'_>, length: usize, budget: &mut Budget) -> Result<usize, Fault> {
    let position = to_integer(value, budget)?;
    let length = length as f64;
    let from_start = if position < 0.0 { length + position } else { position };
    Ok(from_start.clamp(0.0, length) as usize)
}

/// As [`relative`], but `undefined` means the end.
fn relative_end(value: &Val<'_>, length: usize, budget: &mut Budget) -> Result<usize, Fault> {
    if matches!(value, Val::Undefined) { Ok(length) } else { relative(value, length, budget) }
}

/// The one place `at` asks for, if there is such a place.
fn exactly(value: &Val<'_>, length: usize, budget: &mut Budget) -> Result<Option<usize>, Fault> {
    let position = to_integer(value, budget)?;
    let from_start = if position < 0.0 { length as f64 + position } else { position };
    Ok((from_start >= 0.0 && from_start < length as f64).then_some(from_start as usize))
}
