//! `Text.*`: what the reader of natural language tells of a string.
//!
//! Ours, not JavaScript's, so nothing is converted: what is no string is an error.

use serde_json::Value;

use super::budget::Budget;
use super::error::Fault;
use super::value::Val;
use super::vocabulary::TextFunction;
use crate::json::{RepairLevel, read};
use crate::text;

/// Calls a function of `Text`.
pub(super) fn call<'a>(
    function: TextFunction,
    first: &Val<'a>,
    second: &Val<'a>,
    budget: &mut Budget,
) -> Result<Val<'a>, Fault> {
    let subject = string(first, function, budget)?;
    match function {
        TextFunction::Words => list(text::words(subject), budget),
        TextFunction::Numbers => list(text::numbers(subject), budget),
        TextFunction::Fingerprint => Val::string(text::fingerprint(subject), budget),
        TextFunction::Slug => Val::string(text::slug(subject), budget),
        TextFunction::Fields => fields(subject, budget),
        TextFunction::Similarity => {
            let other = string(second, function, budget)?;
            Ok(Val::Num(text::similarity(subject, other)))
        }
    }
}

/// The string that a function of `Text` was given; paid for, with the copy that is folded.
fn string<'v>(
    value: &'v Val<'_>,
    function: TextFunction,
    budget: &mut Budget,
) -> Result<&'v str, Fault> {
    let Val::Str(text) = value else {
        let name = function.name();
        let found = value.describe();
        return Err(Fault::new(format!("`Text.{name}` needs a string, found {found}")));
    };
    let text = text.as_str();
    // A letter that is folded and stemmed costs what a step does.
    budget.work(text.len())?;
    budget.create(text.len())?;
    Ok(text)
}

/// The names of the fields of the JSON object that a text is.
fn fields<'a>(text: &str, budget: &mut Budget) -> Result<Val<'a>, Fault> {
    match read(text, RepairLevel::None).map(|reading| reading.value) {
        Ok(Value::Object(members)) => {
            list(members.into_iter().map(|(name, _)| name).collect(), budget)
        }
        Ok(_) | Err(_) => Ok(Val::Undefined),
    }
}

fn list<'a>(texts: Vec<String>, budget: &mut Budget) -> Result<Val<'a>, Fault> {
    budget.work(texts.len())?;
    let items = texts.into_iter().map(|text| Val::string(text, budget));
    let items = items.collect::<Result<Vec<_>, _>>()?;
    Val::list(items, budget)
}

impl TextFunction {
    fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Fingerprint => "fingerprint",
            Self::Similarity => "similarity",
            Self::Numbers => "numbers",
            Self::Slug => "slug",
            Self::Fields => "fields",
        }
    }
}
