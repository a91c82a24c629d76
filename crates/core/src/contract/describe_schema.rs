//! Schemas in words, for messages: short, never the whole schema.

use serde_json::Value;

/// Keywords that are words around a schema and decide nothing.
pub(super) const ANNOTATION_KEYWORDS: [&str; 8] = [
    "title",
    "description",
    "examples",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$schema",
];

/// What a schema wants that says nothing about it.
pub(super) const ANY_VALUE: &str = "a value";

/// What a schema wants, in a few words.
pub(super) fn describe_schema(schema: &Value) -> String {
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return format!("one of {}", join_items(options.iter().map(Value::to_string)));
    }
    match schema.get("type") {
        Some(Value::String(name)) => match schema.get("format").and_then(Value::as_str) {
            Some(format) if name == "string" => format!("text of the format `{format}`"),
            _ => add_article(name),
        },
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str).map(add_article);
            names.collect::<Vec<_>>().join(" or ")
        }
        _ if schema.get("$ref").is_some() => "an object of its own kind".to_owned(),
        _ => ANY_VALUE.to_owned(),
    }
}

/// Items with commas, cut where the list is long.
pub(super) fn join_items(mut items: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 24;
    let shown = items.by_ref().take(SHOWN).collect::<Vec<_>>().join(", ");
    match items.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A type's name as it stands in a sentence.
pub(super) fn add_article(name: &str) -> String {
    match name {
        "null" => "null".to_owned(),
        "array" | "object" | "integer" => format!("an {name}"),
        other => format!("a {other}"),
    }
}
