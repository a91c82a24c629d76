//! Functions that are not methods: conversions, `Object.*`, `Array.isArray`, `Math.*`. The
//! extensions `Text.*` and `Pointer.*` are in `text_functions.rs` and `pointer_functions.rs`.

use serde_json::{Map, Value};

use super::coerce::{to_boolean, to_expr_string, to_number};
use super::eval_budget::EvalBudget;
use super::expr_error::UnlocatedError;
use super::expr_string::{self, ExprString};
use super::expr_value::{ArrayElements, ExprValue};
use super::json_functions;
use super::methods::argument_at;
use super::methods::string_methods::split_code_units;
use super::pointer_functions;
use super::property::parse_array_index;
use super::text_functions;
use super::vocabulary::{BuiltinFunction, ConversionFunction};

/// Calls a builtin function; missing arguments are undefined.
pub(super) fn call_builtin<'a>(
    builtin: BuiltinFunction,
    args: &[ExprValue<'a>],
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    let first = argument_at(args, 0);
    Ok(match builtin {
        BuiltinFunction::Convert(by) => match (by, args) {
            (ConversionFunction::Number, []) => ExprValue::Num(0.0),
            (ConversionFunction::String, []) => ExprValue::Str(ExprString::Borrowed("")),
            _ => convert_value(by, first, budget)?,
        },
        BuiltinFunction::Keys => {
            ExprValue::new_list(list_keys(first, "Object.keys", budget)?, budget)?
        }
        BuiltinFunction::Values => {
            ExprValue::new_list(list_values(first, "Object.values", budget)?, budget)?
        }
        BuiltinFunction::Entries => {
            let keys = list_keys(first, "Object.entries", budget)?;
            let values = list_values(first, "Object.entries", budget)?;
            let mut pairs = Vec::with_capacity(keys.len());
            for (key, value) in keys.into_iter().zip(values) {
                pairs.push(ExprValue::new_list(vec![key, value], budget)?);
            }
            ExprValue::new_list(pairs, budget)?
        }
        BuiltinFunction::IsArray => ExprValue::Bool(ArrayElements::from_value(first).is_some()),
        BuiltinFunction::Min => ExprValue::Num(find_extreme(args, f64::INFINITY, is_less, budget)?),
        BuiltinFunction::Max => ExprValue::Num(find_extreme(
            args,
            f64::NEG_INFINITY,
            |left, right| is_less(right, left),
            budget,
        )?),
        BuiltinFunction::Abs => ExprValue::Num(to_number(first, budget)?.abs()),
        BuiltinFunction::Floor => ExprValue::Num(to_number(first, budget)?.floor()),
        BuiltinFunction::Ceil => ExprValue::Num(to_number(first, budget)?.ceil()),
        BuiltinFunction::Round => ExprValue::Num(math_round(to_number(first, budget)?)),
        BuiltinFunction::Sqrt => ExprValue::Num(to_number(first, budget)?.sqrt()),
        BuiltinFunction::Pow => {
            let (base, exponent) =
                (to_number(first, budget)?, to_number(argument_at(args, 1), budget)?);
            ExprValue::Num(math_pow(base, exponent))
        }
        BuiltinFunction::Trunc => ExprValue::Num(to_number(first, budget)?.trunc()),
        BuiltinFunction::Sign => ExprValue::Num(math_sign(to_number(first, budget)?)),
        BuiltinFunction::Stringify => json_functions::stringify_json(
            first,
            argument_at(args, 1),
            argument_at(args, 2),
            budget,
        )?,
        BuiltinFunction::Parse => json_functions::parse_json_value(first, budget)?,
        BuiltinFunction::Text(function) => {
            text_functions::call_text_function(function, first, argument_at(args, 1), budget)?
        }
        BuiltinFunction::Pointer(function) => {
            pointer_functions::call_pointer_function(function, first, argument_at(args, 1), budget)?
        }
    })
}

/// Evaluates `Boolean(value)`, `Number(value)` or `String(value)`.
pub(super) fn convert_value<'a>(
    by: ConversionFunction,
    value: &ExprValue<'a>,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    Ok(match by {
        ConversionFunction::Boolean => ExprValue::Bool(to_boolean(value)),
        ConversionFunction::Number => ExprValue::Num(to_number(value, budget)?),
        ConversionFunction::String => ExprValue::Str(to_expr_string(value, budget)?),
    })
}

fn list_keys<'a>(
    value: &ExprValue<'a>,
    function: &str,
    budget: &mut EvalBudget,
) -> Result<Vec<ExprValue<'a>>, UnlocatedError> {
    if let Some(map) = value.as_object() {
        let fields = list_fields(map, budget)?;
        return Ok(fields
            .into_iter()
            .map(|(name, _)| ExprValue::Str(ExprString::Borrowed(name)))
            .collect());
    }
    if let ExprValue::Object(object) = value {
        budget.charge_steps(object.fields().len())?;
        return Ok(object.fields().iter().map(|(name, _)| ExprValue::Str(name.clone())).collect());
    }
    let count = match value {
        ExprValue::Undefined | ExprValue::Null => return Err(no_fields_error(value, function)),
        ExprValue::Str(text) => expr_string::utf16_len(text.as_str()),
        _ => ArrayElements::from_value(value).map_or(0, |elements| elements.len()),
    };
    budget.charge_steps(count)?;
    (0..count).map(|index| ExprValue::new_string(index.to_string(), budget)).collect()
}

fn list_values<'a>(
    value: &ExprValue<'a>,
    function: &str,
    budget: &mut EvalBudget,
) -> Result<Vec<ExprValue<'a>>, UnlocatedError> {
    if let Some(map) = value.as_object() {
        let fields = list_fields(map, budget)?;
        return Ok(fields.into_iter().map(|(_, value)| ExprValue::from_json(value)).collect());
    }
    match value {
        ExprValue::Undefined | ExprValue::Null => Err(no_fields_error(value, function)),
        ExprValue::Object(object) => {
            budget.charge_steps(object.fields().len())?;
            Ok(object.fields().iter().map(|(_, value)| value.clone()).collect())
        }
        ExprValue::Str(text) => split_code_units(text, usize::MAX, budget),
        _ => {
            let Some(elements) = ArrayElements::from_value(value) else { return Ok(Vec::new()) };
            budget.charge_steps(elements.len())?;
            Ok((0..elements.len()).map(|index| elements.get(index)).collect())
        }
    }
}

/// Returns the fields in JavaScript's order: array indices ascending, then the others in document
/// order.
pub(super) fn list_fields<'a>(
    map: &'a Map<String, Value>,
    budget: &mut EvalBudget,
) -> Result<Vec<(&'a str, &'a Value)>, UnlocatedError> {
    budget.charge_steps(map.len())?;
    let mut fields: Vec<_> = map.iter().map(|(name, value)| (name.as_str(), value)).collect();
    fields.sort_by_key(|(name, _)| parse_array_index(name).map_or(u64::MAX, u64::from));
    Ok(fields)
}

fn no_fields_error(value: &ExprValue<'_>, function: &str) -> UnlocatedError {
    UnlocatedError::new(format!(
        "`{function}` needs an object or an array, found {}",
        value.describe()
    ))
}

/// Returns the first number in the given order; NaN if any argument is NaN.
fn find_extreme(
    args: &[ExprValue<'_>],
    start: f64,
    precedes: fn(f64, f64) -> bool,
    budget: &mut EvalBudget,
) -> Result<f64, UnlocatedError> {
    let mut best = start;
    for value in args {
        let number = to_number(value, budget)?;
        if number.is_nan() || (!best.is_nan() && precedes(number, best)) {
            best = number;
        }
    }
    Ok(best)
}

/// Numeric order in which `-0` precedes `0`.
fn is_less(left: f64, right: f64) -> bool {
    left < right || (left == right && left.is_sign_negative() && !right.is_sign_negative())
}

/// `Math.pow`: unlike in C, ±1 to an infinite or NaN power is NaN.
fn math_pow(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || (exponent.is_infinite() && base.abs() == 1.0) {
        return f64::NAN;
    }
    base.powf(exponent)
}

/// `Math.sign`: -1, 1, or the number itself if it is zero or NaN.
fn math_sign(number: f64) -> f64 {
    if number == 0.0 || number.is_nan() { number } else { number.signum() }
}

/// `Math.round`: rounds halves up, also for negative numbers, and keeps the sign of zero.
fn math_round(number: f64) -> f64 {
    let floor = number.floor();
    let rounded = if number - floor >= 0.5 { floor + 1.0 } else { floor };
    if rounded == 0.0 { 0.0_f64.copysign(number) } else { rounded }
}
