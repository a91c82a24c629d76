//! Values while an expression runs: borrowed from the roots wherever JSON holds them already.

use std::fmt;
use std::rc::Rc;

use serde_json::{Map, Number, Value};

use super::budget::Budget;
use super::error::Fault;
use super::number::to_js_string;
use super::object::Object;
use super::text::Text;

/// How deep lists and objects made by an expression may hold one another.
const MAX_DEPTH: usize = 64;

/// What an expression evaluates to.
#[derive(Debug, Clone)]
pub enum Val<'a> {
    /// No value at all, such as a missing field.
    Undefined,
    /// JSON `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Any number; JavaScript has only these.
    Num(f64),
    /// A string.
    Str(Text<'a>),
    /// An array or object of a root; never a scalar.
    Json(&'a Value),
    /// A list made by the expression.
    List(Rc<List<'a>>),
    /// An object made by the expression.
    Object(Rc<Object<'a>>),
}

/// A list made by an expression: from an array literal, `filter`, `Object.keys` and so on.
#[derive(Debug)]
pub struct List<'a> {
    items: Vec<Val<'a>>,
    // Bounded, so dropping, printing and joining cannot exhaust the stack.
    depth: usize,
}

impl<'a> List<'a> {
    /// The elements in order.
    #[must_use]
    pub fn items(&self) -> &[Val<'a>] {
        &self.items
    }
}

impl<'a> Val<'a> {
    /// Sees a JSON value as an expression sees it; copies nothing.
    #[must_use]
    #[inline]
    pub fn from_json(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(number) => Self::Num(number.as_f64().unwrap_or(f64::NAN)),
            Value::String(text) => Self::Str(Text::Borrowed(text)),
            Value::Array(_) | Value::Object(_) => Self::Json(value),
        }
    }

    /// The value as JSON; `None` if it or a part of it has no JSON form: undefined, NaN, an infinity.
    ///
    /// As `JSON.stringify` has it, a field of a made object that is undefined is left out.
    #[must_use]
    pub fn to_json(&self) -> Option<Value> {
        Some(match self {
            Self::Undefined => return None,
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(*truth),
            Self::Num(number) => Value::Number(json_number(*number)?),
            Self::Str(text) => Value::String(text.as_str().to_owned()),
            Self::Json(value) => (*value).clone(),
            Self::List(list) => {
                Value::Array(list.items.iter().map(Val::to_json).collect::<Option<_>>()?)
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

    /// What kind of value it is, for a message that must not show the value itself.
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

    pub(super) fn string(text: String, budget: &mut Budget) -> Result<Self, Fault> {
        budget.create(text.len())?;
        Ok(Self::Str(Text::from(text)))
    }

    pub(super) fn list(items: Vec<Val<'a>>, budget: &mut Budget) -> Result<Self, Fault> {
        budget.create(items.len() * size_of::<Val<'a>>())?;
        let depth = depth_round(items.iter())?;
        Ok(Self::List(Rc::new(List { items, depth })))
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

/// The elements of an array, wherever it lives.
#[derive(Debug, Clone)]
pub(super) enum Elements<'a> {
    Json(&'a [Value]),
    List(Rc<List<'a>>),
}

impl<'a> Elements<'a> {
    pub(super) fn of(value: &Val<'a>) -> Option<Self> {
        match value {
            Val::Json(Value::Array(items)) => Some(Self::Json(items)),
            Val::List(list) => Some(Self::List(Rc::clone(list))),
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
    pub(super) fn get(&self, index: usize) -> Val<'a> {
        let found = match self {
            Self::Json(items) => items.get(index).map(Val::from_json),
            Self::List(list) => list.items.get(index).cloned(),
        };
        found.unwrap_or(Val::Undefined)
    }
}

/// How deep a list or an object of these parts is.
pub(super) fn depth_round<'v, 'a: 'v>(
    parts: impl Iterator<Item = &'v Val<'a>>,
) -> Result<usize, Fault> {
    let depth = |part: &Val<'a>| match part {
        Val::List(list) => list.depth,
        Val::Object(object) => object.depth(),
        _ => 0,
    };
    let depth = 1 + parts.map(depth).max().unwrap_or(0);
    if depth > MAX_DEPTH {
        return Err(Fault::new(format!(
            "the depth budget is spent: lists and objects may hold one another at most {MAX_DEPTH} deep"
        )));
    }
    Ok(depth)
}

/// Whole numbers that JSON readers keep exact become integers; `-0` becomes `0`, as `JSON.stringify` has it.
fn json_number(number: f64) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Some(Number::from(number as i64));
    }
    Number::from_f64(number)
}

/// For people: JSON where there is JSON, JavaScript's words where there is none.
impl fmt::Display for Val<'_> {
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
