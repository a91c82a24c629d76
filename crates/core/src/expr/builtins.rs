//! The functions that belong to no value: conversions, `Object.*`, `Array.isArray`, `Math.*`;
//! ours, `Text.*` and `Pointer.*`, are in `natural.rs` and `pointers.rs`.

use serde_json::{Map, Value};

use super::budget::Budget;
use super::coerce::{to_boolean, to_number, to_text};
use super::error::Fault;
use super::json_text;
use super::methods::argument;
use super::methods::string::code_units;
use super::natural;
use super::pointers;
use super::property::array_index;
use super::text::{self, Text};
use super::value::{Elements, Val};
use super::vocabulary::{Builtin, Convert};

/// Calls a builtin.
pub(super) fn call<'a>(
    builtin: Builtin,
    args: &[Val<'a>],
    budget: &mut Budget,
) -> Result<Val<'a>, Fault> {
    let first = argument(args, 0);
    Ok(match builtin {
        Builtin::Convert(by) => match (by, args) {
            (Convert::Number, []) => Val::Num(0.0),
            (Convert::String, []) => Val::Str(Text::Borrowed("")),
            _ => convert(by, first, budget)?,
        },
        Builtin::Keys => Val::list(keys(first, "Object.keys", budget)?, budget)?,
        Builtin::Values => Val::list(values(first, "Object.values", budget)?, budget)?,
        Builtin::Entries => {
            let keys = keys(first, "Object.entries", budget)?;
            let values = values(first, "Object.entries", budget)?;
            let mut pairs = Vec::with_capacity(keys.len());
            for (key, value) in keys.into_iter().zip(values) {
                pairs.push(Val::list(vec![key, value], budget)?);
            }
            Val::list(pairs, budget)?
        }
        Builtin::IsArray => Val::Bool(Elements::of(first).is_some()),
        Builtin::Min => Val::Num(extreme(args, f64::INFINITY, is_less, budget)?),
        Builtin::Max => {
            Val::Num(extreme(args, f64::NEG_INFINITY, |left, right| is_less(right, left), budget)?)
        }
        Builtin::Abs => Val::Num(to_number(first, budget)?.abs()),
        Builtin::Floor => Val::Num(to_number(first, budget)?.floor()),
        Builtin::Ceil => Val::Num(to_number(first, budget)?.ceil()),
        Builtin::Round => Val::Num(round(to_number(first, budget)?)),
        Builtin::Sqrt => Val::Num(to_number(first, budget)?.sqrt()),
        Builtin::Pow => {
            let (base, exponent) =
                (to_number(first, budget)?, to_number(argument(args, 1), budget)?);
            Val::Num(power(base, exponent))
        }
        Builtin::Trunc => Val::Num(to_number(first, budget)?.trunc()),
        Builtin::Sign => Val::Num(sign(to_number(first, budget)?)),
        Builtin::Stringify => {
            json_text::stringify(first, argument(args, 1), argument(args, 2), budget)?
        }
        Builtin::Parse => json_text::parse(first, budget)?,
        Builtin::Text(function) => natural::call(function, first, argument(args, 1), budget)?,
        Builtin::Pointer(function) => pointers::call(function, first, argument(args, 1), budget)?,
    })
}

/// `Boolean(value)`, `Number(value)`, `String(value)`.
pub(super) fn convert<'a>(
    by: Convert,
    value: &Val<'a>,
    budget: &mut Budget,
) -> Result<Val<'a>, Fault> {
    Ok(match by {
        Convert::Boolean => Val::Bool(to_boolean(value)),
        Convert::Number => Val::Num(to_number(value, budget)?),
        Convert::String => Val::Str(to_text(value, budget)?),
    })
}

fn keys<'a>(value: &Val<'a>, asked: &str, budget: &mut Budget) -> Result<Vec<Val<'a>>, Fault> {
    if let Some(map) = value.as_object() {
        let fields = fields(map, budget)?;
        return Ok(fields.into_iter().map(|(name, _)| Val::Str(Text::Borrowed(name))).collect());
    }
    if let Val::Object(object) = value {
        budget.work(object.fields().len())?;
        return Ok(object.fields().iter().map(|(name, _)| Val::Str(name.clone())).collect());
    }
    let count = match value {
        Val::Undefined | Val::Null => return Err(no_fields(value, asked)),
        Val::Str(text) => text::length(text.as_str()),
        _ => Elements::of(value).map_or(0, |elements| elements.len()),
    };
    budget.work(count)?;
    (0..count).map(|index| Val::string(index.to_string(), budget)).collect()
}

fn values<'a>(value: &Val<'a>, asked: &str, budget: &mut Budget) -> Result<Vec<Val<'a>>, Fault> {
    if let Some(map) = value.as_object() {
        let fields = fields(map, budget)?;
        return Ok(fields.into_iter().map(|(_, value)| Val::from_json(value)).collect());
    }
    match value {
        Val::Undefined | Val::Null => Err(no_fields(value, asked)),
        Val::Object(object) => {
            budget.work(object.fields().len())?;
            Ok(object.fields().iter().map(|(_, value)| value.clone()).collect())
        }
        Val::Str(text) => code_units(text, usize::MAX, budget),
        _ => {
            let Some(elements) = Elements::of(value) else { return Ok(Vec::new()) };
            budget.work(elements.len())?;
            Ok((0..elements.len()).map(|index| elements.get(index)).collect())
        }
    }
}

/// The fields in JavaScript's order: array indices ascending, then the others as they were written.
pub(super) fn fields<'a>(
    map: &'a Map<String, Value>,
    budget: &mut Budget,
) -> Result<Vec<(&'a str, &'a Value)>, Fault> {
    budget.work(map.len())?;
    let mut fields: Vec<_> = map.iter().map(|(name, value)| (name.as_str(), value)).collect();
    fields.sort_by_key(|(name, _)| array_index(name).map_or(u64::MAX, u64::from));
    Ok(fields)
}

fn no_fields(value: &Val<'_>, asked: &str) -> Fault {
    Fault::new(format!("`{asked}` needs an object or an array, found {}", value.describe()))
}

/// The first of the numbers in this order; any NaN wins over all.
fn extreme(
    args: &[Val<'_>],
    start: f64,
    precedes: fn(f64, f64) -> bool,
    budget: &mut Budget,
) -> Result<f64, Fault> {
    let mut best = start;
    for value in args {
        let number = to_number(value, budget)?;
        if number.is_nan() || (!best.is_nan() && precedes(number, best)) {
            best = number;
        }
    }
    Ok(best)
}

/// Numeric order in which `-0` comes before `0`.
fn is_less(left: f64, right: f64) -> bool {
    left < right || (left == right && left.is_sign_negative() && !right.is_sign_negative())
}

/// `Math.pow`: unlike C, there is no power of ±1 where the exponent has no end or is not a number.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || (exponent.is_infinite() && base.abs() == 1.0) {
        return f64::NAN;
    }
    base.powf(exponent)
}

/// `Math.sign`: -1, 1, or the number itself where it is zero or not a number.
fn sign(number: f64) -> f64 {
    if number == 0.0 || number.is_nan() { number } else { number.signum() }
}

/// Halves go up, also below zero; the sign of zero is kept.
fn round(number: f64) -> f64 {
    let floor = number.floor();
    let rounded = if number - floor >= 0.5 { floor + 1.0 } else { floor };
    if rounded == 0.0 { 0.0_f64.copysign(number) } else { rounded }
}
