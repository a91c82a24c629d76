//! Wording that several findings share.

use countersign_contract::json;
use countersign_contract::limits::MAX_LISTED_NAMES;

/// Formats names in backticks, separated by commas, with `and` before the last. Of many names only
/// the first are listed.
pub(super) fn format_names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names = names.into_iter();
    let listed = names.by_ref().take(MAX_LISTED_NAMES);
    let mut quoted: Vec<String> = listed.map(|name| format!("`{name}`")).collect();
    let more = names.count();
    if more > 0 {
        quoted.push(format!("{more} more"));
    }
    let Some(last) = quoted.pop() else { return String::new() };
    if quoted.is_empty() { last } else { format!("{} and {last}", quoted.join(", ")) }
}

/// Formats a pointer for messages.
pub(super) fn format_pointer(pointer: &str) -> String {
    if pointer.is_empty() { "the whole document".to_owned() } else { format!("`{pointer}`") }
}

/// Formats a pointer as an expression path: `state.meta.status`.
pub(super) fn to_dotted_path(root: &str, pointer: &str) -> String {
    let mut text = root.to_owned();
    for segment in json::split_pointer(pointer) {
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
