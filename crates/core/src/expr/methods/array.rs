//! Methods of arrays that take values only.

use super::{argument, exactly, relative, relative_end};
use crate::expr::budget::Budget;
use crate::expr::coerce::{join, same_value, strict_equal, to_text};
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
        | Method::Split => return Ok(None),
    }))
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
