//! `Text.*`: the functions of [`crate::text`] for expressions.
//!
//! These are extensions to JavaScript and convert nothing: an argument that is not a string is an
//! error.

use serde_json::Value;

use super::eval_budget::EvalBudget;
use super::expr_error::UnlocatedError;
use super::expr_value::ExprValue;
use super::vocabulary::TextFunction;
use crate::json::{RepairLevel, parse_json};
use crate::text;

/// Calls a function of `Text`.
pub(super) fn call_text_function<'a>(
    function: TextFunction,
    first: &ExprValue<'a>,
    second: &ExprValue<'a>,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    if function == TextFunction::IsJson {
        return is_json(require_text(first, function)?, budget);
    }
    let subject = require_string(first, function, budget)?;
    match function {
        TextFunction::Words => build_string_list(text::split_words(subject), budget),
        TextFunction::Numbers => build_string_list(text::extract_numbers(subject), budget),
        TextFunction::Fingerprint => {
            ExprValue::new_string(text::compute_fingerprint(subject), budget)
        }
        TextFunction::Slug => ExprValue::new_string(text::slugify(subject), budget),
        TextFunction::Language => match text::detect_language(subject) {
            Some(language) => ExprValue::new_string(language.to_owned(), budget),
            None => Ok(ExprValue::Undefined),
        },
        TextFunction::Fields => list_json_fields(subject, budget),
        TextFunction::IsJson => is_json(subject, budget),
        TextFunction::Similarity => {
            let other = require_string(second, function, budget)?;
            Ok(ExprValue::Num(text::measure_similarity(subject, other)))
        }
    }
}

/// Returns the string argument of a `Text` function, and charges for reading it and for the folded
/// copy.
fn require_string<'v>(
    value: &'v ExprValue<'_>,
    function: TextFunction,
    budget: &mut EvalBudget,
) -> Result<&'v str, UnlocatedError> {
    let text = require_text(value, function)?;
    // Folding and stemming a letter costs about as much as a step.
    budget.charge_steps(text.len())?;
    budget.charge_bytes(text.len())?;
    Ok(text)
}

/// Returns the string argument of a `Text` function without a charge.
fn require_text<'v>(
    value: &'v ExprValue<'_>,
    function: TextFunction,
) -> Result<&'v str, UnlocatedError> {
    let ExprValue::Str(text) = value else {
        let name = function.name();
        let found = value.describe();
        return Err(UnlocatedError::new(format!("`Text.{name}` needs a string, found {found}")));
    };
    Ok(text.as_str())
}

/// Returns whether the whole text is one JSON value. The value is dropped, so the text costs only
/// what reading it costs.
fn is_json<'a>(text: &str, budget: &mut EvalBudget) -> Result<ExprValue<'a>, UnlocatedError> {
    budget.charge_scan(text.len())?;
    Ok(ExprValue::Bool(parse_json(text, RepairLevel::None).is_ok()))
}

/// Returns the field names of a JSON object in text form; undefined if the text is not a JSON
/// object.
fn list_json_fields<'a>(
    text: &str,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    match parse_json(text, RepairLevel::None).map(|reading| reading.value) {
        Ok(Value::Object(members)) => {
            build_string_list(members.into_iter().map(|(name, _)| name).collect(), budget)
        }
        Ok(_) | Err(_) => Ok(ExprValue::Undefined),
    }
}

fn build_string_list<'a>(
    texts: Vec<String>,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    budget.charge_steps(texts.len())?;
    let items = texts.into_iter().map(|text| ExprValue::new_string(text, budget));
    let items = items.collect::<Result<Vec<_>, _>>()?;
    ExprValue::new_list(items, budget)
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
            Self::IsJson => "isJson",
            Self::Language => "language",
        }
    }
}
