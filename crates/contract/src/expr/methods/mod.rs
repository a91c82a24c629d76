//! Methods of arrays and strings.

pub(super) mod array_methods;
pub(super) mod string_methods;

use super::coerce::to_integer;
use super::eval_budget::EvalBudget;
use super::expr_error::UnlocatedError;
use super::expr_value::ExprValue;

/// Returns an argument, or `undefined` if it is missing.
pub(super) fn argument_at<'v, 'a>(args: &'v [ExprValue<'a>], index: usize) -> &'v ExprValue<'a> {
    args.get(index).unwrap_or(&ExprValue::Undefined)
}

/// Converts a value to a position that counts from the end if negative, clamped to 0 and the
/// length.
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

/// Like [`to_relative_index`], but `undefined` means the end.
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

/// Returns the position that `at` reads, or `None` if it is out of range.
fn to_exact_index(
    value: &ExprValue<'_>,
    length: usize,
    budget: &mut EvalBudget,
) -> Result<Option<usize>, UnlocatedError> {
    let position = to_integer(value, budget)?;
    let from_start = if position < 0.0 { length as f64 + position } else { position };
    Ok((from_start >= 0.0 && from_start < length as f64).then_some(from_start as usize))
}
