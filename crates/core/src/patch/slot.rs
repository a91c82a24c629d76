//! A place in a document, found and ready to be written.
//!
//! Not here: what an operation means. A slot only knows how a value is put, swapped and taken.

use std::mem;

use serde_json::{Map, Value};

use super::Pointer;
use super::error::{Obstacle, named};
use super::pointer::index;
use crate::json;

/// Where a value stands or will stand.
#[derive(Debug)]
pub(super) enum Slot<'v> {
    /// The document itself.
    Root(&'v mut Value),
    /// A member of an object.
    Member(&'v mut Map<String, Value>, String),
    /// An item of an array.
    Item(&'v mut Vec<Value>, usize),
}

/// Where among its siblings a value stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// Among the members of an object.
    Member(usize),
    /// Among the items of an array.
    Item(usize),
}

impl<'v> Slot<'v> {
    /// A place where a value may be added: what holds it exists, the value need not.
    pub(super) fn open(document: &'v mut Value, pointer: &Pointer) -> Result<Self, Obstacle> {
        let Some((parent, segment)) = pointer.split_last() else {
            return Ok(Self::Root(document));
        };
        find(document, parent)?;
        match document.pointer_mut(parent).expect("it was found a line above") {
            Value::Object(members) => Ok(Self::Member(members, segment.into_owned())),
            Value::Array(items) => {
                let end = items.len();
                let asked = if segment == "-" { Some(end) } else { index(&segment) };
                match asked {
                    Some(index) if index <= end => Ok(Self::Item(items, index)),
                    _ => {
                        let indices = format!("an index from 0 to {end} or `-`");
                        Err(no_index(&indices, parent, &segment, asked))
                    }
                }
            }
            other => Err(no_container(parent, other)),
        }
    }

    /// A place at which a value stands.
    pub(super) fn at(document: &'v mut Value, pointer: &Pointer) -> Result<Self, Obstacle> {
        find(document, pointer.as_str())?;
        Self::open(document, pointer)
    }

    /// Where this is, with `-` turned into the index it stands for.
    pub(super) fn pointer(&self, asked: &Pointer) -> Pointer {
        match (self, asked.split_last()) {
            (Self::Item(_, index), Some((parent, _))) => Pointer::item(parent, *index),
            _ => asked.clone(),
        }
    }

    /// Adds a value; gives back the one it took the place of.
    pub(super) fn put(self, value: Value) -> Option<Value> {
        match self {
            Self::Root(document) => Some(mem::replace(document, value)),
            Self::Member(members, key) => members.insert(key, value),
            Self::Item(items, index) => {
                items.insert(index, value);
                None
            }
        }
    }

    /// Adds a value where it once stood among its siblings.
    pub(super) fn put_back(self, position: Position, value: Value) {
        match (self, position) {
            (Self::Member(members, key), Position::Member(position)) => {
                members.shift_insert(position, key, value);
            }
            (other, _) => {
                other.put(value);
            }
        }
    }

    /// Puts a value in the place of the one that stands there.
    pub(super) fn swap(self, value: Value) -> Value {
        match self {
            Self::Root(document) => mem::replace(document, value),
            Self::Member(members, key) => mem::replace(&mut members[&key], value),
            Self::Item(items, index) => mem::replace(&mut items[index], value),
        }
    }

    /// Takes the value that stands there, and tells its position among its siblings.
    pub(super) fn take(self) -> Result<(Value, Position), Obstacle> {
        match self {
            Self::Root(_) => {
                let expected = "a place inside the document, which can be replaced but not removed";
                Err(Obstacle::new(expected, named("")))
            }
            Self::Member(members, key) => {
                // What was added a moment ago stands last, and is found without a search.
                let is_last = members.keys().next_back().is_some_and(|last| *last == key);
                let position = if is_last {
                    Some(members.len() - 1)
                } else {
                    members.keys().position(|other| *other == key)
                };
                let position = position.expect("a slot that is taken from holds a value");
                let value = members.shift_remove(&key).expect("its key was found a line above");
                Ok((value, Position::Member(position)))
            }
            Self::Item(items, index) => Ok((items.remove(index), Position::Item(index))),
        }
    }
}

/// The value at a place, or what stands in the way.
pub(super) fn find<'v>(document: &'v Value, pointer: &str) -> Result<&'v Value, Obstacle> {
    let mut here = 0;
    let mut value = document;
    for segment in json::split(pointer) {
        let parent = &pointer[..here];
        here += 1 + pointer[here + 1..].find('/').unwrap_or(pointer.len() - here - 1);
        value = match value {
            Value::Object(members) => members.get(segment.as_ref()).ok_or_else(|| {
                Obstacle::new(format!("a value at {}", &pointer[..here]), "nothing")
            })?,
            Value::Array(items) => {
                let index = index(&segment);
                index.and_then(|index| items.get(index)).ok_or_else(|| {
                    let indices = match items.len() {
                        0 => "no index at all".to_owned(),
                        1 => "the index 0".to_owned(),
                        count => format!("an index from 0 to {}", count - 1),
                    };
                    no_index(&indices, parent, &segment, index)
                })?
            }
            other => return Err(no_container(parent, other)),
        };
    }
    Ok(value)
}

fn no_index(indices: &str, array: &str, segment: &str, index: Option<usize>) -> Obstacle {
    let found = match (index, segment) {
        (Some(index), _) => index.to_string(),
        (None, "-") => "`-`, which stands for the place behind the last item".to_owned(),
        (None, _) => format!("`{segment}`, which is no index"),
    };
    Obstacle::new(format!("{indices} in the array at {}", named(array)), found)
}

fn no_container(pointer: &str, found: &Value) -> Obstacle {
    Obstacle::new(format!("an object or an array at {}", named(pointer)), kind(found))
}

/// What kind of value this is, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
