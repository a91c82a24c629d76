//! `Pointer.*`: a place in a value, by a JSON Pointer that is only known when the expression runs.
//!
//! Ours, not JavaScript's: a pointer leads to own fields and elements, never to a prototype or a length.

use super::budget::Budget;
use super::error::Fault;
use super::property::{array_index, own};
use super::value::{Elements, Val};
use super::vocabulary::PointerFunction;
use crate::json;
use crate::patch::Pointer;

/// Calls a function of `Pointer`.
pub(super) fn call<'a>(
    function: PointerFunction,
    document: &Val<'a>,
    pointer: &Val<'a>,
    budget: &mut Budget,
) -> Result<Val<'a>, Fault> {
    let Val::Str(text) = pointer else {
        let name = function.name();
        let found = pointer.describe();
        return Err(Fault::new(format!(
            "`Pointer.{name}` needs a JSON Pointer as a string, found {found}"
        )));
    };
    budget.scan(text.as_str().len())?;
    budget.create(text.as_str().len())?;
    let pointer = Pointer::parse(text.as_str()).map_err(|error| Fault::new(error.to_string()))?;
    let found = find(document, &pointer, budget)?;
    Ok(match function {
        PointerFunction::Has => Val::Bool(found.is_some()),
        PointerFunction::Get => found.unwrap_or(Val::Undefined),
    })
}

fn find<'a>(
    document: &Val<'a>,
    pointer: &Pointer,
    budget: &mut Budget,
) -> Result<Option<Val<'a>>, Fault> {
    let mut value = document.clone();
    for segment in json::split(pointer.as_str()) {
        budget.work(1)?;
        let Some(next) = step(&value, &segment) else { return Ok(None) };
        value = next;
    }
    // A field that is written out as undefined is no place.
    Ok((!matches!(value, Val::Undefined)).then_some(value))
}

fn step<'a>(value: &Val<'a>, segment: &str) -> Option<Val<'a>> {
    if let Some(map) = value.as_object() {
        return own(map, segment).map(Val::from_json);
    }
    if let Val::Object(object) = value {
        return object.get(segment).cloned();
    }
    let elements = Elements::of(value)?;
    let index = array_index(segment)? as usize;
    (index < elements.len()).then(|| elements.get(index))
}

impl PointerFunction {
    fn name(self) -> &'static str {
        match self {
            Self::Has => "has",
            Self::Get => "get",
        }
    }
}
