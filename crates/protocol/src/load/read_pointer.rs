//! Reads pointers into the document, and finds those that overlap engine-owned fields.

use countersign_contract::json;

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use crate::EngineField;

/// Reads a pointer from a text value.
pub(super) fn read_pointer(member: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<String> {
    parse_pointer(member.text()?, member, faults)
}

/// Parses a pointer that is a key of an object; errors are reported at `node`.
pub(super) fn parse_pointer(
    text: &str,
    node: &FileNode<'_>,
    faults: &LoadDiagnostics,
) -> Option<String> {
    let (wrong, hint) = if text == "/" {
        ("names a member with an empty name", "the whole document is `\"\"`".to_owned())
    } else if !text.is_empty() && !text.starts_with('/') {
        let meant = text.trim_start_matches("state.").replace('.', "/");
        ("does not begin with `/`", format!("did you mean `/{meant}`?"))
    } else if text.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1'])) {
        ("has a `~` that is not an escape", "write `~0` for `~` and `~1` for `/`".to_owned())
    } else {
        return Some(text.to_owned());
    };
    let message = format!("`{text}` is not a JSON Pointer: it {wrong}");
    faults.push(node.diagnose("invalid_pointer", message).with_hint(Some(hint)));
    None
}

/// Reads a dotted path or a pointer.
pub(super) fn read_dotted_path(member: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<String> {
    let text = member.text()?;
    if text.starts_with('/') {
        return read_pointer(member, faults);
    }
    if text.split('.').any(|name| name.trim().is_empty()) {
        let message = format!("`{text}` is not a path: a name between the dots is empty");
        let hint = "write `a.b` or `/a/b`".to_owned();
        faults.push(member.diagnose("invalid_pointer", message).with_hint(Some(hint)));
        return None;
    }
    Some(text.split('.').fold(String::new(), |pointer, name| json::child_pointer(&pointer, name)))
}

/// Whether a pointer equals another, or is inside it.
pub(crate) fn is_within(pointer: &str, whole: &str) -> bool {
    pointer.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Finds the engine-owned field that the pointer equals or is inside of.
pub(super) fn find_enclosing_engine_field<'e>(
    pointer: &str,
    engine: &'e [EngineField],
) -> Option<&'e EngineField> {
    engine.iter().find(|own| is_within(pointer, &own.pointer))
}

/// Finds an engine-owned field that a write to the pointer would overwrite.
pub(super) fn find_overlapping_engine_field<'e>(
    pointer: &str,
    engine: &'e [EngineField],
) -> Option<&'e EngineField> {
    engine.iter().find(|own| is_within(pointer, &own.pointer) || is_within(&own.pointer, pointer))
}

/// Formats a pointer for messages.
pub(super) fn format_pointer(pointer: &str) -> String {
    if pointer.is_empty() { "the whole document".to_owned() } else { format!("`{pointer}`") }
}

/// Reports a write to an engine-owned field.
pub(super) fn report_engine_field(
    member: &FileNode<'_>,
    pointer: &str,
    own: &EngineField,
    faults: &LoadDiagnostics,
) {
    let message = if is_within(pointer, &own.pointer) {
        format!("`{pointer}` is engine-owned: the engine writes `{}` there", own.name)
    } else {
        let shown = format_pointer(pointer);
        format!("{shown} contains `{}`, where the engine writes `{}`", own.pointer, own.name)
    };
    let hint = "the engine updates it after every step; write other fields here".to_owned();
    faults.push(member.diagnose("engine_field", message).with_hint(Some(hint)));
}
