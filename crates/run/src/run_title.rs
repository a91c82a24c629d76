//! The title of a run: one bounded line for lists, and the excerpt of the input that stands in
//! until a workflow's `title` gives one.

use countersign_contract::text::is_hidden;
use serde_json::Value;

/// Maximum length of a title in characters, without the mark of an omission.
pub const MAX_TITLE_CHARS: usize = 120;

/// Maximum length of the input's texts that a run keeps for search, in bytes.
const MAX_INPUT_TEXT_BYTES: usize = 4 * 1024;

/// Maximum number of values that are visited in an input.
const MAX_VISITED_VALUES: usize = 2_000;

/// Members that usually name what an input is about, the most telling first.
const TELLING_MEMBERS: [&str; 14] = [
    "title",
    "subject",
    "name",
    "topic",
    "question",
    "goal",
    "idea",
    "task",
    "request",
    "problem",
    "summary",
    "description",
    "message",
    "text",
];

/// Makes one line of a text: control and hidden characters become spaces, spaces are joined, and a
/// long text is cut at a word.
#[must_use]
pub fn clean_title(text: &str) -> String {
    let mut line = String::new();
    let (mut chars, mut gap) = (0, false);
    let mut cut = None;
    for one in text.chars() {
        if one.is_whitespace() || is_hidden(one) {
            gap = !line.is_empty();
            continue;
        }
        if chars + usize::from(gap) >= MAX_TITLE_CHARS {
            // A text without spaces, such as Chinese, is cut where it is.
            let word_end = if gap { None } else { line.rfind(' ') };
            cut = Some(word_end.filter(|end| *end >= line.len() / 2).unwrap_or(line.len()));
            break;
        }
        if std::mem::take(&mut gap) {
            line.push(' ');
            chars += 1;
        }
        line.push(one);
        chars += 1;
    }
    if let Some(end) = cut {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// Returns a title from the first telling text of an input; empty if it has no text.
///
/// Outer texts come before inner ones, and members that usually name a thing before others.
#[must_use]
pub(crate) fn excerpt_title(input: &Value) -> String {
    let mut level = vec![input];
    let mut visited = 0;
    while !level.is_empty() {
        let mut inner = Vec::new();
        for value in level {
            visited += 1;
            if visited > MAX_VISITED_VALUES {
                return String::new();
            }
            match value {
                Value::String(text) if text.chars().any(char::is_alphanumeric) => {
                    let title = clean_title(text);
                    if !title.is_empty() {
                        return title;
                    }
                }
                Value::Array(items) => inner.extend(items),
                Value::Object(members) => {
                    inner.extend(TELLING_MEMBERS.iter().filter_map(|name| members.get(*name)));
                    let other =
                        |(name, _): &(&String, _)| !TELLING_MEMBERS.contains(&name.as_str());
                    inner.extend(members.iter().filter(other).map(|(_, value)| value));
                }
                _ => {}
            }
        }
        level = inner;
    }
    String::new()
}

/// Returns the texts of an input, one per line, for search; bounded.
#[must_use]
pub(crate) fn collect_input_text(input: &Value) -> String {
    let mut collected = String::new();
    let mut open = vec![input];
    let mut visited = 0;
    while let Some(value) = open.pop() {
        visited += 1;
        if visited > MAX_VISITED_VALUES {
            break;
        }
        match value {
            Value::String(text) => {
                let room = MAX_INPUT_TEXT_BYTES.saturating_sub(collected.len() + 1);
                if room == 0 {
                    break;
                }
                if !collected.is_empty() {
                    collected.push('\n');
                }
                collected.push_str(&text[..text.floor_char_boundary(room)]);
            }
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(members) => {
                let values: Vec<&Value> = members.values().collect();
                open.extend(values.into_iter().rev());
            }
            _ => {}
        }
    }
    collected
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_title_is_one_bounded_line() {
        assert_eq!(clean_title("  A\u{202e}b\n\n c\u{0}d\t"), "A b c d");
        assert_eq!(clean_title("\u{200b}\n"), "");
        let exact = "ж".repeat(MAX_TITLE_CHARS);
        assert_eq!(clean_title(&exact), exact);
        assert_eq!(clean_title(&format!("{exact}ж")), format!("{exact}…"));
        let words = "price ".repeat(40);
        let title = clean_title(&words);
        assert!(title.ends_with("price…"), "{title}");
        assert!(title.chars().count() <= MAX_TITLE_CHARS + 1, "{title}");
    }

    #[test]
    fn an_excerpt_is_the_most_telling_text() {
        let title = |input: Value| excerpt_title(&input);
        assert_eq!(title(json!("Договор поставки")), "Договор поставки");
        assert_eq!(title(json!({"a": "first", "title": "named"})), "named");
        assert_eq!(title(json!({"z": 1, "note": {"text": "inner"}, "b": "outer"})), "outer");
        assert_eq!(title(json!({"list": [{"title": "合同价格"}]})), "合同价格");
        assert_eq!(title(json!({"title": " — ", "n": 12})), "");
        assert_eq!(title(json!([vec![0; MAX_VISITED_VALUES], ["late"]])), "");
    }

    #[test]
    fn the_text_of_an_input_is_bounded() {
        let input = json!({"a": ["one", {"b": "two"}], "c": "ж".repeat(MAX_INPUT_TEXT_BYTES)});
        let text = collect_input_text(&input);
        assert!(text.starts_with("one\ntwo\nж"), "{}", &text[..20]);
        assert!(text.len() <= MAX_INPUT_TEXT_BYTES);
    }
}
