//! Compiles a JSON Schema (2020-12 or draft-07) and lists every violation of a value at once.
//!
//! Formats are asserted, references never leave the document, and patterns run on an engine with
//! linear time. `schema_explainer.rs` turns the engine's errors into violations.

use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};
use thiserror::Error;

use super::explain_cost::{count_branches, estimate_explain_steps};
use super::pattern_budget::check_patterns;
use super::reference_resolver::is_draft_07;
use super::schema_bounds::check_bounds;
use super::schema_defaults::{BrokenDefault, FilledDefaults, SchemaDefaults};
use super::schema_explainer::SchemaExplainer;
use super::schema_graph::SchemaGraph;
use super::validator_options;
use crate::json;
use crate::reply::{Violation, ViolationCode, ViolationList};

/// The maximum number of steps for finding the first violation.
const MAX_FIRST_STEPS: u64 = 2_000_000;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    source: Value,
    validator: Validator,
    defaults: SchemaDefaults,
    top_level_fields: Vec<String>,
    /// The number of `anyOf` and `oneOf` branches in the whole schema.
    branch_count: usize,
    graph: OnceLock<SchemaGraph>,
}

/// The reason why a schema is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SchemaError {
    /// The JSON Pointer of the fault in the schema.
    pub pointer: String,
    /// A description of the fault.
    pub message: String,
}

impl Schema {
    /// Compiles a schema after checking its size, its patterns and its dialect.
    pub fn compile(source: Value) -> Result<Self, SchemaError> {
        check_bounds(&source)?;
        check_patterns(&source)?;
        check_dialect(&source)?;
        let validator = validator_options::build_options(&source)
            .build(&add_empty_properties(&source))
            .map_err(|error| to_schema_error(&error, &source))?;
        let defaults = SchemaDefaults::from_schema(&source)?;
        let own_fields = collect_top_level_fields(&source);
        let branches = count_branches(&source);
        let graph = OnceLock::new();
        Ok(Self {
            source,
            validator,
            defaults,
            top_level_fields: own_fields,
            branch_count: branches,
            graph,
        })
    }

    /// Returns the schema as the author wrote it.
    #[must_use]
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// Fills in declared defaults until the value has gained
    /// [`MAX_DEFAULT_BYTES`](crate::limits::MAX_DEFAULT_BYTES), and returns the pointers of the
    /// added fields.
    pub fn fill_defaults(&self, value: &mut Value) -> Vec<String> {
        self.defaults.fill(value).added
    }

    pub(super) fn fill_defaults_measured(&self, value: &mut Value) -> FilledDefaults {
        self.defaults.fill(value)
    }

    /// Returns the declared defaults that are invalid in their own schema. They are never filled
    /// in.
    #[must_use]
    pub fn broken_defaults(&self) -> &[BrokenDefault] {
        &self.defaults.broken
    }

    /// Returns whether the value is valid, without saying why not.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Returns an upper bound of the steps that validating the value takes, without validating it;
    /// `None` if it exceeds `limit`. With recursive alternatives the steps can double with every
    /// level of the value, and the engine cannot be interrupted.
    #[must_use]
    pub fn estimate_validation_steps(&self, value: &Value, limit: u64) -> Option<u64> {
        self.graph.get_or_init(|| SchemaGraph::new(&self.source)).estimate_steps(value, limit)
    }

    /// Returns what is wrong with the value, in the order of the schema: the first violations in
    /// full, the rest as a count. For a value that is too large to list everything, returns one
    /// violation only.
    #[must_use]
    pub fn list_violations(&self, value: &Value) -> Vec<Violation> {
        tracing::trace!("validating against the schema");
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        let mut list = ViolationList::default();
        let explain = SchemaExplainer { schema: &self.source };
        if self.estimate_validation_steps(value, estimate_explain_steps(value)).is_some() {
            for error in self.validator.iter_errors(value) {
                explain.explain_error(&error, "", &mut list);
            }
        } else if self.branch_count > 0
            || self.estimate_validation_steps(value, MAX_FIRST_STEPS).is_none()
        {
            // The engine would try every combination of branches before it returns the first error.
            return vec![describe_unexplained("and is too large to say where")];
        } else if let Err(error) = self.validator.validate(value) {
            explain.explain_error(&error, "", &mut list);
            let hint = "the value is too large to list every violation; this is the first";
            return list.finish().into_iter().map(|one| one.with_hint(hint)).collect();
        }
        list.finish()
    }

    /// Returns the top-level fields that a reply may have, sorted.
    #[must_use]
    pub fn top_level_fields(&self) -> &[String] {
        &self.top_level_fields
    }
}

fn describe_unexplained(why: &str) -> Violation {
    let found = format!("a value that does not fit {why}");
    Violation::new(ViolationCode::Schema, "", "a value that fits the schema", found)
}

/// Refuses a `$schema` other than 2020-12 and draft-07.
fn check_dialect(schema: &Value) -> Result<(), SchemaError> {
    let known = match schema.get("$schema") {
        None => true,
        Some(Value::String(dialect)) => {
            let dialect = dialect.trim_end_matches('#');
            dialect == "https://json-schema.org/draft/2020-12/schema" || is_draft_07(schema)
        }
        Some(_) => false,
    };
    if known {
        return Ok(());
    }
    let message = "unknown `$schema`; supported are 2020-12 and draft-07".to_owned();
    Err(SchemaError { pointer: "/$schema".to_owned(), message })
}

/// Collects the top-level fields that the schema declares or requires.
fn collect_top_level_fields(schema: &Value) -> Vec<String> {
    let declared = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required = required.filter_map(Value::as_str).map(str::to_owned);
    let mut fields: Vec<String> = declared.map(|(name, _)| name.clone()).chain(required).collect();
    fields.sort();
    fields.dedup();
    fields
}

/// Converts an error of the engine. The text comes from the violation, because an invalid schema is
/// a value that violates the meta-schema; the engine's own text is the fallback.
fn to_schema_error(error: &ValidationError<'_>, source: &Value) -> SchemaError {
    if let ValidationErrorKind::Referencing(_) = error.kind()
        && let Some(pointer) = find_outward_reference(source, "")
    {
        let message = "a `$ref` points outside the document; put the schema under `$defs`";
        return SchemaError { pointer, message: message.to_owned() };
    }
    let mut violations = ViolationList::default();
    SchemaExplainer { schema: &Value::Null }.explain_error(error, "", &mut violations);
    let violations = violations.finish();
    let engine = error.to_string();
    let message = match violations.first() {
        Some(violation)
            if violation.code == ViolationCode::Format
                && violation.expected.contains("`regex`") =>
        {
            let found = &violation.found;
            format!("expected a pattern without look-around and back-references, found {found}")
        }
        Some(violation) if violation.code != ViolationCode::Schema => {
            format!("expected {}, found {}", violation.expected, violation.found)
        }
        _ => engine,
    };
    SchemaError { pointer: error.instance_path().as_str().to_owned(), message }
}

/// Returns the pointer of the first reference that leaves the document.
fn find_outward_reference(schema: &Value, pointer: &str) -> Option<String> {
    let outward = |target: &str| !target.starts_with('#');
    match schema {
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            let at = json::child_pointer(pointer, name);
            let leads_out = name == "$ref" && member.as_str().is_some_and(outward);
            if leads_out { Some(at) } else { find_outward_reference(member, &at) }
        }),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            find_outward_reference(item, &json::child_pointer(pointer, &index.to_string()))
        }),
        _ => None,
    }
}

/// Adds an empty `properties` where `additionalProperties` is false. Otherwise the engine does not
/// say which field is unknown.
fn add_empty_properties(schema: &Value) -> Value {
    const DATA: [&str; 4] = ["enum", "const", "default", "examples"];
    match schema {
        Value::Object(members) => {
            let inside = |(name, member): (&String, &Value)| {
                let data = DATA.contains(&name.as_str());
                (name.clone(), if data { member.clone() } else { add_empty_properties(member) })
            };
            let mut members: Map<String, Value> = members.iter().map(inside).collect();
            if members.get("additionalProperties") == Some(&Value::Bool(false)) {
                members.entry("properties").or_insert_with(|| Value::Object(Map::new()));
            }
            Value::Object(members)
        }
        Value::Array(items) => items.iter().map(add_empty_properties).collect(),
        other => other.clone(),
    }
}
