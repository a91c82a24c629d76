//! What the methods of arrays and strings do.

pub(super) mod array_methods;
pub(super) mod string_methods;

use super::coerce::to_integer;
use super::eval_budget::EvalBudget;
use super::expr_error::UnlocatedError;
use super::expr_value::ExprValue;

/// An argument, or `undefined` where none was given.
pub(super) fn argument_at<'v, 'a>(args: &'v [ExprValue<'a>], index: usize) -> &'v ExprValue<'a> {
    args.get(index).unwrap_or(&ExprValue::Undefined)
}

/// A position that counts from the end when negative, held between 0 and the length.
fn to_relative_index(
    value: &ExprValue<'_>,
    length: usize,
    budget: &mut EvalBudget,
) -> Result<usize, UnlocatedError> {
    let position = to_integer(value, budget)?;
    let length = length as f64;
    let from_start = if position < 0.0 { length + position } else { position };
    Ok(from_start.clamp(0.0, length) as usize)
}

/// As [`to_relative_index`], but `undefined` means the end.
fn to_relative_end(
    value: &ExprValue<'_>,
    length: usize,
    budget: &mut EvalBudget,
) -> Result<usize, UnlocatedError> {
    if matches!(value, ExprValue::Undefined) {
        Ok(length)
    } else {
        to_relative_index(value, length, budget)
    }
}

/// The one place `at` asks for, if there is such a place.
fn to_exact_index(
    value: &ExprValue<'_>,
    length: usize,
    budget: &mut EvalBudget,
) -> Result<Option<usize>, UnlocatedError> {
    let position = to_integer(value, budget)?;
    let from_start = if position < 0.0 { length as f64 + position } else { position };
    Ok((from_start >= 0.0 && from_start < length as f64).then_some(from_start as usize))
}
