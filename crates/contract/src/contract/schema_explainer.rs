//! Turns errors of the schema engine into violations: one each, one per field for unknown fields,
//! and those of the nearest branch for alternatives.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::describe_schema::{ANY_VALUE, add_article, describe_schema, join_items};
use super::explain_branches;
use crate::json;
use crate::reply::{Violation, ViolationCode, ViolationList, format_value};
use crate::similar_name::find_similar_name;

/// The maximum number of names that are compared with a missing or unknown one to find a typo.
const COMPARED_NAMES: usize = 256;

/// Explains errors against the schema that was violated.
#[derive(Debug, Clone, Copy)]
pub(super) struct SchemaExplainer<'s> {
    pub(super) schema: &'s Value,
}

impl<'s> SchemaExplainer<'s> {
    /// Turns one error of the engine into violations: one per field for unknown fields, and those
    /// of the nearest branch for alternatives.
    pub(super) fn explain_error(
        self,
        error: &ValidationError<'_>,
        base: &str,
        into: &mut ViolationList,
    ) {
        use ValidationErrorKind as Kind;
        if into.is_full() {
            into.count_more(match error.kind() {
                Kind::AdditionalProperties { unexpected }
                | Kind::UnevaluatedProperties { unexpected } => unexpected.len(),
                _ => 1,
            });
            return;
        }
        let pointer = format!("{base}{}", error.instance_path().as_str());
        let found = format_value(error.instance());
        let single = |code: ViolationCode, expected: String| {
            Violation::new(code, &pointer, expected, &found)
        };
        let violation = match error.kind() {
            Kind::Required { property } => {
                into.push(self.describe_missing_field(
                    error,
                    &pointer,
                    property.as_str().unwrap_or_default(),
                ));
                return;
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                let known = self.list_known_fields(error);
                for (index, name) in unexpected.iter().enumerate() {
                    if into.is_full() {
                        into.count_more(unexpected.len() - index);
                        break;
                    }
                    into.push(describe_unknown_field(&pointer, name, &known, error));
                }
                return;
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                explain_branches::explain_branches(self, error, &pointer, context, into);
                return;
            }
            Kind::PropertyNames { error: inner } => {
                let name = inner.instance().as_str().unwrap_or_default();
                let at = json::child_pointer(&pointer, name);
                let expected = "a field name the schema allows";
                Violation::new(ViolationCode::UnknownField, at, expected, format!("{name:?}"))
            }
            Kind::Enum { options } => {
                let options: Vec<&Value> = options.as_array().into_iter().flatten().collect();
                let expected =
                    format!("one of {}", join_items(options.iter().map(ToString::to_string)));
                let violation = single(ViolationCode::Enum, expected);
                let word = error.instance().as_str().unwrap_or_default();
                let names = options.iter().filter_map(|option| option.as_str());
                match find_similar_name(word, names.take(COMPARED_NAMES)) {
                    Some(meant) => violation.with_hint(format!("did you mean \"{meant}\"?")),
                    None => violation,
                }
            }
            Kind::Constant { expected_value } => {
                single(ViolationCode::Const, expected_value.to_string())
            }
            Kind::Type { kind } => {
                let violation = single(ViolationCode::Type, describe_types(kind));
                match suggest_type_fix(kind, error.instance()) {
                    Some(hint) => violation.with_hint(hint),
                    None => violation,
                }
            }
            Kind::Pattern { pattern } => {
                single(ViolationCode::Pattern, format!("text matching `{pattern}`"))
            }
            Kind::Format { format } => {
                single(ViolationCode::Format, format!("text in the format `{format}`"))
            }
            Kind::OneOfMultipleValid { .. } => single(
                ViolationCode::OneOf,
                "a value that fits exactly one of the alternatives".to_owned(),
            ),
            Kind::Not { schema } => match describe_schema(schema) {
                words if words == ANY_VALUE => {
                    single(ViolationCode::Not, "a value the schema does not exclude".to_owned())
                }
                words => single(ViolationCode::Not, format!("anything but {words}")),
            },
            Kind::FalseSchema => single(ViolationCode::Not, "no value here".to_owned()),
            Kind::ContentEncoding { .. }
            | Kind::ContentMediaType { .. }
            | Kind::FromUtf8 { .. } => single(ViolationCode::Content, error.to_string()),
            kind => match describe_bound(kind) {
                Some((code, expected)) => single(code, expected),
                None => single(ViolationCode::Schema, error.to_string()),
            },
        };
        into.push(violation);
    }

    fn describe_missing_field(
        self,
        error: &ValidationError<'_>,
        pointer: &str,
        field: &str,
    ) -> Violation {
        let at = json::child_pointer(pointer, field);
        let here = self
            .find_enclosing_schema(error)
            .and_then(|object| object.get("properties")?.get(field));
        let declared = [here, self.find_declared_schema(&at)]
            .into_iter()
            .flatten()
            .map(describe_schema)
            .find(|words| words != ANY_VALUE)
            .unwrap_or_else(|| ANY_VALUE.to_owned());
        let message = format!("{at}: expected {declared}, found nothing: the field is missing");
        let violation =
            Violation::new(ViolationCode::Required, at, declared, "nothing").with_message(message);
        let present = error.instance().as_object().into_iter().flat_map(|object| object.keys());
        let known = self
            .find_enclosing_schema(error)
            .and_then(|object| object.get("properties")?.as_object());
        let strangers = present
            .map(String::as_str)
            .filter(|name| known.is_none_or(|known| !known.contains_key(*name)))
            .take(COMPARED_NAMES);
        match find_similar_name(field, strangers) {
            Some(name) => violation.with_hint(format!("there is a field `{name}`; rename it")),
            None => violation,
        }
    }

    /// Returns the subschema for a pointer if `properties` and `items` alone lead there. A branch
    /// that requires a field seldom describes the field again.
    fn find_declared_schema(self, pointer: &str) -> Option<&'s Value> {
        json::split_pointer(pointer).try_fold(self.schema, |schema, segment| {
            schema
                .get("properties")
                .and_then(|fields| fields.get(segment.as_ref()))
                .or_else(|| schema.get("items"))
        })
    }

    /// Returns the schema object that contains the failed keyword.
    fn find_enclosing_schema(self, error: &ValidationError<'_>) -> Option<&'s Value> {
        let keyword = error.schema_path().as_str();
        self.schema.pointer(json::parent_pointer(keyword)?)
    }

    fn list_known_fields(self, error: &ValidationError<'_>) -> Vec<&'s str> {
        self.find_enclosing_schema(error)
            .and_then(|object| object.get("properties")?.as_object())
            .map(|fields| fields.keys().map(String::as_str).collect())
            .unwrap_or_default()
    }
}

fn describe_unknown_field(
    pointer: &str,
    name: &str,
    known: &[&str],
    error: &ValidationError<'_>,
) -> Violation {
    let expected = if known.is_empty() {
        "no such field".to_owned()
    } else {
        format!("only {}", join_items(known.iter().map(|field| format!("`{field}`"))))
    };
    let value = error.instance().get(name).map_or_else(|| format!("`{name}`"), format_value);
    let at = json::child_pointer(pointer, name);
    let message = format!("{at}: `{name}` is not a field of this object; expected {expected}");
    let violation =
        Violation::new(ViolationCode::UnknownField, at, expected, value).with_message(message);
    match find_similar_name(name, known.iter().copied().take(COMPARED_NAMES)) {
        Some(meant) => violation.with_hint(format!("did you mean `{meant}`?")),
        None => violation,
    }
}

/// Returns the code and the expectation of a keyword that sets a bound.
fn describe_bound(kind: &ValidationErrorKind) -> Option<(ViolationCode, String)> {
    use ValidationErrorKind as Kind;
    let least = |limit: u64, noun: &str| format!("at least {}", format_count(limit, noun));
    let most = |limit: u64, noun: &str| format!("at most {}", format_count(limit, noun));
    Some(match kind {
        Kind::MinLength { limit } => (ViolationCode::MinLength, least(*limit, "character")),
        Kind::MaxLength { limit } => (ViolationCode::MaxLength, most(*limit, "character")),
        Kind::Minimum { limit } => (ViolationCode::Minimum, format!("at least {limit}")),
        Kind::Maximum { limit } => (ViolationCode::Maximum, format!("at most {limit}")),
        Kind::ExclusiveMinimum { limit } => (ViolationCode::Minimum, format!("more than {limit}")),
        Kind::ExclusiveMaximum { limit } => (ViolationCode::Maximum, format!("less than {limit}")),
        Kind::MultipleOf { multiple_of } => {
            (ViolationCode::MultipleOf, format!("a multiple of {multiple_of}"))
        }
        Kind::MinItems { limit } => (ViolationCode::MinItems, least(*limit, "item")),
        Kind::MaxItems { limit } => (ViolationCode::MaxItems, most(*limit, "item")),
        Kind::AdditionalItems { limit } => (ViolationCode::MaxItems, most(*limit as u64, "item")),
        Kind::UnevaluatedItems { .. } => (ViolationCode::MaxItems, "no further items".to_owned()),
        Kind::UniqueItems => (ViolationCode::UniqueItems, "no duplicate items".to_owned()),
        Kind::Contains => {
            (ViolationCode::Contains, "the items that the schema requires".to_owned())
        }
        Kind::MinProperties { limit } => (ViolationCode::MinProperties, least(*limit, "field")),
        Kind::MaxProperties { limit } => (ViolationCode::MaxProperties, most(*limit, "field")),
        _ => return None,
    })
}

/// Returns a hint for the type errors that models make most often.
fn suggest_type_fix(kind: &TypeKind, found: &Value) -> Option<&'static str> {
    let TypeKind::Single(wanted) = kind else { return None };
    match (wanted.to_string().as_str(), found) {
        ("number" | "integer", Value::String(text)) if text.trim().parse::<f64>().is_ok() => {
            Some("write the number without quotes")
        }
        ("boolean", Value::String(text)) if matches!(text.as_str(), "true" | "false") => {
            Some("write true or false without quotes")
        }
        ("string", Value::Number(_) | Value::Bool(_)) => Some("put it in quotes"),
        ("array", Value::String(_) | Value::Object(_)) => Some("put it in [ ]"),
        _ => None,
    }
}

fn describe_types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => add_article(&kind.to_string()),
        TypeKind::Multiple(kinds) => {
            let names: Vec<String> =
                kinds.iter().map(|kind| add_article(&kind.to_string())).collect();
            names.join(" or ")
        }
    }
}

fn format_count(limit: u64, noun: &str) -> String {
    if limit == 1 { format!("1 {noun}") } else { format!("{limit} {noun}s") }
}
