//! A resolved location in a document, ready to be written.
//!
//! A slot inserts, replaces and removes a value; it does not know what an operation means.

use std::mem;

use serde_json::{Map, Value};

use super::JsonPointer;
use super::json_pointer::parse_index;
use super::patch_error::{PatchMismatch, describe_pointer};
use crate::json;

/// A location that holds a value or can hold one.
#[derive(Debug)]
pub(super) enum ValueSlot<'v> {
    /// The document itself.
    Root(&'v mut Value),
    /// A member of an object, by its key.
    Member(&'v mut Map<String, Value>, String),
    /// An item of an array, by its index.
    Item(&'v mut Vec<Value>, usize),
}

/// The position of a value among its siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SiblingPosition {
    /// The position among the members of an object, from 0.
    Member(usize),
    /// The index among the items of an array.
    Item(usize),
}

impl<'v> ValueSlot<'v> {
    /// Opens a location at which a value can be added. Its parent must exist; the value need not.
    pub(super) fn open(
        document: &'v mut Value,
        pointer: &JsonPointer,
    ) -> Result<Self, PatchMismatch> {
        let Some((parent, segment)) = pointer.split_last() else {
            return Ok(Self::Root(document));
        };
        find_value(document, parent)?;
        match document.pointer_mut(parent).expect("the parent was found above") {
            Value::Object(members) => Ok(Self::Member(members, segment.into_owned())),
            Value::Array(items) => {
                let end = items.len();
                let wanted = if segment == "-" { Some(end) } else { parse_index(&segment) };
                match wanted {
                    Some(index) if index <= end => Ok(Self::Item(items, index)),
                    _ => {
                        let indices = format!("an index from 0 to {end} or `-`");
                        Err(index_mismatch(&indices, parent, &segment, wanted))
                    }
                }
            }
            other => Err(container_mismatch(parent, other)),
        }
    }

    /// Opens a location that holds a value.
    pub(super) fn open_existing(
        document: &'v mut Value,
        pointer: &JsonPointer,
    ) -> Result<Self, PatchMismatch> {
        find_value(document, pointer.as_str())?;
        Self::open(document, pointer)
    }

    /// Returns the pointer of this slot, with `-` resolved to the index it stands for.
    pub(super) fn resolve_pointer(&self, pointer: &JsonPointer) -> JsonPointer {
        match (self, pointer.split_last()) {
            (Self::Item(_, index), Some((parent, _))) => {
                JsonPointer::from_array_item(parent, *index)
            }
            _ => pointer.clone(),
        }
    }

    /// Inserts a value and returns the value it replaced, if any.
    pub(super) fn insert(self, value: Value) -> Option<Value> {
        match self {
            Self::Root(document) => Some(mem::replace(document, value)),
            Self::Member(members, key) => members.insert(key, value),
            Self::Item(items, index) => {
                items.insert(index, value);
                None
            }
        }
    }

    /// Inserts a value at its former position among its siblings.
    pub(super) fn restore(self, position: SiblingPosition, value: Value) {
        match (self, position) {
            (Self::Member(members, key), SiblingPosition::Member(position)) => {
                members.shift_insert(position, key, value);
            }
            (other, _) => {
                other.insert(value);
            }
        }
    }

    /// Replaces the existing value and returns it.
    pub(super) fn replace(self, value: Value) -> Value {
        match self {
            Self::Root(document) => mem::replace(document, value),
            Self::Member(members, key) => mem::replace(&mut members[&key], value),
            Self::Item(items, index) => mem::replace(&mut items[index], value),
        }
    }

    /// Removes the existing value and returns it with its position among its siblings.
    pub(super) fn remove(self) -> Result<(Value, SiblingPosition), PatchMismatch> {
        match self {
            Self::Root(_) => {
                let expected =
                    "a location inside the document, which can be replaced but not removed";
                Err(PatchMismatch::new(expected, describe_pointer("")))
            }
            Self::Member(members, key) => {
                // A member that was just added is the last one and is found without a search.
                let is_last = members.keys().next_back().is_some_and(|last| *last == key);
                let position = if is_last {
                    Some(members.len() - 1)
                } else {
                    members.keys().position(|other| *other == key)
                };
                let position = position.expect("a slot to remove from contains a value");
                let value = members.shift_remove(&key).expect("the key was found above");
                Ok((value, SiblingPosition::Member(position)))
            }
            Self::Item(items, index) => Ok((items.remove(index), SiblingPosition::Item(index))),
        }
    }
}

/// Returns the value at a location, or the mismatch that prevents reaching it.
pub(super) fn find_value<'v>(
    document: &'v Value,
    pointer: &str,
) -> Result<&'v Value, PatchMismatch> {
    let mut here = 0;
    let mut value = document;
    for segment in json::split_pointer(pointer) {
        let parent = &pointer[..here];
        here += 1 + pointer[here + 1..].find('/').unwrap_or(pointer.len() - here - 1);
        value = match value {
            Value::Object(members) => members.get(segment.as_ref()).ok_or_else(|| {
                PatchMismatch::new(format!("a value at {}", &pointer[..here]), "nothing")
            })?,
            Value::Array(items) => {
                let index = parse_index(&segment);
                index.and_then(|index| items.get(index)).ok_or_else(|| {
                    let indices = match items.len() {
                        0 => "no index".to_owned(),
                        1 => "the index 0".to_owned(),
                        count => format!("an index from 0 to {}", count - 1),
                    };
                    index_mismatch(&indices, parent, &segment, index)
                })?
            }
            other => return Err(container_mismatch(parent, other)),
        };
    }
    Ok(value)
}

fn index_mismatch(
    indices: &str,
    array: &str,
    segment: &str,
    index: Option<usize>,
) -> PatchMismatch {
    let found = match (index, segment) {
        (Some(index), _) => index.to_string(),
        (None, "-") => "`-`, which means the position after the last item".to_owned(),
        (None, _) => format!("`{segment}`, which is not an index"),
    };
    PatchMismatch::new(format!("{indices} in the array at {}", describe_pointer(array)), found)
}

fn container_mismatch(pointer: &str, found: &Value) -> PatchMismatch {
    PatchMismatch::new(
        format!("an object or an array at {}", describe_pointer(pointer)),
        describe_kind(found),
    )
}

/// Returns the kind of a value for messages, such as "an array".
pub(super) fn describe_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
