//! Words that several findings share.

use crate::json;

/// Names in backticks with commas, the last behind `and`.
pub(super) fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    let Some(last) = quoted.pop() else { return String::new() };
    if quoted.is_empty() { last } else { format!("{} and {last}", quoted.join(", ")) }
}

/// Whether one pointer is the other, or holds it.
pub(super) fn covers(outer: &str, inner: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a change at one place is seen at the other.
pub(super) fn touch(one: &str, other: &str) -> bool {
    covers(one, other) || covers(other, one)
}

/// A pointer as a sentence shows it.
pub(super) fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the whole document".to_owned() } else { format!("`{pointer}`") }
}

/// A pointer as an expression writes it: `state.meta.status`.
pub(super) fn dotted(root: &str, pointer: &str) -> String {
    let mut text = root.to_owned();
    for segment in json::split(pointer) {
        let plain = |character: char| character.is_alphanumeric() || character == '_';
        let named =
            segment.chars().all(plain) && !segment.starts_with(|c: char| c.is_ascii_digit());
        if named && !segment.is_empty() {
            text.push('.');
            text.push_str(&segment);
        } else {
            text.push_str(&format!("['{segment}']"));
        }
    }
    text
}
