//! JavaScript's conversions and comparisons: what a value becomes where another kind is wanted.

use std::cmp::Ordering;
use std::rc::Rc;

use serde_json::Value;

use super::budget::Budget;
use super::error::Fault;
use super::number::{from_js_string, to_js_string};
use super::property::own;
use super::text::{self, Text};
use super::value::Val;

/// How deep arrays may hold one another and still be written as a string.
const MAX_JOIN_DEPTH: usize = 256;

/// `ToBoolean`: what counts as true.
pub(super) fn to_boolean(value: &Val<'_>) -> bool {
    match value {
        Val::Undefined | Val::Null => false,
        Val::Bool(truth) => *truth,
        Val::Num(number) => *number != 0.0 && !number.is_nan(),
        Val::Str(text) => !text.as_str().is_empty(),
        Val::Json(_) | Val::List(_) | Val::Object(_) => true,
    }
}

/// `ToNumber`.
pub(super) fn to_number(value: &Val<'_>, budget: &mut Budget) -> Result<f64, Fault> {
    Ok(match value {
        Val::Undefined => f64::NAN,
        Val::Null => 0.0,
        Val::Bool(truth) => f64::from(u8::from(*truth)),
        Val::Num(number) => *number,
        Val::Str(text) => {
            budget.scan(text.as_str().len())?;
            from_js_string(text.as_str())
        }
        Val::Json(_) | Val::List(_) | Val::Object(_) => {
            from_js_string(to_text(value, budget)?.as_str())
        }
    })
}

/// `ToIntegerOrInfinity`: the fraction is cut off, NaN is 0.
pub(super) fn to_integer(value: &Val<'_>, budget: &mut Budget) -> Result<f64, Fault> {
    let number = to_number(value, budget)?;
    Ok(if number.is_nan() { 0.0 } else { number.trunc() })
}

/// `ToString`, borrowed where it is a string already.
pub(super) fn to_text<'a>(value: &Val<'a>, budget: &mut Budget) -> Result<Text<'a>, Fault> {
    if let Val::Str(text) = value {
        return Ok(text.clone());
    }
    let mut written = String::new();
    write_text(value, &mut written, budget, 0)?;
    Ok(Text::from(written))
}

/// `ToPrimitive`: arrays and objects become strings, everything else stays.
pub(super) fn to_primitive<'a>(value: &Val<'a>, budget: &mut Budget) -> Result<Val<'a>, Fault> {
    match value {
        Val::Json(_) | Val::List(_) | Val::Object(_) => Ok(Val::Str(to_text(value, budget)?)),
        _ => Ok(value.clone()),
    }
}

/// Appends `ToString(value)`, paying for every byte.
pub(super) fn write_text(
    value: &Val<'_>,
    out: &mut String,
    budget: &mut Budget,
    depth: usize,
) -> Result<(), Fault> {
    match value {
        Val::Undefined => push("undefined", out, budget),
        Val::Null => push("null", out, budget),
        Val::Bool(truth) => push(if *truth { "true" } else { "false" }, out, budget),
        Val::Num(number) => push(&to_js_string(*number), out, budget),
        Val::Str(text) => push(text.as_str(), out, budget),
        Val::Json(Value::Array(items)) => {
            join(items.iter().map(Val::from_json), ",", out, budget, depth)
        }
        Val::Json(json) => {
            let renamed = json.as_object().is_some_and(|map| own(map, "toString").is_some());
            write_object(renamed, out, budget)
        }
        Val::Object(object) => write_object(object.get("toString").is_some(), out, budget),
        Val::List(list) => join(list.items().iter().cloned(), ",", out, budget, depth),
    }
}

fn write_object(renamed: bool, out: &mut String, budget: &mut Budget) -> Result<(), Fault> {
    if renamed {
        return Err(Fault::new(
            "an object with a field `toString` cannot be made a string or a number",
        ));
    }
    push("[object Object]", out, budget)
}

/// Appends the elements with a separator between them; `null` and `undefined` are written as nothing.
pub(super) fn join<'a>(
    items: impl Iterator<Item = Val<'a>>,
    separator: &str,
    out: &mut String,
    budget: &mut Budget,
    depth: usize,
) -> Result<(), Fault> {
    if depth > MAX_JOIN_DEPTH {
        return Err(Fault::new(format!(
            "the depth budget is spent: arrays more than {MAX_JOIN_DEPTH} deep cannot be made a string"
        )));
    }
    for (index, item) in items.enumerate() {
        budget.work(1)?;
        if index > 0 {
            push(separator, out, budget)?;
        }
        if !item.is_nullish() {
            write_text(&item, out, budget, depth + 1)?;
        }
    }
    Ok(())
}

fn push(text: &str, out: &mut String, budget: &mut Budget) -> Result<(), Fault> {
    budget.create(text.len())?;
    out.push_str(text);
    Ok(())
}

/// `===`: arrays and objects are equal only to themselves.
pub(super) fn strict_equal(left: &Val<'_>, right: &Val<'_>) -> bool {
    match (left, right) {
        (Val::Undefined, Val::Undefined) | (Val::Null, Val::Null) => true,
        (Val::Bool(left), Val::Bool(right)) => left == right,
        (Val::Num(left), Val::Num(right)) => left == right,
        (Val::Str(left), Val::Str(right)) => left.as_str() == right.as_str(),
        (Val::Json(left), Val::Json(right)) => std::ptr::eq(*left, *right),
        (Val::List(left), Val::List(right)) => Rc::ptr_eq(left, right),
        (Val::Object(left), Val::Object(right)) => Rc::ptr_eq(left, right),
        _ => false,
    }
}

/// `SameValueZero`, which `includes` uses: as `===`, but NaN equals itself.
pub(super) fn same_value(left: &Val<'_>, right: &Val<'_>) -> bool {
    match (left, right) {
        (Val::Num(left), Val::Num(right)) if left.is_nan() => right.is_nan(),
        _ => strict_equal(left, right),
    }
}

/// `==`, with JavaScript's conversions.
pub(super) fn loose_equal(
    left: &Val<'_>,
    right: &Val<'_>,
    budget: &mut Budget,
) -> Result<bool, Fault> {
    let is_object = |value: &Val<'_>| matches!(value, Val::Json(_) | Val::List(_) | Val::Object(_));
    match (left, right) {
        _ if left.is_nullish() || right.is_nullish() => Ok(left.is_nullish() && right.is_nullish()),
        (Val::Bool(_), Val::Bool(_)) | (Val::Num(_), Val::Num(_)) | (Val::Str(_), Val::Str(_)) => {
            Ok(strict_equal(left, right))
        }
        _ if is_object(left) && is_object(right) => Ok(strict_equal(left, right)),
        _ if is_object(left) => loose_equal(&to_primitive(left, budget)?, right, budget),
        _ if is_object(right) => loose_equal(left, &to_primitive(right, budget)?, budget),
        _ => Ok(to_number(left, budget)? == to_number(right, budget)?),
    }
}

/// The order that `<` and its kin ask for; `None` where a NaN is involved.
pub(super) fn order(
    left: &Val<'_>,
    right: &Val<'_>,
    budget: &mut Budget,
) -> Result<Option<Ordering>, Fault> {
    if let (Val::Num(left), Val::Num(right)) = (left, right) {
        return Ok(left.partial_cmp(right));
    }
    let left = to_primitive(left, budget)?;
    let right = to_primitive(right, budget)?;
    if let (Val::Str(left), Val::Str(right)) = (&left, &right) {
        budget.scan(left.as_str().len().min(right.as_str().len()))?;
        return Ok(Some(text::compare(left.as_str(), right.as_str())));
    }
    Ok(to_number(&left, budget)?.partial_cmp(&to_number(&right, budget)?))
}
