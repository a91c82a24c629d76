//! Formats values as text that can be read, found and quoted.

use countersign_contract::patch::{Patch, PatchOperation};
use serde_json::Value;

/// Maximum length of the text of a memory event, in characters.
const MAX_EVENT_CHARS: usize = 8_000;

/// Maximum length of a value in a patch, in characters.
const MAX_VALUE_CHARS: usize = 240;

/// Maximum number of operations of a patch that are listed.
const MAX_PATCH_OPS: usize = 24;

/// Formats a value: texts unchanged, objects as `name: value`, lists with commas.
pub(super) fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(items) => items.iter().map(format_value).collect::<Vec<_>>().join(", "),
        Value::Object(members) => {
            let shown =
                members.iter().map(|(name, value)| format!("{name}: {}", format_value(value)));
            shown.collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}

/// Formats a text that a model wrote; JSON is formatted as a value.
pub(super) fn format_reply(text: &str) -> String {
    let value: Option<Value> = serde_json::from_str(text).ok();
    value.map_or_else(|| text.trim().to_owned(), |value| format_value(&value))
}

/// Shortens a text to the maximum length of a memory event.
pub(super) fn truncate_event_text(text: &str) -> String {
    truncate_chars(text, MAX_EVENT_CHARS)
}

/// Joins a text into a single line of at most `most` characters.
pub(super) fn format_line(text: &str, most: usize) -> String {
    truncate_chars(&text.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

fn truncate_chars(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Formats a patch, one line per operation: `/a/b = "…"`. Returns `None` if it only tests.
pub(super) fn format_patch(patch: &Patch) -> Option<String> {
    let value = |value: &Value| truncate_chars(&value.to_string(), MAX_VALUE_CHARS);
    let changes = patch.ops.iter().filter_map(|op| match op {
        PatchOperation::Add { path, value: put } | PatchOperation::Replace { path, value: put } => {
            Some(format!("{} = {}", path.as_str(), value(put)))
        }
        PatchOperation::Remove { path } => Some(format!("{} removed", path.as_str())),
        PatchOperation::Move { from, path } => {
            Some(format!("{} moved from {}", path.as_str(), from.as_str()))
        }
        PatchOperation::Copy { from, path } => {
            Some(format!("{} copied from {}", path.as_str(), from.as_str()))
        }
        PatchOperation::Test { .. } => None,
    });
    let mut lines: Vec<String> = changes.collect();
    let more = lines.len().saturating_sub(MAX_PATCH_OPS);
    lines.truncate(MAX_PATCH_OPS);
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn values_read_as_words() {
        assert_eq!(
            format_reply(r#"{"say":"It is green.","by":["a",1]}"#),
            "say: It is green.; by: a, 1"
        );
        assert_eq!(format_reply("no json "), "no json");
        assert_eq!(format_line("a\n  b c", 3), "a b…");
    }

    #[test]
    fn a_patch_reads_as_places_and_values() {
        let ops = json!([
            {"op": "test", "path": "/a", "value": 1},
            {"op": "add", "path": "/a", "value": "x".repeat(300)},
            {"op": "remove", "path": "/b"},
            {"op": "move", "from": "/c", "path": "/d"},
        ]);
        let text = format_patch(&Patch { ops: from_value(ops).unwrap() }).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("/a = \"{}…", "x".repeat(239)));
        assert_eq!(lines[1..], ["/b removed", "/d moved from /c"]);
        let tests = json!([{"op": "test", "path": "/a", "value": 1}]);
        assert_eq!(format_patch(&Patch { ops: from_value(tests).unwrap() }), None);
        let many: Vec<_> =
            (0..30).map(|at| json!({"op": "remove", "path": format!("/{at}")})).collect();
        let text = format_patch(&Patch { ops: from_value(json!(many)).unwrap() }).unwrap();
        assert!(text.ends_with("/23 removed\n… and 6 more"), "{text}");
    }
}
