//! Describes schemas in a few words for messages, never the whole schema.

use serde_json::Value;

/// The description of a schema that restricts nothing.
pub(super) const ANY_VALUE: &str = "a value";

/// Describes in a few words what a schema requires.
pub(super) fn describe_schema(schema: &Value) -> String {
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return format!("one of {}", join_items(options.iter().map(Value::to_string)));
    }
    match schema.get("type") {
        Some(Value::String(name)) => match schema.get("format").and_then(Value::as_str) {
            Some(format) if name == "string" => format!("text in the format `{format}`"),
            _ => add_article(name),
        },
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str).map(add_article);
            names.collect::<Vec<_>>().join(" or ")
        }
        _ if schema.get("$ref").is_some() => "an object with its own schema".to_owned(),
        _ => ANY_VALUE.to_owned(),
    }
}

/// Joins items with commas; after 24 items only the number of the rest follows.
pub(super) fn join_items(mut items: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 24;
    let shown = items.by_ref().take(SHOWN).collect::<Vec<_>>().join(", ");
    match items.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Adds the article to the name of a type.
pub(super) fn add_article(name: &str) -> String {
    match name {
        "null" => "null".to_owned(),
        "array" | "object" | "integer" => format!("an {name}"),
        other => format!("a {other}"),
    }
}
