//! Writes remembered texts and values on one line.

use serde_json::Value;

/// Replaces every run of white space and control characters with one space.
pub(crate) fn to_single_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let parts = text.split(|character: char| character.is_whitespace() || character.is_control());
    for part in parts.filter(|part| !part.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(part);
    }
    line
}

/// Writes a value on one line, without JSON punctuation where it is not needed.
pub(crate) fn flatten_value(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, true, &mut text);
    to_single_line(&text)
}

fn write_value(value: &Value, outermost: bool, text: &mut String) {
    match value {
        Value::String(string) => text.push_str(string),
        Value::Array(items) => {
            let signs = if outermost { ("", "") } else { ("[", "]") };
            text.push_str(signs.0);
            for (place, item) in items.iter().enumerate() {
                text.push_str(if place > 0 { "; " } else { "" });
                write_value(item, false, text);
            }
            text.push_str(signs.1);
        }
        Value::Object(members) => {
            let signs = if outermost { ("", "") } else { ("{", "}") };
            text.push_str(signs.0);
            for (place, (key, member)) in members.iter().enumerate() {
                text.push_str(if place > 0 { "; " } else { "" });
                text.push_str(key);
                text.push_str(": ");
                write_value(member, false, text);
            }
            text.push_str(signs.1);
        }
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line() {
        assert_eq!(to_single_line("  a\r\n\tb\u{2028}c\0d  "), "a b c d");
        assert_eq!(to_single_line(" \n "), "");
    }

    #[test]
    fn a_value_is_one_line() {
        let value = serde_json::json!({"steps": ["ask", "then\ndo"], "n": 1, "x": {"y": null}});
        assert_eq!(flatten_value(&value), "steps: [ask; then do]; n: 1; x: {y: null}");
    }
}
