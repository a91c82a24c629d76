//! The schema engine's faults in our words: one violation each, several for unknown fields, the
//! nearest branch's for alternatives.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::branch;
use super::describe::{ANYTHING, a_list, describe, with_article};
use crate::json;
use crate::nearest::nearest;
use crate::reply::{Code, Violation, ViolationList, show};

/// How many names a missing or unknown one is compared with, in search of a slip.
const COMPARED_NAMES: usize = 256;

/// Explains faults against the schema that was broken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Explain<'s> {
    pub(super) schema: &'s Value,
}

impl<'s> Explain<'s> {
    /// Turns one fault of the engine into violations: several for unknown fields, the nearest
    /// branch's for alternatives.
    pub(super) fn fault(self, error: &ValidationError<'_>, base: &str, into: &mut ViolationList) {
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
        let found = show(error.instance());
        let single =
            |code: Code, expected: String| Violation::new(code, &pointer, expected, &found);
        let violation = match error.kind() {
            Kind::Required { property } => {
                into.push(self.missing(error, &pointer, property.as_str().unwrap_or_default()));
                return;
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                let known = self.known_fields(error);
                for (index, name) in unexpected.iter().enumerate() {
                    if into.is_full() {
                        into.count_more(unexpected.len() - index);
                        break;
                    }
                    into.push(unknown(&pointer, name, &known, error));
                }
                return;
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                branch::explain(self, error, &pointer, context, into);
                return;
            }
            Kind::PropertyNames { error: inner } => {
                let name = inner.instance().as_str().unwrap_or_default();
                let at = json::child(&pointer, name);
                let expected = "a field name the schema allows";
                Violation::new(Code::UnknownField, at, expected, format!("{name:?}"))
            }
            Kind::Enum { options } => {
                let options: Vec<&Value> = options.as_array().into_iter().flatten().collect();
                let expected =
                    format!("one of {}", a_list(options.iter().map(ToString::to_string)));
                let violation = single(Code::Enum, expected);
                let word = error.instance().as_str().unwrap_or_default();
                let names = options.iter().filter_map(|option| option.as_str());
                match nearest(word, names.take(COMPARED_NAMES)) {
                    Some(meant) => violation.hinting(format!("did you mean \"{meant}\"?")),
                    None => violation,
                }
            }
            Kind::Constant { expected_value } => single(Code::Const, expected_value.to_string()),
            Kind::Type { kind } => {
                let violation = single(Code::Type, type_names(kind));
                match type_hint(kind, error.instance()) {
                    Some(hint) => violation.hinting(hint),
                    None => violation,
                }
            }
            Kind::Pattern { pattern } => {
                single(Code::Pattern, format!("text matching `{pattern}`"))
            }
            Kind::Format { format } => {
                single(Code::Format, format!("text of the format `{format}`"))
            }
            Kind::OneOfMultipleValid { .. } => {
                single(Code::OneOf, "exactly one of the alternatives to fit".to_owned())
            }
            Kind::Not { schema } => match describe(schema) {
                words if words == ANYTHING => {
                    single(Code::Not, "a value the schema does not exclude".to_owned())
                }
                words => single(Code::Not, format!("anything but {words}")),
            },
            Kind::FalseSchema => single(Code::Not, "nothing here".to_owned()),
            Kind::ContentEncoding { .. }
            | Kind::ContentMediaType { .. }
            | Kind::FromUtf8 { .. } => single(Code::Content, error.to_string()),
            kind => match bound(kind) {
                Some((code, expected)) => single(code, expected),
                None => single(Code::Schema, error.to_string()),
            },
        };
        into.push(violation);
    }

    fn missing(self, error: &ValidationError<'_>, pointer: &str, field: &str) -> Violation {
        let at = json::child(pointer, field);
        let here = self.beside(error).and_then(|object| object.get("properties")?.get(field));
        let declared = [here, self.declared(&at)]
            .into_iter()
            .flatten()
            .map(describe)
            .find(|words| words != ANYTHING)
            .unwrap_or_else(|| ANYTHING.to_owned());
        let message = format!("{at}: expected {declared}, found nothing: the field is missing");
        let violation = Violation::new(Code::Required, at, declared, "nothing").saying(message);
        let present = error.instance().as_object().into_iter().flat_map(|object| object.keys());
        let known = self.beside(error).and_then(|object| object.get("properties")?.as_object());
        let strangers = present
            .map(String::as_str)
            .filter(|name| known.is_none_or(|known| !known.contains_key(*name)))
            .take(COMPARED_NAMES);
        match nearest(field, strangers) {
            Some(name) => violation.hinting(format!("there is a field `{name}`; rename it")),
            None => violation,
        }
    }

    /// What the schema says of a place, where plain `properties` and `items` lead there: a branch
    /// that demands a field seldom describes it again.
    fn declared(self, pointer: &str) -> Option<&'s Value> {
        json::split(pointer).try_fold(self.schema, |schema, segment| {
            schema
                .get("properties")
                .and_then(|fields| fields.get(segment.as_ref()))
                .or_else(|| schema.get("items"))
        })
    }

    /// The schema object in which the failed keyword stands.
    fn beside(self, error: &ValidationError<'_>) -> Option<&'s Value> {
        let keyword = error.schema_path().as_str();
        self.schema.pointer(json::parent(keyword)?)
    }

    fn known_fields(self, error: &ValidationError<'_>) -> Vec<&'s str> {
        self.beside(error)
            .and_then(|object| object.get("properties")?.as_object())
            .map(|fields| fields.keys().map(String::as_str).collect())
            .unwrap_or_default()
    }
}

fn unknown(pointer: &str, name: &str, known: &[&str], error: &ValidationError<'_>) -> Violation {
    let expected = if known.is_empty() {
        "no such field".to_owned()
    } else {
        format!("only {}", a_list(known.iter().map(|field| format!("`{field}`"))))
    };
    let value = error.instance().get(name).map_or_else(|| format!("`{name}`"), show);
    let at = json::child(pointer, name);
    let message = format!("{at}: `{name}` is no field of this object; expected {expected}");
    let violation = Violation::new(Code::UnknownField, at, expected, value).saying(message);
    match nearest(name, known.iter().copied().take(COMPARED_NAMES)) {
        Some(meant) => violation.hinting(format!("did you mean `{meant}`?")),
        None => violation,
    }
}

/// What the keywords that only set a bound expect.
fn bound(kind: &ValidationErrorKind) -> Option<(Code, String)> {
    use ValidationErrorKind as Kind;
    let least = |limit: u64, noun: &str| format!("at least {}", count(limit, noun));
    let most = |limit: u64, noun: &str| format!("at most {}", count(limit, noun));
    Some(match kind {
        Kind::MinLength { limit } => (Code::MinLength, least(*limit, "character")),
        Kind::MaxLength { limit } => (Code::MaxLength, most(*limit, "character")),
        Kind::Minimum { limit } => (Code::Minimum, format!("at least {limit}")),
        Kind::Maximum { limit } => (Code::Maximum, format!("at most {limit}")),
        Kind::ExclusiveMinimum { limit } => (Code::Minimum, format!("more than {limit}")),
        Kind::ExclusiveMaximum { limit } => (Code::Maximum, format!("less than {limit}")),
        Kind::MultipleOf { multiple_of } => {
            (Code::MultipleOf, format!("a multiple of {multiple_of}"))
        }
        Kind::MinItems { limit } => (Code::MinItems, least(*limit, "item")),
        Kind::MaxItems { limit } => (Code::MaxItems, most(*limit, "item")),
        Kind::AdditionalItems { limit } => (Code::MaxItems, most(*limit as u64, "item")),
        Kind::UnevaluatedItems { .. } => (Code::MaxItems, "no further items".to_owned()),
        Kind::UniqueItems => (Code::UniqueItems, "no item twice".to_owned()),
        Kind::Contains => (Code::Contains, "the items that the schema asks for".to_owned()),
        Kind::MinProperties { limit } => (Code::MinProperties, least(*limit, "field")),
        Kind::MaxProperties { limit } => (Code::MaxProperties, most(*limit, "field")),
        _ => return None,
    })
}

/// The slips models make most often.
fn type_hint(kind: &TypeKind, found: &Value) -> Option<&'static str> {
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

fn type_names(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => with_article(&kind.to_string()),
        TypeKind::Multiple(kinds) => {
            let names: Vec<String> =
                kinds.iter().map(|kind| with_article(&kind.to_string())).collect();
            names.join(" or ")
        }
    }
}

fn count(limit: u64, noun: &str) -> String {
    if limit == 1 { format!("1 {noun}") } else { format!("{limit} {noun}s") }
}
