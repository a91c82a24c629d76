//! JavaScript's conversions and comparisons between types of values.

use std::cmp::Ordering;
use std::rc::Rc;

use serde_json::Value;

use super::eval_budget::EvalBudget;
use super::expr_error::UnlocatedError;
use super::expr_string::{self, ExprString};
use super::expr_value::ExprValue;
use super::js_number::{from_js_string, to_js_string};
use super::property::get_own_field;

/// Maximum nesting of arrays that can be converted to a string.
const MAX_JOIN_DEPTH: usize = 256;

/// `ToBoolean`: returns whether the value is truthy.
pub(super) fn to_boolean(value: &ExprValue<'_>) -> bool {
    match value {
        ExprValue::Undefined | ExprValue::Null => false,
        ExprValue::Bool(truth) => *truth,
        ExprValue::Num(number) => *number != 0.0 && !number.is_nan(),
        ExprValue::Str(text) => !text.as_str().is_empty(),
        ExprValue::Json(_) | ExprValue::List(_) | ExprValue::Object(_) => true,
    }
}

/// JavaScript's `ToNumber` conversion.
pub(super) fn to_number(
    value: &ExprValue<'_>,
    budget: &mut EvalBudget,
) -> Result<f64, UnlocatedError> {
    Ok(match value {
        ExprValue::Undefined => f64::NAN,
        ExprValue::Null => 0.0,
        ExprValue::Bool(truth) => f64::from(u8::from(*truth)),
        ExprValue::Num(number) => *number,
        ExprValue::Str(text) => {
            budget.charge_scan(text.as_str().len())?;
            from_js_string(text.as_str())
        }
        ExprValue::Json(_) | ExprValue::List(_) | ExprValue::Object(_) => {
            from_js_string(to_expr_string(value, budget)?.as_str())
        }
    })
}

/// `ToIntegerOrInfinity`: truncates the fraction; NaN becomes 0.
pub(super) fn to_integer(
    value: &ExprValue<'_>,
    budget: &mut EvalBudget,
) -> Result<f64, UnlocatedError> {
    let number = to_number(value, budget)?;
    Ok(if number.is_nan() { 0.0 } else { number.trunc() })
}

/// `ToString`: borrows the value if it already is a string.
pub(super) fn to_expr_string<'a>(
    value: &ExprValue<'a>,
    budget: &mut EvalBudget,
) -> Result<ExprString<'a>, UnlocatedError> {
    if let ExprValue::Str(text) = value {
        return Ok(text.clone());
    }
    let mut written = String::new();
    append_value(value, &mut written, budget, 0)?;
    Ok(ExprString::from(written))
}

/// `ToPrimitive`: converts arrays and objects to strings, and keeps everything else.
pub(super) fn to_primitive<'a>(
    value: &ExprValue<'a>,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    match value {
        ExprValue::Json(_) | ExprValue::List(_) | ExprValue::Object(_) => {
            Ok(ExprValue::Str(to_expr_string(value, budget)?))
        }
        _ => Ok(value.clone()),
    }
}

/// Appends `ToString(value)` and charges the budget for every byte.
pub(super) fn append_value(
    value: &ExprValue<'_>,
    out: &mut String,
    budget: &mut EvalBudget,
    depth: usize,
) -> Result<(), UnlocatedError> {
    match value {
        ExprValue::Undefined => append_text("undefined", out, budget),
        ExprValue::Null => append_text("null", out, budget),
        ExprValue::Bool(truth) => append_text(if *truth { "true" } else { "false" }, out, budget),
        ExprValue::Num(number) => append_text(&to_js_string(*number), out, budget),
        ExprValue::Str(text) => append_text(text.as_str(), out, budget),
        ExprValue::Json(Value::Array(items)) => {
            append_joined(items.iter().map(ExprValue::from_json), ",", out, budget, depth)
        }
        ExprValue::Json(json) => {
            let renamed =
                json.as_object().is_some_and(|map| get_own_field(map, "toString").is_some());
            append_object(renamed, out, budget)
        }
        ExprValue::Object(object) => append_object(object.get("toString").is_some(), out, budget),
        ExprValue::List(list) => {
            append_joined(list.items().iter().cloned(), ",", out, budget, depth)
        }
    }
}

fn append_object(
    renamed: bool,
    out: &mut String,
    budget: &mut EvalBudget,
) -> Result<(), UnlocatedError> {
    if renamed {
        return Err(UnlocatedError::new(
            "an object with a field `toString` cannot be converted to a string or a number",
        ));
    }
    append_text("[object Object]", out, budget)
}

/// Appends the elements with a separator between them; `null` and `undefined` become empty.
pub(super) fn append_joined<'a>(
    items: impl Iterator<Item = ExprValue<'a>>,
    separator: &str,
    out: &mut String,
    budget: &mut EvalBudget,
    depth: usize,
) -> Result<(), UnlocatedError> {
    if depth > MAX_JOIN_DEPTH {
        return Err(UnlocatedError::new(format!(
            "the depth budget is spent: arrays more than {MAX_JOIN_DEPTH} deep cannot be converted to a string"
        )));
    }
    for (index, item) in items.enumerate() {
        budget.charge_steps(1)?;
        if index > 0 {
            append_text(separator, out, budget)?;
        }
        if !item.is_nullish() {
            append_value(&item, out, budget, depth + 1)?;
        }
    }
    Ok(())
}

fn append_text(
    text: &str,
    out: &mut String,
    budget: &mut EvalBudget,
) -> Result<(), UnlocatedError> {
    budget.charge_bytes(text.len())?;
    out.push_str(text);
    Ok(())
}

/// `===`: arrays and objects are equal only to themselves.
pub(super) fn is_strictly_equal(left: &ExprValue<'_>, right: &ExprValue<'_>) -> bool {
    match (left, right) {
        (ExprValue::Undefined, ExprValue::Undefined) | (ExprValue::Null, ExprValue::Null) => true,
        (ExprValue::Bool(left), ExprValue::Bool(right)) => left == right,
        (ExprValue::Num(left), ExprValue::Num(right)) => left == right,
        (ExprValue::Str(left), ExprValue::Str(right)) => left.as_str() == right.as_str(),
        (ExprValue::Json(left), ExprValue::Json(right)) => std::ptr::eq(*left, *right),
        (ExprValue::List(left), ExprValue::List(right)) => Rc::ptr_eq(left, right),
        (ExprValue::Object(left), ExprValue::Object(right)) => Rc::ptr_eq(left, right),
        _ => false,
    }
}

/// `SameValueZero`, which `includes` uses: like `===`, but NaN equals itself.
pub(super) fn is_same_value_zero(left: &ExprValue<'_>, right: &ExprValue<'_>) -> bool {
    match (left, right) {
        (ExprValue::Num(left), ExprValue::Num(right)) if left.is_nan() => right.is_nan(),
        _ => is_strictly_equal(left, right),
    }
}

/// `==`, with JavaScript's conversions.
pub(super) fn is_loosely_equal(
    left: &ExprValue<'_>,
    right: &ExprValue<'_>,
    budget: &mut EvalBudget,
) -> Result<bool, UnlocatedError> {
    let is_object = |value: &ExprValue<'_>| {
        matches!(value, ExprValue::Json(_) | ExprValue::List(_) | ExprValue::Object(_))
    };
    match (left, right) {
        _ if left.is_nullish() || right.is_nullish() => Ok(left.is_nullish() && right.is_nullish()),
        (ExprValue::Bool(_), ExprValue::Bool(_))
        | (ExprValue::Num(_), ExprValue::Num(_))
        | (ExprValue::Str(_), ExprValue::Str(_)) => Ok(is_strictly_equal(left, right)),
        _ if is_object(left) && is_object(right) => Ok(is_strictly_equal(left, right)),
        _ if is_object(left) => is_loosely_equal(&to_primitive(left, budget)?, right, budget),
        _ if is_object(right) => is_loosely_equal(left, &to_primitive(right, budget)?, budget),
        _ => Ok(to_number(left, budget)? == to_number(right, budget)?),
    }
}

/// Returns the order that `<`, `>`, `<=` and `>=` test; `None` if a NaN is involved.
pub(super) fn compare_values(
    left: &ExprValue<'_>,
    right: &ExprValue<'_>,
    budget: &mut EvalBudget,
) -> Result<Option<Ordering>, UnlocatedError> {
    if let (ExprValue::Num(left), ExprValue::Num(right)) = (left, right) {
        return Ok(left.partial_cmp(right));
    }
    let left = to_primitive(left, budget)?;
    let right = to_primitive(right, budget)?;
    if let (ExprValue::Str(left), ExprValue::Str(right)) = (&left, &right) {
        budget.charge_scan(left.as_str().len().min(right.as_str().len()))?;
        return Ok(Some(expr_string::compare_utf16(left.as_str(), right.as_str())));
    }
    Ok(to_number(&left, budget)?.partial_cmp(&to_number(&right, budget)?))
}
