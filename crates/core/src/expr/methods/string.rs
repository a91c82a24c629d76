//! Methods of strings. Positions are UTF-16 code units, as in JavaScript.

use super::{argument, exactly, relative, relative_end};
use crate::expr::budget::Budget;
use crate::expr::coerce::{to_integer, to_number, to_text, write_text};
use crate::expr::error::Fault;
use crate::expr::text::{self, Place, Text, is_js_space};
use crate::expr::value::Val;
use crate::expr::vocabulary::Method;

/// Calls a method; `None` if strings have no such method.
pub(in crate::expr) fn call<'a>(
    text: &Text<'a>,
    method: Method,
    args: &[Val<'a>],
    budget: &mut Budget,
) -> Result<Option<Val<'a>>, Fault> {
    let subject = text.as_str();
    let first = argument(args, 0);
    let second = argument(args, 1);
    budget.scan(subject.len())?;
    Ok(Some(match method {
        Method::Includes => Val::Bool(find(subject, first, second, budget)?.is_some()),
        Method::IndexOf => {
            let found = find(subject, first, second, budget)?;
            Val::Num(found.map_or(-1.0, |units| units as f64))
        }
        Method::StartsWith => Val::Bool(starts_with(subject, first, second, budget)?),
        Method::EndsWith => Val::Bool(ends_with(subject, first, second, budget)?),
        Method::At => match exactly(first, text::length(subject), budget)? {
            Some(unit) => part(text, unit, unit + 1, budget)?,
            None => Val::Undefined,
        },
        Method::Slice => {
            let length = text::length(subject);
            let from = relative(first, length, budget)?;
            let to = relative_end(second, length, budget)?;
            part(text, from, to, budget)?
        }
        Method::ToLowerCase => Val::string(subject.to_lowercase(), budget)?,
        Method::ToUpperCase => Val::string(subject.to_uppercase(), budget)?,
        Method::Trim => {
            let start = subject.len() - subject.trim_start_matches(is_js_space).len();
            let end = subject.trim_end_matches(is_js_space).len().max(start);
            Val::Str(text.part(start..end, budget)?)
        }
        Method::Split => split(text, first, second, budget)?,
        Method::Concat => {
            let mut out = String::new();
            budget.create(subject.len())?;
            out.push_str(subject);
            for arg in args {
                write_text(arg, &mut out, budget, 0)?;
            }
            Val::Str(out.into())
        }
        Method::LastIndexOf => {
            let found = find_last(subject, first, second, budget)?;
            Val::Num(found.map_or(-1.0, |units| units as f64))
        }
        Method::Replace => replace(subject, first, second, false, budget)?,
        Method::ReplaceAll => replace(subject, first, second, true, budget)?,
        Method::ToString => Val::Str(text.clone()),
        Method::Join | Method::ToReversed => return Ok(None),
    }))
}

fn part<'a>(
    text: &Text<'a>,
    from: usize,
    to: usize,
    budget: &mut Budget,
) -> Result<Val<'a>, Fault> {
    let range = text::range(text.as_str(), from, to)?;
    Ok(Val::Str(text.part(range, budget)?))
}

/// A position as `indexOf` and its kin take it: not relative to the end.
fn clamped(value: &Val<'_>, length: usize, budget: &mut Budget) -> Result<usize, Fault> {
    Ok(to_integer(value, budget)?.clamp(0.0, length as f64) as usize)
}

fn find(
    subject: &str,
    needle: &Val<'_>,
    from: &Val<'_>,
    budget: &mut Budget,
) -> Result<Option<usize>, Fault> {
    let needle = to_text(needle, budget)?;
    let from = clamped(from, text::length(subject), budget)?;
    if needle.as_str().is_empty() {
        return Ok(Some(from));
    }
    // No needle begins with half a pair, so a start inside one may move on.
    let (Place::Between(start) | Place::Inside(start)) = text::place(subject, from);
    let found = subject[start..].find(needle.as_str());
    Ok(found.map(|byte| text::length(&subject[..start + byte])))
}

fn find_last(
    subject: &str,
    needle: &Val<'_>,
    from: &Val<'_>,
    budget: &mut Budget,
) -> Result<Option<usize>, Fault> {
    let needle = to_text(needle, budget)?;
    let needle = needle.as_str();
    let from = to_number(from, budget)?;
    let length = text::length(subject);
    let from = if from.is_nan() { length } else { from.clamp(0.0, length as f64) as usize };
    // The last byte a match may begin at: inside a pair, the character before the next one.
    let last = match text::place(subject, from) {
        Place::Between(byte) => byte,
        Place::Inside(_) if needle.is_empty() => return Ok(Some(from)),
        Place::Inside(next) => next - 1,
    };
    let end = subject.floor_char_boundary(last + needle.len());
    Ok(subject[..end].rfind(needle).map(|byte| text::length(&subject[..byte])))
}

fn starts_with(
    subject: &str,
    needle: &Val<'_>,
    from: &Val<'_>,
    budget: &mut Budget,
) -> Result<bool, Fault> {
    let needle = to_text(needle, budget)?;
    let from = clamped(from, text::length(subject), budget)?;
    Ok(match text::place(subject, from) {
        Place::Between(start) => subject[start..].starts_with(needle.as_str()),
        Place::Inside(_) => needle.as_str().is_empty(),
    })
}

fn ends_with(
    subject: &str,
    needle: &Val<'_>,
    to: &Val<'_>,
    budget: &mut Budget,
) -> Result<bool, Fault> {
    let needle = to_text(needle, budget)?;
    let to = match to {
        Val::Undefined => text::length(subject),
        given => clamped(given, text::length(subject), budget)?,
    };
    Ok(match text::place(subject, to) {
        Place::Between(end) => subject[..end].ends_with(needle.as_str()),
        Place::Inside(_) => needle.as_str().is_empty(),
    })
}

/// `replace` and `replaceAll` with a string for a pattern: nothing in the pattern is special.
fn replace<'a>(
    subject: &str,
    pattern: &Val<'_>,
    replacement: &Val<'_>,
    all: bool,
    budget: &mut Budget,
) -> Result<Val<'a>, Fault> {
    let pattern = to_text(pattern, budget)?;
    let (pattern, replacement) = (pattern.as_str(), to_text(replacement, budget)?);
    let mut out = String::new();
    let mut push = |text: &str, budget: &mut Budget| {
        budget.create(text.len())?;
        out.push_str(text);
        Ok::<(), Fault>(())
    };
    let mut done = 0;
    for (at, matched) in subject.match_indices(pattern) {
        budget.work(1)?;
        // Between the halves of a pair JavaScript finds the empty string too.
        let passed = &subject[done..at];
        if all && pattern.is_empty() && passed.chars().any(|one| one.len_utf16() > 1) {
            return Err(text::split_pair());
        }
        push(passed, budget)?;
        substitute(replacement.as_str(), (subject, at, matched), &mut push, budget)?;
        done = at + matched.len();
        if !all {
            break;
        }
    }
    push(&subject[done..], budget)?;
    Ok(Val::Str(out.into()))
}

/// Writes the replacement of one match: `$$`, `$&`, `` $` `` and `$'` stand for a dollar, the match, and
/// what is before and behind it. Without a regular expression there are no groups.
fn substitute(
    replacement: &str,
    (subject, at, matched): (&str, usize, &str),
    push: &mut impl FnMut(&str, &mut Budget) -> Result<(), Fault>,
    budget: &mut Budget,
) -> Result<(), Fault> {
    let mut rest = replacement;
    while let Some(dollar) = rest.find('$') {
        push(&rest[..dollar], budget)?;
        budget.work(1)?;
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

fn split<'a>(
    text: &Text<'a>,
    separator: &Val<'_>,
    limit: &Val<'_>,
    budget: &mut Budget,
) -> Result<Val<'a>, Fault> {
    let limit = match limit {
        Val::Undefined => u32::MAX as usize,
        given => to_uint32(to_number(given, budget)?) as usize,
    };
    let subject = text.as_str();
    let pieces = match separator {
        Val::Undefined => vec![Val::Str(text.clone())],
        given => {
            let separator = to_text(given, budget)?;
            if separator.as_str().is_empty() {
                return Val::list(code_units(text, limit, budget)?, budget);
            }
            let width = separator.as_str().len();
            let mut pieces = Vec::new();
            let mut start = 0;
            for piece in subject.split(separator.as_str()).take(limit) {
                budget.work(1)?;
                let end = start + piece.len();
                pieces.push(Val::Str(text.part(start..end, budget)?));
                start = end + width;
            }
            pieces
        }
    };
    Val::list(pieces.into_iter().take(limit).collect(), budget)
}

/// The first `limit` code units, each as a string of its own.
pub(in crate::expr) fn code_units<'a>(
    text: &Text<'a>,
    limit: usize,
    budget: &mut Budget,
) -> Result<Vec<Val<'a>>, Fault> {
    let mut units = Vec::new();
    for (start, character) in text.as_str().char_indices().take(limit) {
        budget.work(1)?;
        if character.len_utf16() > 1 {
            return Err(text::split_pair());
        }
        units.push(Val::Str(text.part(start..start + character.len_utf8(), budget)?));
    }
    Ok(units)
}

/// `ToUint32`: the whole part, modulo 2³².
fn to_uint32(number: f64) -> u32 {
    if !number.is_finite() {
        return 0;
    }
    number.trunc().rem_euclid(4_294_967_296.0) as u32
}
