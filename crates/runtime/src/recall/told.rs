//! Values in words that can be read, found and quoted.

use countersign_core::patch::{Op, Patch};
use serde_json::Value;

/// The longest text of one event of memory, in characters.
const LONGEST: usize = 8_000;

/// The longest value in a patch.
const LONGEST_VALUE: usize = 240;

/// How many operations of a patch are told.
const MOST_OPS: usize = 24;

/// A value in words: texts as they are, tables as `name: value`, lists with commas.
pub(super) fn readable(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(items) => items.iter().map(readable).collect::<Vec<_>>().join(", "),
        Value::Object(members) => {
            let told = members.iter().map(|(name, value)| format!("{name}: {}", readable(value)));
            told.collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}

/// A text that a model wrote: in words where it is JSON.
pub(super) fn reply(text: &str) -> String {
    let value: Option<Value> = serde_json::from_str(text).ok();
    value.map_or_else(|| text.trim().to_owned(), |value| readable(&value))
}

/// A text no longer than an event of memory should be.
pub(super) fn whole(text: &str) -> String {
    cut(text, LONGEST)
}

/// One line of at most so many characters.
pub(super) fn line(text: &str, most: usize) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// A patch, a line an operation: `/a/b = "…"`. Nothing where it only tests.
pub(super) fn patch(patch: &Patch) -> Option<String> {
    let value = |value: &Value| cut(&value.to_string(), LONGEST_VALUE);
    let told = patch.ops.iter().filter_map(|op| match op {
        Op::Add { path, value: put } | Op::Replace { path, value: put } => {
            Some(format!("{} = {}", path.as_str(), value(put)))
        }
        Op::Remove { path } => Some(format!("{} removed", path.as_str())),
        Op::Move { from, path } => Some(format!("{} moved from {}", path.as_str(), from.as_str())),
        Op::Copy { from, path } => Some(format!("{} copied from {}", path.as_str(), from.as_str())),
        Op::Test { .. } => None,
    });
    let mut lines: Vec<String> = told.collect();
    let more = lines.len().saturating_sub(MOST_OPS);
    lines.truncate(MOST_OPS);
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
        assert_eq!(reply(r#"{"say":"It is green.","by":["a",1]}"#), "say: It is green.; by: a, 1");
        assert_eq!(reply("no json "), "no json");
        assert_eq!(line("a\n  b c", 3), "a b…");
    }

    #[test]
    fn a_patch_reads_as_places_and_values() {
        let ops = json!([
            {"op": "test", "path": "/a", "value": 1},
            {"op": "add", "path": "/a", "value": "x".repeat(300)},
            {"op": "remove", "path": "/b"},
            {"op": "move", "from": "/c", "path": "/d"},
        ]);
        let told = patch(&Patch { ops: from_value(ops).unwrap() }).unwrap();
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[0], format!("/a = \"{}…", "x".repeat(239)));
        assert_eq!(lines[1..], ["/b removed", "/d moved from /c"]);
        let tests = json!([{"op": "test", "path": "/a", "value": 1}]);
        assert_eq!(patch(&Patch { ops: from_value(tests).unwrap() }), None);
        let many: Vec<_> =
            (0..30).map(|at| json!({"op": "remove", "path": format!("/{at}")})).collect();
        let told = patch(&Patch { ops: from_value(json!(many)).unwrap() }).unwrap();
        assert!(told.ends_with("/23 removed\n… and 6 more"), "{told}");
    }
}
