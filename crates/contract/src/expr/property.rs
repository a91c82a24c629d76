//! Property access: own fields, elements and lengths, but nothing from a prototype.
//!
//! A name that JavaScript finds on every object is absent unless the object itself has it; `check`
//! reports where an expression uses such a name.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::coerce::to_expr_string;
use super::eval_budget::EvalBudget;
use super::expr_error::UnlocatedError;
use super::expr_string;
use super::expr_value::{ArrayElements, ExprValue};
use super::vocabulary::JsPrototype;
use crate::json::find_member;

/// Property key after JavaScript's `ToPropertyKey` conversion.
#[derive(Debug)]
pub(super) enum PropertyKey<'k> {
    /// A canonical array index.
    Index(u32),
    /// Any other name.
    Name(Cow<'k, str>),
}

impl<'k> PropertyKey<'k> {
    pub(super) fn from_value(
        value: &'k ExprValue<'_>,
        budget: &mut EvalBudget,
    ) -> Result<Self, UnlocatedError> {
        match value {
            ExprValue::Num(number)
                if *number >= 0.0 && number.fract() == 0.0 && *number < MAX_INDEX =>
            {
                Ok(Self::Index(*number as u32))
            }
            ExprValue::Str(text) => {
                let name = text.as_str();
                Ok(parse_array_index(name).map_or(Self::Name(Cow::Borrowed(name)), Self::Index))
            }
            _ => {
                let name = to_expr_string(value, budget)?;
                let index = parse_array_index(name.as_str());
                Ok(index.map_or(Self::Name(Cow::Owned(name.as_str().to_owned())), Self::Index))
            }
        }
    }
}

/// JavaScript's array indices are less than 2³² − 1.
const MAX_INDEX: f64 = 4_294_967_295.0;

/// Returns the array index that a name spells exactly: `7`, but not `07` or `+7`.
pub(super) fn parse_array_index(name: &str) -> Option<u32> {
    let bytes = name.as_bytes();
    let spelled = match bytes {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 10 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !spelled {
        return None;
    }
    name.parse::<u32>().ok().filter(|index| *index != u32::MAX)
}

/// Returns an own field of an object.
#[inline]
pub(super) fn get_own_field<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    find_member(map, name).map(|(_, value)| value)
}

/// Reads `value.name`, where the name is not an array index and the value is not null or undefined.
pub(super) fn read_named<'a>(
    value: &ExprValue<'a>,
    name: &str,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    if let Some(map) = value.as_object() {
        return match get_own_field(map, name) {
            Some(found) => Ok(ExprValue::from_json(found)),
            None => Ok(ExprValue::Undefined),
        };
    }
    match value {
        ExprValue::Object(object) => match object.get(name) {
            Some(found) => Ok(found.clone()),
            None => Ok(ExprValue::Undefined),
        },
        ExprValue::Str(text) if name == "length" => {
            budget.charge_scan(text.as_str().len())?;
            Ok(ExprValue::Num(expr_string::utf16_len(text.as_str()) as f64))
        }
        ExprValue::Json(_) | ExprValue::List(_) if name == "length" => Ok(ExprValue::Num(
            ArrayElements::from_value(value).map_or(0, |elements| elements.len()) as f64,
        )),
        _ => read_absent(select_prototype(value), name),
    }
}

/// Reads `value[key]`, where the value is not null or undefined.
pub(super) fn read_keyed<'a>(
    value: &ExprValue<'a>,
    key: &PropertyKey<'_>,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    let index = match key {
        PropertyKey::Name(name) => return read_named(value, name, budget),
        PropertyKey::Index(index) => *index as usize,
    };
    match value {
        ExprValue::Json(Value::Array(items)) => {
            Ok(items.get(index).map_or(ExprValue::Undefined, ExprValue::from_json))
        }
        ExprValue::List(list) => {
            Ok(list.items().get(index).cloned().unwrap_or(ExprValue::Undefined))
        }
        ExprValue::Str(text) => {
            budget.charge_scan(text.as_str().len())?;
            let range = expr_string::find_byte_range(text.as_str(), index, index + 1)?;
            Ok(if range.is_empty() {
                ExprValue::Undefined
            } else {
                ExprValue::Str(text.slice(range, budget)?)
            })
        }
        _ => read_named(value, &index.to_string(), budget),
    }
}

/// `key in value`: own fields, elements and `length`. JavaScript also searches the prototypes, so a
/// gate that tests for a field named `constructor` would open.
pub(super) fn has_property(value: &ExprValue<'_>, key: &PropertyKey<'_>) -> bool {
    match key {
        PropertyKey::Name(name) => has_own_field(value, name).unwrap_or(name == "length"),
        PropertyKey::Index(index) => {
            has_own_field(value, &index.to_string()).unwrap_or_else(|| {
                ArrayElements::from_value(value)
                    .is_some_and(|elements| (*index as usize) < elements.len())
            })
        }
    }
}

/// Returns whether an object has this field; `None` if the value is not an object.
fn has_own_field(value: &ExprValue<'_>, name: &str) -> Option<bool> {
    match value {
        ExprValue::Object(object) => Some(object.get(name).is_some()),
        _ => value.as_object().map(|map| get_own_field(map, name).is_some()),
    }
}

fn select_prototype(value: &ExprValue<'_>) -> JsPrototype {
    match value {
        ExprValue::Json(Value::Object(_))
        | ExprValue::Object(_)
        | ExprValue::Undefined
        | ExprValue::Null => JsPrototype::Object,
        ExprValue::Json(_) | ExprValue::List(_) => JsPrototype::Array,
        ExprValue::Str(_) => JsPrototype::String,
        ExprValue::Num(_) => JsPrototype::Number,
        ExprValue::Bool(_) => JsPrototype::Boolean,
    }
}

fn read_absent<'a>(prototype: JsPrototype, name: &str) -> Result<ExprValue<'a>, UnlocatedError> {
    if prototype.has_member(name) {
        return Err(UnlocatedError::new(format!(
            "`{name}` is a built-in function, which an expression cannot use as a value"
        )));
    }
    Ok(ExprValue::Undefined)
}
