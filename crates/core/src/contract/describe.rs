//! Schemas in words, for messages: short, never the whole schema.

use serde_json::Value;

/// Keywords that are words around a schema and decide nothing.
pub(super) const ANNOTATIONS: [&str; 8] = [
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
pub(super) const ANYTHING: &str = "a value";

/// What a schema wants, in a few words.
pub(super) fn describe(schema: &Value) -> String {
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return format!("one of {}", a_list(options.iter().map(Value::to_string)));
    }
    match schema.get("type") {
        Some(Value::String(name)) => with_article(name),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str).map(with_article);
            names.collect::<Vec<_>>().join(" or ")
        }
        _ if schema.get("$ref").is_some() => "an object of its own kind".to_owned(),
        _ => ANYTHING.to_owned(),
    }
}

/// Items with commas, cut where the list is long.
pub(super) fn a_list(items: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 24;
    let items: Vec<String> = items.collect();
    if items.len() <= SHOWN {
        return items.join(", ");
    }
    format!("{} and {} more", items[..SHOWN].join(", "), items.len() - SHOWN)
}

/// A type's name as it stands in a sentence.
pub(super) fn with_article(name: &str) -> String {
    match name {
        "null" => "null".to_owned(),
        "array" | "object" | "integer" => format!("an {name}"),
        other => format!("a {other}"),
    }
}
