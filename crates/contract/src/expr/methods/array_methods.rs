//! Array methods that take only values.

use super::{argument_at, to_exact_index, to_relative_end, to_relative_index};
use crate::expr::coerce::{
    append_joined, is_same_value_zero, is_strictly_equal, to_expr_string, to_integer,
};
use crate::expr::eval_budget::EvalBudget;
use crate::expr::expr_error::UnlocatedError;
use crate::expr::expr_value::{ArrayElements, ExprValue};
use crate::expr::vocabulary::BuiltinMethod;

/// Calls an array method. Returns `None` if arrays have no such method.
pub(in crate::expr) fn call_array_method<'a>(
    elements: &ArrayElements<'a>,
    method: BuiltinMethod,
    args: &[ExprValue<'a>],
    budget: &mut EvalBudget,
) -> Result<Option<ExprValue<'a>>, UnlocatedError> {
    let first = argument_at(args, 0);
    let second = argument_at(args, 1);
    let length = elements.len();
    Ok(Some(match method {
        BuiltinMethod::Includes => ExprValue::Bool(
            find_position(elements, first, second, is_same_value_zero, budget)?.is_some(),
        ),
        BuiltinMethod::IndexOf => {
            let found = find_position(elements, first, second, is_strictly_equal, budget)?;
            ExprValue::Num(found.map_or(-1.0, |index| index as f64))
        }
        BuiltinMethod::LastIndexOf => {
            let found = find_last_position(elements, args, budget)?;
            ExprValue::Num(found.map_or(-1.0, |index| index as f64))
        }
        BuiltinMethod::Concat => concat_elements(elements, args, budget)?,
        BuiltinMethod::ToReversed => {
            budget.charge_steps(length)?;
            ExprValue::new_list(
                (0..length).rev().map(|index| elements.get(index)).collect(),
                budget,
            )?
        }
        BuiltinMethod::At => match to_exact_index(first, length, budget)? {
            Some(index) => elements.get(index),
            None => ExprValue::Undefined,
        },
        BuiltinMethod::Slice => {
            let from = to_relative_index(first, length, budget)?;
            let to = to_relative_end(second, length, budget)?.max(from);
            budget.charge_steps(to - from)?;
            ExprValue::new_list((from..to).map(|index| elements.get(index)).collect(), budget)?
        }
        BuiltinMethod::Join => {
            let separator = match first {
                ExprValue::Undefined => None,
                argument => Some(to_expr_string(argument, budget)?),
            };
            let separator = separator.as_ref().map_or(",", |text| text.as_str());
            let mut out = String::new();
            let items = (0..length).map(|index| elements.get(index));
            append_joined(items, separator, &mut out, budget, 0)?;
            ExprValue::Str(out.into())
        }
        BuiltinMethod::StartsWith
        | BuiltinMethod::EndsWith
        | BuiltinMethod::ToLowerCase
        | BuiltinMethod::ToUpperCase
        | BuiltinMethod::Trim
        | BuiltinMethod::Replace
        | BuiltinMethod::ReplaceAll
        | BuiltinMethod::ToString
        | BuiltinMethod::Split => return Ok(None),
    }))
}

fn find_last_position<'a>(
    elements: &ArrayElements<'a>,
    args: &[ExprValue<'a>],
    budget: &mut EvalBudget,
) -> Result<Option<usize>, UnlocatedError> {
    if elements.len() == 0 {
        return Ok(None);
    }
    let length = elements.len() as f64;
    // Unlike in other methods, an explicit `undefined` means 0.
    let from = match args.get(1) {
        Some(from) => to_integer(from, budget)?,
        None => length - 1.0,
    };
    let last = if from < 0.0 { length + from } else { from.min(length - 1.0) };
    if last < 0.0 {
        return Ok(None);
    }
    for index in (0..=last as usize).rev() {
        budget.charge_steps(1)?;
        let element = elements.get(index);
        if let ExprValue::Str(text) = &element {
            budget.charge_scan(text.as_str().len())?;
        }
        if is_strictly_equal(&element, argument_at(args, 0)) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn concat_elements<'a>(
    elements: &ArrayElements<'a>,
    args: &[ExprValue<'a>],
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    let mut items: Vec<ExprValue<'a>> = Vec::new();
    append_elements(elements, &mut items, budget)?;
    for arg in args {
        match ArrayElements::from_value(arg) {
            Some(more) => append_elements(&more, &mut items, budget)?,
            None => items.push(arg.clone()),
        }
    }
    ExprValue::new_list(items, budget)
}

/// Appends elements. They are charged before they are copied, so that no list exceeds the budget.
pub(in crate::expr) fn append_elements<'a>(
    elements: &ArrayElements<'a>,
    items: &mut Vec<ExprValue<'a>>,
    budget: &mut EvalBudget,
) -> Result<(), UnlocatedError> {
    budget.charge_steps(elements.len())?;
    budget.charge_bytes(elements.len() * size_of::<ExprValue<'a>>())?;
    items.extend((0..elements.len()).map(|index| elements.get(index)));
    Ok(())
}

fn find_position<'a>(
    elements: &ArrayElements<'a>,
    wanted: &ExprValue<'a>,
    from: &ExprValue<'a>,
    equal: fn(&ExprValue<'_>, &ExprValue<'_>) -> bool,
    budget: &mut EvalBudget,
) -> Result<Option<usize>, UnlocatedError> {
    // An empty array returns before it reads `from`, as in JavaScript.
    if elements.len() == 0 {
        return Ok(None);
    }
    for index in to_relative_index(from, elements.len(), budget)?..elements.len() {
        budget.charge_steps(1)?;
        let element = elements.get(index);
        if let ExprValue::Str(text) = &element {
            budget.charge_scan(text.as_str().len())?;
        }
        if equal(&element, wanted) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}
