//! Values during evaluation, borrowed from the roots wherever possible.

use std::fmt;
use std::rc::Rc;

use serde_json::{Map, Number, Value};

use super::eval_budget::EvalBudget;
use super::expr_error::UnlocatedError;
use super::expr_object::ExprObject;
use super::expr_string::ExprString;
use super::js_number::to_js_string;

/// Maximum nesting of the lists and objects that an expression creates.
const MAX_DEPTH: usize = 64;

/// Value that an expression evaluates to.
#[derive(Debug, Clone)]
pub enum ExprValue<'a> {
    /// No value, such as a missing field.
    Undefined,
    /// The JSON value `null`.
    Null,
    /// A boolean: `true` or `false`.
    Bool(bool),
    /// Any number; JavaScript has only doubles.
    Num(f64),
    /// A string, borrowed or created.
    Str(ExprString<'a>),
    /// An array or object of a root; never a scalar.
    Json(&'a Value),
    /// A list created by the expression.
    List(Rc<ExprList<'a>>),
    /// An object created by the expression.
    Object(Rc<ExprObject<'a>>),
}

/// List created by an expression: from an array literal, `filter`, `Object.keys` and so on.
#[derive(Debug)]
pub struct ExprList<'a> {
    items: Vec<ExprValue<'a>>,
    // Bounded, so that dropping, printing and joining cannot exhaust the stack.
    depth: usize,
}

impl<'a> ExprList<'a> {
    /// Returns the elements in order.
    #[must_use]
    pub fn items(&self) -> &[ExprValue<'a>] {
        &self.items
    }
}

impl<'a> ExprValue<'a> {
    /// Wraps a JSON value without copying it.
    #[must_use]
    #[inline]
    pub fn from_json(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(number) => Self::Num(number.as_f64().unwrap_or(f64::NAN)),
            Value::String(text) => Self::Str(ExprString::Borrowed(text)),
            Value::Array(_) | Value::Object(_) => Self::Json(value),
        }
    }

    /// Converts the value to JSON. Returns `None` if the value or a part of it has no JSON form:
    /// undefined, NaN, an infinity.
    ///
    /// As in `JSON.stringify`, undefined fields of a created object are omitted.
    #[must_use]
    pub fn to_json(&self) -> Option<Value> {
        Some(match self {
            Self::Undefined => return None,
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(*truth),
            Self::Num(number) => Value::Number(to_json_number(*number)?),
            Self::Str(text) => Value::String(text.as_str().to_owned()),
            Self::Json(value) => (*value).clone(),
            Self::List(list) => {
                Value::Array(list.items.iter().map(ExprValue::to_json).collect::<Option<_>>()?)
            }
            Self::Object(object) => {
                let mut map = Map::new();
                for (name, value) in object.fields() {
                    if !matches!(value, Self::Undefined) {
                        map.insert(name.as_str().to_owned(), value.to_json()?);
                    }
                }
                Value::Object(map)
            }
        })
    }

    /// Describes the type of the value, for messages that must not contain the value itself.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Undefined => "undefined".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Bool(truth) => truth.to_string(),
            Self::Num(number) => format!("the number {}", to_js_string(*number)),
            Self::Str(_) => "a string".to_owned(),
            Self::Json(Value::Object(_)) | Self::Object(_) => "an object".to_owned(),
            Self::Json(_) | Self::List(_) => "an array".to_owned(),
        }
    }

    pub(super) fn new_string(
        text: String,
        budget: &mut EvalBudget,
    ) -> Result<Self, UnlocatedError> {
        budget.charge_bytes(text.len())?;
        Ok(Self::Str(ExprString::from(text)))
    }

    pub(super) fn new_list(
        items: Vec<ExprValue<'a>>,
        budget: &mut EvalBudget,
    ) -> Result<Self, UnlocatedError> {
        budget.charge_bytes(items.len() * size_of::<ExprValue<'a>>())?;
        let depth = compute_depth(items.iter())?;
        Ok(Self::List(Rc::new(ExprList { items, depth })))
    }

    #[inline]
    pub(super) fn is_nullish(&self) -> bool {
        matches!(self, Self::Undefined | Self::Null)
    }

    pub(super) fn as_object(&self) -> Option<&'a Map<String, Value>> {
        match self {
            Self::Json(value) => value.as_object(),
            _ => None,
        }
    }
}

/// Elements of an array, either of a root or created by the expression.
#[derive(Debug, Clone)]
pub(super) enum ArrayElements<'a> {
    Json(&'a [Value]),
    List(Rc<ExprList<'a>>),
}

impl<'a> ArrayElements<'a> {
    pub(super) fn from_value(value: &ExprValue<'a>) -> Option<Self> {
        match value {
            ExprValue::Json(Value::Array(items)) => Some(Self::Json(items)),
            ExprValue::List(list) => Some(Self::List(Rc::clone(list))),
            _ => None,
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Json(items) => items.len(),
            Self::List(list) => list.items.len(),
        }
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> ExprValue<'a> {
        let found = match self {
            Self::Json(items) => items.get(index).map(ExprValue::from_json),
            Self::List(list) => list.items.get(index).cloned(),
        };
        found.unwrap_or(ExprValue::Undefined)
    }
}

/// Returns the depth of a list or an object with these parts, or an error above [`MAX_DEPTH`].
pub(super) fn compute_depth<'v, 'a: 'v>(
    parts: impl Iterator<Item = &'v ExprValue<'a>>,
) -> Result<usize, UnlocatedError> {
    let depth = |part: &ExprValue<'a>| match part {
        ExprValue::List(list) => list.depth,
        ExprValue::Object(object) => object.depth(),
        _ => 0,
    };
    let depth = 1 + parts.map(depth).max().unwrap_or(0);
    if depth > MAX_DEPTH {
        return Err(UnlocatedError::new(format!(
            "the depth budget is spent: lists and objects may be nested at most {MAX_DEPTH} deep"
        )));
    }
    Ok(depth)
}

/// Converts a number to JSON. Whole numbers that JSON parsers keep exact become integers; `-0`
/// becomes `0`, as in `JSON.stringify`.
fn to_json_number(number: f64) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Some(Number::from(number as i64));
    }
    Number::from_f64(number)
}

/// Formats the value for people: as JSON where possible, otherwise with JavaScript's names.
impl fmt::Display for ExprValue<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => out.write_str("undefined"),
            Self::Null => out.write_str("null"),
            Self::Bool(truth) => write!(out, "{truth}"),
            Self::Num(number) if *number == 0.0 && number.is_sign_negative() => out.write_str("-0"),
            Self::Num(number) => out.write_str(&to_js_string(*number)),
            Self::Str(text) => write!(out, "{}", Value::from(text.as_str())),
            Self::Json(value) => write!(out, "{value}"),
            Self::List(list) => {
                out.write_str("[")?;
                for (index, item) in list.items.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(out, "{comma}{item}")?;
                }
                out.write_str("]")
            }
            Self::Object(object) => {
                out.write_str("{")?;
                for (index, (name, value)) in object.fields().iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(out, "{comma}{}:{value}", Value::from(name.as_str()))?;
                }
                out.write_str("}")
            }
        }
    }
}
