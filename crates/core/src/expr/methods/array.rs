//! Methods of arrays that take values only.

use super::{argument, exactly, relative, relative_end};
use crate::expr::budget::Budget;
use crate::expr::coerce::{join, same_value, strict_equal, to_integer, to_text};
use crate::expr::error::Fault;
use crate::expr::value::{Elements, Val};
use crate::expr::vocabulary::Method;

/// Calls a method; `None` if arrays have no such method.
pub(in crate::expr) fn call<'a>(
    elements: &Elements<'a>,
    method: Method,
    args: &[Val<'a>],
    budget: &mut Budget,
) -> Result<Option<Val<'a>>, Fault> {
    let first = argument(args, 0);
    let second = argument(args, 1);
    let length = elements.len();
    Ok(Some(match method {
        Method::Includes => {
            Val::Bool(position(elements, first, second, same_value, budget)?.is_some())
        }
        Method::IndexOf => {
            let found = position(elements, first, second, strict_equal, budget)?;
            Val::Num(found.map_or(-1.0, |index| index as f64))
        }
        Method::LastIndexOf => {
            let found = last_position(elements, args, budget)?;
            Val::Num(found.map_or(-1.0, |index| index as f64))
        }
        Method::Concat => concat(elements, args, budget)?,
        Method::ToReversed => {
            budget.work(length)?;
            Val::list((0..length).rev().map(|index| elements.get(index)).collect(), budget)?
        }
        Method::At => match exactly(first, length, budget)? {
            Some(index) => elements.get(index),
            None => Val::Undefined,
        },
        Method::Slice => {
            let from = relative(first, length, budget)?;
            let to = relative_end(second, length, budget)?.max(from);
            budget.work(to - from)?;
            Val::list((from..to).map(|index| elements.get(index)).collect(), budget)?
        }
        Method::Join => {
            let separator = match first {
                Val::Undefined => None,
                given => Some(to_text(given, budget)?),
            };
            let separator = separator.as_ref().map_or(",", |text| text.as_str());
            let mut out = String::new();
            let items = (0..length).map(|index| elements.get(index));
            join(items, separator, &mut out, budget, 0)?;
            Val::Str(out.into())
        }
        Method::StartsWith
        | Method::EndsWith
        | Method::ToLowerCase
        | Method::ToUpperCase
        | Method::Trim
        | Method::Replace
        | Method::ReplaceAll
        | Method::ToString
        | Method::Split => return Ok(None),
    }))
}

fn last_position<'a>(
    elements: &Elements<'a>,
    args: &[Val<'a>],
    budget: &mut Budget,
) -> Result<Option<usize>, Fault> {
    if elements.len() == 0 {
        return Ok(None);
    }
    let length = elements.len() as f64;
    // Unlike elsewhere, an `undefined` that is written out means 0.
    let from = match args.get(1) {
        Some(from) => to_integer(from, budget)?,
        None => length - 1.0,
    };
    let last = if from < 0.0 { length + from } else { from.min(length - 1.0) };
    if last < 0.0 {
        return Ok(None);
    }
    for index in (0..=last as usize).rev() {
        budget.work(1)?;
        let element = elements.get(index);
        if let Val::Str(text) = &element {
            budget.scan(text.as_str().len())?;
        }
        if strict_equal(&element, argument(args, 0)) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn concat<'a>(
    elements: &Elements<'a>,
    args: &[Val<'a>],
    budget: &mut Budget,
) -> Result<Val<'a>, Fault> {
    let mut items: Vec<Val<'a>> = Vec::new();
    gather(elements, &mut items, budget)?;
    for arg in args {
        match Elements::of(arg) {
            Some(more) => gather(&more, &mut items, budget)?,
            None => items.push(arg.clone()),
        }
    }
    Val::list(items, budget)
}

/// Appends elements; paid before they are gathered, so that no list grows past the budget.
pub(in crate::expr) fn gather<'a>(
    elements: &Elements<'a>,
    items: &mut Vec<Val<'a>>,
    budget: &mut Budget,
) -> Result<(), Fault> {
    budget.work(elements.len())?;
    budget.create(elements.len() * size_of::<Val<'a>>())?;
    items.extend((0..elements.len()).map(|index| elements.get(index)));
    Ok(())
}

fn position<'a>(
    elements: &Elements<'a>,
    wanted: &Val<'a>,
    from: &Val<'a>,
    equal: fn(&Val<'_>, &Val<'_>) -> bool,
    budget: &mut Budget,
) -> Result<Option<usize>, Fault> {
    // An empty array answers before it looks at `from`, as JavaScript's does.
    if elements.len() == 0 {
        return Ok(None);
    }
    for index in relative(from, elements.len(), budget)?..elements.len() {
        budget.work(1)?;
        let element = elements.get(index);
        if let Val::Str(text) = &element {
            budget.scan(text.as_str().len())?;
        }
        if equal(&element, wanted) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}
