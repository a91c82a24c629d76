//! String methods. Positions are UTF-16 code units, as in JavaScript.

use super::{argument_at, to_exact_index, to_relative_end, to_relative_index};
use crate::expr::coerce::{append_value, to_expr_string, to_integer, to_number};
use crate::expr::eval_budget::EvalBudget;
use crate::expr::expr_error::UnlocatedError;
use crate::expr::expr_string::{self, CodeUnitPosition, ExprString, is_js_space};
use crate::expr::expr_value::ExprValue;
use crate::expr::vocabulary::BuiltinMethod;

/// Calls a string method. Returns `None` if strings have no such method.
pub(in crate::expr) fn call_string_method<'a>(
    text: &ExprString<'a>,
    method: BuiltinMethod,
    args: &[ExprValue<'a>],
    budget: &mut EvalBudget,
) -> Result<Option<ExprValue<'a>>, UnlocatedError> {
    let subject = text.as_str();
    let first = argument_at(args, 0);
    let second = argument_at(args, 1);
    budget.charge_scan(subject.len())?;
    Ok(Some(match method {
        BuiltinMethod::Includes => {
            ExprValue::Bool(find_text(subject, first, second, budget)?.is_some())
        }
        BuiltinMethod::IndexOf => {
            let found = find_text(subject, first, second, budget)?;
            ExprValue::Num(found.map_or(-1.0, |units| units as f64))
        }
        BuiltinMethod::StartsWith => ExprValue::Bool(starts_with(subject, first, second, budget)?),
        BuiltinMethod::EndsWith => ExprValue::Bool(ends_with(subject, first, second, budget)?),
        BuiltinMethod::At => {
            match to_exact_index(first, expr_string::utf16_len(subject), budget)? {
                Some(unit) => slice_units(text, unit, unit + 1, budget)?,
                None => ExprValue::Undefined,
            }
        }
        BuiltinMethod::Slice => {
            let length = expr_string::utf16_len(subject);
            let from = to_relative_index(first, length, budget)?;
            let to = to_relative_end(second, length, budget)?;
            slice_units(text, from, to, budget)?
        }
        BuiltinMethod::ToLowerCase => ExprValue::new_string(subject.to_lowercase(), budget)?,
        BuiltinMethod::ToUpperCase => ExprValue::new_string(subject.to_uppercase(), budget)?,
        BuiltinMethod::Trim => {
            let start = subject.len() - subject.trim_start_matches(is_js_space).len();
            let end = subject.trim_end_matches(is_js_space).len().max(start);
            ExprValue::Str(text.slice(start..end, budget)?)
        }
        BuiltinMethod::Split => split_text(text, first, second, budget)?,
        BuiltinMethod::Concat => {
            let mut out = String::new();
            budget.charge_bytes(subject.len())?;
            out.push_str(subject);
            for arg in args {
                append_value(arg, &mut out, budget, 0)?;
            }
            ExprValue::Str(out.into())
        }
        BuiltinMethod::LastIndexOf => {
            let found = find_last_text(subject, first, second, budget)?;
            ExprValue::Num(found.map_or(-1.0, |units| units as f64))
        }
        BuiltinMethod::Replace => replace_text(subject, first, second, false, budget)?,
        BuiltinMethod::ReplaceAll => replace_text(subject, first, second, true, budget)?,
        BuiltinMethod::ToString => ExprValue::Str(text.clone()),
        BuiltinMethod::Join | BuiltinMethod::ToReversed => return Ok(None),
    }))
}

fn slice_units<'a>(
    text: &ExprString<'a>,
    from: usize,
    to: usize,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    let range = expr_string::find_byte_range(text.as_str(), from, to)?;
    Ok(ExprValue::Str(text.slice(range, budget)?))
}

/// Converts a value to a position as `indexOf` does: clamped, not relative to the end.
fn to_clamped_index(
    value: &ExprValue<'_>,
    length: usize,
    budget: &mut EvalBudget,
) -> Result<usize, UnlocatedError> {
    Ok(to_integer(value, budget)?.clamp(0.0, length as f64) as usize)
}

fn find_text(
    subject: &str,
    needle: &ExprValue<'_>,
    from: &ExprValue<'_>,
    budget: &mut EvalBudget,
) -> Result<Option<usize>, UnlocatedError> {
    let needle = to_expr_string(needle, budget)?;
    let from = to_clamped_index(from, expr_string::utf16_len(subject), budget)?;
    if needle.as_str().is_empty() {
        return Ok(Some(from));
    }
    // No needle starts with half a surrogate pair, so a start inside a pair can move to its end.
    let (CodeUnitPosition::Boundary(start) | CodeUnitPosition::InsideSurrogatePair(start)) =
        expr_string::find_position(subject, from);
    let found = subject[start..].find(needle.as_str());
    Ok(found.map(|byte| expr_string::utf16_len(&subject[..start + byte])))
}

fn find_last_text(
    subject: &str,
    needle: &ExprValue<'_>,
    from: &ExprValue<'_>,
    budget: &mut EvalBudget,
) -> Result<Option<usize>, UnlocatedError> {
    let needle = to_expr_string(needle, budget)?;
    let needle = needle.as_str();
    let from = to_number(from, budget)?;
    let length = expr_string::utf16_len(subject);
    let from = if from.is_nan() { length } else { from.clamp(0.0, length as f64) as usize };
    // The last byte where a match can start: inside a pair, the byte before the next character.
    let last = match expr_string::find_position(subject, from) {
        CodeUnitPosition::Boundary(byte) => byte,
        CodeUnitPosition::InsideSurrogatePair(_) if needle.is_empty() => return Ok(Some(from)),
        CodeUnitPosition::InsideSurrogatePair(next) => next - 1,
    };
    let end = subject.floor_char_boundary(last + needle.len());
    Ok(subject[..end].rfind(needle).map(|byte| expr_string::utf16_len(&subject[..byte])))
}

fn starts_with(
    subject: &str,
    needle: &ExprValue<'_>,
    from: &ExprValue<'_>,
    budget: &mut EvalBudget,
) -> Result<bool, UnlocatedError> {
    let needle = to_expr_string(needle, budget)?;
    let from = to_clamped_index(from, expr_string::utf16_len(subject), budget)?;
    Ok(match expr_string::find_position(subject, from) {
        CodeUnitPosition::Boundary(start) => subject[start..].starts_with(needle.as_str()),
        CodeUnitPosition::InsideSurrogatePair(_) => needle.as_str().is_empty(),
    })
}

fn ends_with(
    subject: &str,
    needle: &ExprValue<'_>,
    to: &ExprValue<'_>,
    budget: &mut EvalBudget,
) -> Result<bool, UnlocatedError> {
    let needle = to_expr_string(needle, budget)?;
    let to = match to {
        ExprValue::Undefined => expr_string::utf16_len(subject),
        argument => to_clamped_index(argument, expr_string::utf16_len(subject), budget)?,
    };
    Ok(match expr_string::find_position(subject, to) {
        CodeUnitPosition::Boundary(end) => subject[..end].ends_with(needle.as_str()),
        CodeUnitPosition::InsideSurrogatePair(_) => needle.as_str().is_empty(),
    })
}

/// `replace` and `replaceAll` with a string pattern, in which no character is special.
fn replace_text<'a>(
    subject: &str,
    pattern: &ExprValue<'_>,
    replacement: &ExprValue<'_>,
    all: bool,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    let pattern = to_expr_string(pattern, budget)?;
    let (pattern, replacement) = (pattern.as_str(), to_expr_string(replacement, budget)?);
    let mut out = String::new();
    let mut push = |text: &str, budget: &mut EvalBudget| {
        budget.charge_bytes(text.len())?;
        out.push_str(text);
        Ok::<(), UnlocatedError>(())
    };
    let mut done = 0;
    for (at, matched) in subject.match_indices(pattern) {
        budget.charge_steps(1)?;
        // JavaScript also finds the empty string between the halves of a surrogate pair.
        let passed = &subject[done..at];
        if all && pattern.is_empty() && passed.chars().any(|one| one.len_utf16() > 1) {
            return Err(expr_string::split_surrogate_error());
        }
        push(passed, budget)?;
        append_replacement(replacement.as_str(), (subject, at, matched), &mut push, budget)?;
        done = at + matched.len();
        if !all {
            break;
        }
    }
    push(&subject[done..], budget)?;
    Ok(ExprValue::Str(out.into()))
}

/// Appends the replacement of one match: `$$`, `$&`, `` $` `` and `$'` stand for a dollar sign, the
/// match, and the text before and after it. Without a regular expression there are no groups.
fn append_replacement(
    replacement: &str,
    (subject, at, matched): (&str, usize, &str),
    push: &mut impl FnMut(&str, &mut EvalBudget) -> Result<(), UnlocatedError>,
    budget: &mut EvalBudget,
) -> Result<(), UnlocatedError> {
    let mut rest = replacement;
    while let Some(dollar) = rest.find('$') {
        push(&rest[..dollar], budget)?;
        budget.charge_steps(1)?;
        let text = match rest.as_bytes().get(dollar + 1) {
            Some(b'$') => "$",
            Some(b'&') => matched,
            Some(b'`') => &subject[..at],
            Some(b'\'') => &subject[at + matched.len()..],
            _ => {
                push("$", budget)?;
                rest = &rest[dollar + 1..];
                continue;
            }
        };
        push(text, budget)?;
        rest = &rest[dollar + 2..];
    }
    push(rest, budget)
}

fn split_text<'a>(
    text: &ExprString<'a>,
    separator: &ExprValue<'_>,
    limit: &ExprValue<'_>,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    let limit = match limit {
        ExprValue::Undefined => u32::MAX as usize,
        argument => to_uint32(to_number(argument, budget)?) as usize,
    };
    let subject = text.as_str();
    let pieces = match separator {
        ExprValue::Undefined => vec![ExprValue::Str(text.clone())],
        argument => {
            let separator = to_expr_string(argument, budget)?;
            if separator.as_str().is_empty() {
                return ExprValue::new_list(split_code_units(text, limit, budget)?, budget);
            }
            let width = separator.as_str().len();
            let mut pieces = Vec::new();
            let mut start = 0;
            for piece in subject.split(separator.as_str()).take(limit) {
                budget.charge_steps(1)?;
                let end = start + piece.len();
                pieces.push(ExprValue::Str(text.slice(start..end, budget)?));
                start = end + width;
            }
            pieces
        }
    };
    ExprValue::new_list(pieces.into_iter().take(limit).collect(), budget)
}

/// Returns the first `limit` code units, each as its own string.
pub(in crate::expr) fn split_code_units<'a>(
    text: &ExprString<'a>,
    limit: usize,
    budget: &mut EvalBudget,
) -> Result<Vec<ExprValue<'a>>, UnlocatedError> {
    let mut units = Vec::new();
    for (start, character) in text.as_str().char_indices().take(limit) {
        budget.charge_steps(1)?;
        if character.len_utf16() > 1 {
            return Err(expr_string::split_surrogate_error());
        }
        units.push(ExprValue::Str(text.slice(start..start + character.len_utf8(), budget)?));
    }
    Ok(units)
}

/// `ToUint32`: the integer part modulo 2³².
fn to_uint32(number: f64) -> u32 {
    if !number.is_finite() {
        return 0;
    }
    number.trunc().rem_euclid(4_294_967_296.0) as u32
}
