//! `Pointer.*`: reads a value by a JSON Pointer that is known only at evaluation.
//!
//! These are extensions to JavaScript: a pointer resolves to own fields and elements, never to a
//! prototype or a length.

use super::eval_budget::EvalBudget;
use super::expr_error::UnlocatedError;
use super::expr_value::{ArrayElements, ExprValue};
use super::property::{get_own_field, parse_array_index};
use super::vocabulary::PointerFunction;
use crate::json;
use crate::patch::JsonPointer;

/// Calls a function of `Pointer`.
pub(super) fn call_pointer_function<'a>(
    function: PointerFunction,
    document: &ExprValue<'a>,
    pointer: &ExprValue<'a>,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    let ExprValue::Str(text) = pointer else {
        let name = function.name();
        let found = pointer.describe();
        return Err(UnlocatedError::new(format!(
            "`Pointer.{name}` needs a JSON Pointer as a string, found {found}"
        )));
    };
    budget.charge_scan(text.as_str().len())?;
    budget.charge_bytes(text.as_str().len())?;
    let pointer = JsonPointer::parse(text.as_str())
        .map_err(|error| UnlocatedError::new(error.to_string()))?;
    let found = resolve_pointer(document, &pointer, budget)?;
    Ok(match function {
        PointerFunction::Has => ExprValue::Bool(found.is_some()),
        PointerFunction::Get => found.unwrap_or(ExprValue::Undefined),
    })
}

fn resolve_pointer<'a>(
    document: &ExprValue<'a>,
    pointer: &JsonPointer,
    budget: &mut EvalBudget,
) -> Result<Option<ExprValue<'a>>, UnlocatedError> {
    let mut value = document.clone();
    for segment in json::split_pointer(pointer.as_str()) {
        budget.charge_steps(1)?;
        let Some(next) = resolve_segment(&value, &segment) else { return Ok(None) };
        value = next;
    }
    // A field whose value is undefined does not exist for a pointer.
    Ok((!matches!(value, ExprValue::Undefined)).then_some(value))
}

fn resolve_segment<'a>(value: &ExprValue<'a>, segment: &str) -> Option<ExprValue<'a>> {
    if let Some(map) = value.as_object() {
        return get_own_field(map, segment).map(ExprValue::from_json);
    }
    if let ExprValue::Object(object) = value {
        return object.get(segment).cloned();
    }
    let elements = ArrayElements::from_value(value)?;
    let index = parse_array_index(segment)? as usize;
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
