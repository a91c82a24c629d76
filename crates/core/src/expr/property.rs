//! Reading a property: own fields, elements and lengths; never anything from a prototype.
//!
//! A name that JavaScript finds on every object is absent here unless the object has it; `check` tells
//! where an expression names one.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::budget::Budget;
use super::coerce::to_text;
use super::error::Fault;
use super::text;
use super::value::{Elements, Val};
use super::vocabulary::Prototype;

/// Below this many fields a walk over them beats hashing the name.
const FEW_FIELDS: usize = 8;

/// A property key after JavaScript's `ToPropertyKey`.
#[derive(Debug)]
pub(super) enum Key<'k> {
    /// A canonical array index.
    Index(u32),
    /// Any other name.
    Name(Cow<'k, str>),
}

impl<'k> Key<'k> {
    pub(super) fn of(value: &'k Val<'_>, budget: &mut Budget) -> Result<Self, Fault> {
        match value {
            Val::Num(number) if *number >= 0.0 && number.fract() == 0.0 && *number < MAX_INDEX => {
                Ok(Self::Index(*number as u32))
            }
            Val::Str(text) => {
                let name = text.as_str();
                Ok(array_index(name).map_or(Self::Name(Cow::Borrowed(name)), Self::Index))
            }
            _ => {
                let name = to_text(value, budget)?;
                let index = array_index(name.as_str());
                Ok(index.map_or(Self::Name(Cow::Owned(name.as_str().to_owned())), Self::Index))
            }
        }
    }
}

/// JavaScript's array indices end before 2³² − 1.
const MAX_INDEX: f64 = 4_294_967_295.0;

/// The array index a name spells, if it spells one exactly: `7`, but not `07` or `+7`.
pub(super) fn array_index(name: &str) -> Option<u32> {
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

/// An own field of an object.
#[inline]
pub(super) fn own<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if map.len() <= FEW_FIELDS {
        map.iter().find(|(known, _)| known.as_str() == name).map(|(_, value)| value)
    } else {
        map.get(name)
    }
}

/// Reads `value.name`, where the name is no array index. The value is not null or undefined.
pub(super) fn named<'a>(
    value: &Val<'a>,
    name: &str,
    budget: &mut Budget,
) -> Result<Val<'a>, Fault> {
    if let Some(map) = value.as_object() {
        return match own(map, name) {
            Some(found) => Ok(Val::from_json(found)),
            None => Ok(Val::Undefined),
        };
    }
    match value {
        Val::Object(object) => match object.get(name) {
            Some(found) => Ok(found.clone()),
            None => Ok(Val::Undefined),
        },
        Val::Str(text) if name == "length" => {
            budget.scan(text.as_str().len())?;
            Ok(Val::Num(text::length(text.as_str()) as f64))
        }
        Val::Json(_) | Val::List(_) if name == "length" => {
            Ok(Val::Num(Elements::of(value).map_or(0, |elements| elements.len()) as f64))
        }
        _ => absent(prototype(value), name),
    }
}

/// Reads `value[key]`. The value is not null or undefined.
pub(super) fn keyed<'a>(
    value: &Val<'a>,
    key: &Key<'_>,
    budget: &mut Budget,
) -> Result<Val<'a>, Fault> {
    let index = match key {
        Key::Name(name) => return named(value, name, budget),
        Key::Index(index) => *index as usize,
    };
    match value {
        Val::Json(Value::Array(items)) => {
            Ok(items.get(index).map_or(Val::Undefined, Val::from_json))
        }
        Val::List(list) => Ok(list.items().get(index).cloned().unwrap_or(Val::Undefined)),
        Val::Str(text) => {
            budget.scan(text.as_str().len())?;
            let range = text::range(text.as_str(), index, index + 1)?;
            Ok(if range.is_empty() { Val::Undefined } else { Val::Str(text.part(range, budget)?) })
        }
        _ => named(value, &index.to_string(), budget),
    }
}

/// `key in value`: own fields, elements and `length`. JavaScript finds what the prototypes hold too,
/// and would open a gate for whoever names a field `constructor`.
pub(super) fn contains(value: &Val<'_>, key: &Key<'_>) -> bool {
    match key {
        Key::Name(name) => has_own(value, name).unwrap_or(name == "length"),
        Key::Index(index) => has_own(value, &index.to_string()).unwrap_or_else(|| {
            Elements::of(value).is_some_and(|elements| (*index as usize) < elements.len())
        }),
    }
}

/// Whether an object has this field; `None` for what is no object.
fn has_own(value: &Val<'_>, name: &str) -> Option<bool> {
    match value {
        Val::Object(object) => Some(object.get(name).is_some()),
        _ => value.as_object().map(|map| own(map, name).is_some()),
    }
}

fn prototype(value: &Val<'_>) -> Prototype {
    match value {
        Val::Json(Value::Object(_)) | Val::Object(_) | Val::Undefined | Val::Null => {
            Prototype::Object
        }
        Val::Json(_) | Val::List(_) => Prototype::Array,
        Val::Str(_) => Prototype::String,
        Val::Num(_) => Prototype::Number,
        Val::Bool(_) => Prototype::Boolean,
    }
}

fn absent<'a>(prototype: Prototype, name: &str) -> Result<Val<'a>, Fault> {
    if prototype.has(name) {
        return Err(Fault::new(format!(
            "`{name}` is a built-in function, which an expression cannot hold"
        )));
    }
    Ok(Val::Undefined)
}
