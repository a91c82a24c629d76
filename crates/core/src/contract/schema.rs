//! JSON Schema, 2020-12 and draft-07: compiled, and asked for every fault at once.
//!
//! Formats are asserted, references never leave the
//! document, and patterns run on a linear engine. What the faults mean is said in `explain.rs`.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};
use thiserror::Error;

use super::alternatives::{self, DEEPEST_EXPLAINED};
use super::defaults::Defaults;
use super::explain::Explain;
use crate::json;
use crate::reply::{Code, Violation};

/// How many violations of one reply are told. Whoever breaks more has other troubles, and a
/// hostile reply must not cost more than it is worth.
const MOST_VIOLATIONS: usize = 1000;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    source: Value,
    validator: Validator,
    defaults: Defaults,
    own_fields: Vec<String>,
    /// Whether alternatives lead back to themselves.
    recurs: bool,
}

/// Why a text is no schema we take.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SchemaFault {
    /// The place in the schema.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

impl Schema {
    /// Compiles a schema.
    pub fn compile(source: Value) -> Result<Self, SchemaFault> {
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex())
            .build(&with_properties(&source))
            .map_err(|error| fault(&error, &source))?;
        let defaults = Defaults::of(&source)?;
        let own_fields = own_fields(&source);
        let recurs = alternatives::recur(&source);
        Ok(Self { source, validator, defaults, own_fields, recurs })
    }

    /// The schema as it was written.
    #[must_use]
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// Fills in declared defaults; gives the pointers of what it added.
    pub fn fill(&self, value: &mut Value) -> Vec<String> {
        self.defaults.fill(value)
    }

    /// Whether the value fits, without telling why not.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Everything wrong with the value, in the order of the schema.
    #[must_use]
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        if self.recurs && alternatives::depth(value) > DEEPEST_EXPLAINED {
            let found = "one that does not, nested too deep in alternatives to say where";
            return vec![Violation::new(Code::Schema, "", "a value that fits the schema", found)];
        }
        let mut violations = Vec::new();
        for error in self.validator.iter_errors(value) {
            if violations.len() >= MOST_VIOLATIONS {
                let expected = format!("at most {MOST_VIOLATIONS} violations");
                violations.push(Violation::new(
                    Code::Schema,
                    "",
                    expected,
                    "more, which are not told",
                ));
                break;
            }
            Explain { schema: &self.source }.fault(&error, "", &mut violations);
        }
        violations.dedup();
        violations
    }

    /// How much of the schema something names.
    pub(crate) fn likeness(&self, names: impl Fn(&str) -> bool) -> Likeness {
        Likeness { named: self.own_fields.iter().filter(|field| names(field)).count() }
    }
}

/// How many of the top fields of a schema are named somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Likeness {
    pub(crate) named: usize,
}

impl Likeness {
    /// One field is enough to be an attempt at the reply: better to ask again than to let the
    /// wrong one in.
    pub(crate) fn rival(self) -> bool {
        self.named > 0
    }
}

/// The fields a reply of this schema may have at its top.
fn own_fields(schema: &Value) -> Vec<String> {
    let declared = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required = required.filter_map(Value::as_str).map(str::to_owned);
    let mut fields: Vec<String> = declared.map(|(name, _)| name.clone()).chain(required).collect();
    fields.sort();
    fields.dedup();
    fields
}

/// The engine's own words, unless ours are better: a schema that breaks the rules of schemas is
/// a value that breaks a schema.
fn fault(error: &ValidationError<'_>, source: &Value) -> SchemaFault {
    if let ValidationErrorKind::Referencing(_) = error.kind()
        && let Some(pointer) = outward_reference(source, "")
    {
        let message = "a `$ref` leads out of the document; put the schema under `$defs`";
        return SchemaFault { pointer, message: message.to_owned() };
    }
    let mut violations = Vec::new();
    Explain { schema: &Value::Null }.fault(error, "", &mut violations);
    let engine = error.to_string();
    let message = match violations.first() {
        Some(violation)
            if violation.code == Code::Format && violation.expected.contains("`regex`") =>
        {
            let found = &violation.found;
            format!("expected a pattern without look-around and back-references, found {found}")
        }
        Some(violation) if violation.code != Code::Schema => {
            format!("expected {}, found {}", violation.expected, violation.found)
        }
        _ if engine.contains("must be registered") => {
            "an unknown `$schema`; known are 2020-12 and draft-07".to_owned()
        }
        _ => engine,
    };
    SchemaFault { pointer: error.instance_path().as_str().to_owned(), message }
}

/// The place of a reference that leaves the document.
fn outward_reference(schema: &Value, pointer: &str) -> Option<String> {
    let outward = |target: &str| !target.starts_with('#');
    match schema {
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            let at = json::child(pointer, name);
            let leads_out = name == "$ref" && member.as_str().is_some_and(outward);
            if leads_out { Some(at) } else { outward_reference(member, &at) }
        }),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            outward_reference(item, &json::child(pointer, &index.to_string()))
        }),
        _ => None,
    }
}

/// The same schema, with an empty `properties` where every field is forbidden: only then does the
/// engine tell which field was too much.
fn with_properties(schema: &Value) -> Value {
    const DATA: [&str; 4] = ["enum", "const", "default", "examples"];
    match schema {
        Value::Object(members) => {
            let inside = |(name, member): (&String, &Value)| {
                let data = DATA.contains(&name.as_str());
                (name.clone(), if data { member.clone() } else { with_properties(member) })
            };
            let mut members: Map<String, Value> = members.iter().map(inside).collect();
            if members.get("additionalProperties") == Some(&Value::Bool(false)) {
                members.entry("properties").or_insert_with(|| Value::Object(Map::new()));
            }
            Value::Object(members)
        }
        Value::Array(items) => items.iter().map(with_properties).collect(),
        other => other.clone(),
    }
}
