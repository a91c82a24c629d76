//! Finds likely mistakes in a schema that compiles: misspelt keywords, unknown formats and invalid
//! defaults.
//!
//! JSON Schema ignores what it does not know: `minLenght` and `format: datetime` check nothing.
//! Only names that are similar to a keyword are reported; any other unknown keyword is taken as an
//! annotation of the author.

use serde_json::Value;

use super::contract_registry::ContractRegistry;
use super::load_contract::{ContractFileReader, load_contract_with_base};
use super::schema::Schema;
use super::validator_options::ASSERTED_FORMATS;
use crate::json;
use crate::similar_name::find_similar_name;
use crate::source::{Diagnostic, ParsedSourceFile, SourceFile};

/// The maximum number of findings reported for one schema.
const MAX_FINDINGS: usize = 200;

/// Keywords whose value is a schema or an array of schemas.
const SUBSCHEMA_KEYWORDS: [&str; 16] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value maps names chosen by the author to schemas.
const SCHEMA_MAP_KEYWORDS: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// All other keywords of 2020-12 and draft-07.
const OTHER_KEYWORDS: [&str; 37] = [
    "$anchor",
    "$comment",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$ref",
    "$schema",
    "$vocabulary",
    "const",
    "contentEncoding",
    "contentMediaType",
    "default",
    "dependentRequired",
    "deprecated",
    "description",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "readOnly",
    "required",
    "title",
    "type",
    "uniqueItems",
];

/// Loads and checks a contract file. Returns the errors that prevent its use, or else the warnings
/// about its schema.
#[must_use]
pub fn check_contract(
    source: SourceFile,
    read: ContractFileReader<'_>,
    known: &ContractRegistry,
) -> Vec<Diagnostic> {
    let contract = match load_contract_with_base(source.clone(), read, known) {
        Ok(contract) => contract,
        Err(faults) => return faults,
    };
    let Ok(tree) = ParsedSourceFile::parse(source) else { return Vec::new() };
    match &tree.value["schema"] {
        Value::String(path) => {
            let Ok(text) = read(path) else { return Vec::new() };
            ParsedSourceFile::parse(SourceFile::new(path, text))
                .map(|tree| check_schema(&tree, "", &contract.schema))
                .unwrap_or_default()
        }
        Value::Null => Vec::new(),
        _ => check_schema(&tree, "/schema", &contract.schema),
    }
}

/// Checks the schema at the pointer `at` of a file. All findings are warnings.
#[must_use]
pub fn check_schema(tree: &ParsedSourceFile, at: &str, schema: &Schema) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if let Some(value) = tree.value.pointer(at) {
        lint_schema(tree, value, &mut at.to_owned(), &mut findings);
    }
    for broken in schema.broken_defaults() {
        let message = format!(
            "this default does not fit its own schema and is not applied: {}",
            broken.message
        );
        let fault = tree.diagnose("broken_default", &format!("{at}{}", broken.pointer), message);
        findings.push(fault.into_warning());
    }
    findings.truncate(MAX_FINDINGS);
    findings
}

fn lint_schema(
    tree: &ParsedSourceFile,
    schema: &Value,
    at: &mut String,
    findings: &mut Vec<Diagnostic>,
) {
    let Some(keywords) = schema.as_object() else { return };
    let length = at.len();
    for (keyword, said) in keywords {
        if findings.len() >= MAX_FINDINGS {
            return;
        }
        json::push_segment(at, keyword);
        match said {
            _ if SCHEMA_MAP_KEYWORDS.contains(&keyword.as_str()) => {
                lint_subschemas(tree, said, at, findings);
            }
            Value::Array(_) if SUBSCHEMA_KEYWORDS.contains(&keyword.as_str()) => {
                lint_subschemas(tree, said, at, findings);
            }
            _ if SUBSCHEMA_KEYWORDS.contains(&keyword.as_str()) => {
                lint_schema(tree, said, at, findings);
            }
            Value::String(format) if keyword == "format" => {
                findings.extend(check_format(tree, at, format));
            }
            _ => findings.extend(check_keyword(tree, at, keyword)),
        }
        at.truncate(length);
    }
}

fn lint_subschemas(
    tree: &ParsedSourceFile,
    parts: &Value,
    at: &mut String,
    findings: &mut Vec<Diagnostic>,
) {
    let length = at.len();
    let mut inside = |name: &str, part: &Value| {
        json::push_segment(at, name);
        lint_schema(tree, part, at, findings);
        at.truncate(length);
    };
    match parts {
        Value::Object(parts) => parts.iter().for_each(|(name, part)| inside(name, part)),
        Value::Array(parts) => {
            parts.iter().enumerate().for_each(|(index, part)| inside(&index.to_string(), part));
        }
        _ => {}
    }
}

fn check_keyword(tree: &ParsedSourceFile, at: &str, keyword: &str) -> Option<Diagnostic> {
    if OTHER_KEYWORDS.contains(&keyword) || keyword.starts_with("x-") {
        return None;
    }
    let near = find_similar_name(
        keyword,
        SUBSCHEMA_KEYWORDS.iter().chain(&SCHEMA_MAP_KEYWORDS).chain(&OTHER_KEYWORDS).copied(),
    )?;
    let message = format!("`{keyword}` is not a JSON Schema keyword and has no effect");
    let fault = Diagnostic::new("unknown_keyword", message, &tree.source, tree.find_key_span(at));
    Some(fault.into_warning().with_hint(Some(format!("did you mean `{near}`?"))))
}

fn check_format(tree: &ParsedSourceFile, at: &str, format: &str) -> Option<Diagnostic> {
    if ASSERTED_FORMATS.contains(&format) {
        return None;
    }
    let message = format!("`{format}` is not a JSON Schema format and has no effect");
    let hint = match find_similar_name(format, ASSERTED_FORMATS) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known formats: {}; use `pattern` for others", ASSERTED_FORMATS.join(", ")),
    };
    Some(tree.diagnose("unknown_format", at, message).into_warning().with_hint(Some(hint)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lint_texts(text: &str) -> Vec<String> {
        let alone = |path: &str| Err(format!("there is no file {path}"));
        let source = SourceFile::new("c.yaml", format!("id: c\nversion: 1.0.0\nschema: {text}\n"));
        let findings = check_contract(source, &alone, &ContractRegistry::default());
        let line = |one: &Diagnostic| match &one.hint {
            Some(hint) => format!("{} [{}] ({hint})", one.message, one.code),
            None => format!("{} [{}]", one.message, one.code),
        };
        findings.iter().map(line).collect()
    }

    #[test]
    fn what_checks_nothing_is_told() {
        assert_eq!(
            lint_texts("{ properties: { a: { minLenght: 3, format: datetime }, b: { anyOf: [{ format: zip }] } } }"),
            [
                "`minLenght` is not a JSON Schema keyword and has no effect [unknown_keyword] (did you mean `minLength`?)".to_owned(),
                "`datetime` is not a JSON Schema format and has no effect [unknown_format] (did you mean `date-time`?)".to_owned(),
                format!("`zip` is not a JSON Schema format and has no effect [unknown_format] (known formats: {}; use `pattern` for others)", ASSERTED_FORMATS.join(", ")),
            ]
        );
        // Field names and data are not keywords.
        assert_eq!(
            lint_texts(
                "{ properties: { minLenght: { const: { fromat: 1 } }, format: { type: string } }, x-own: 1 }"
            ),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_default_that_does_not_fit_is_told() {
        assert_eq!(
            lint_texts("{ properties: { a: { type: integer, default: x } } }"),
            [
                "this default does not fit its own schema and is not applied: expected an integer, found \"x\" [broken_default]"
            ]
        );
    }

    #[test]
    fn a_contract_that_does_not_load_is_told_as_such() {
        assert!(lint_texts("{ type: 5 }")[0].contains("[invalid_schema]"));
        assert!(
            lint_texts("{ $schema: 'http://json-schema.org/draft-04/schema#' }")[0]
                .contains("supported are 2020-12 and draft-07")
        );
    }
}
