//! Reads what an approval shows of its subject.

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::read_pointer::{is_within, read_pointer};
use crate::{PresentationFormat, PresentationRule};

/// Reads `present` of a manual gate. A part that is not within the subject is reported: what is
/// shown must be what is signed.
pub(super) fn read_presentation(
    gate: &FileNode<'_>,
    faults: &LoadDiagnostics,
) -> Vec<PresentationRule> {
    let subject = gate.strings_at("subject");
    let is_signed =
        |pointer: &str| subject.is_empty() || subject.iter().any(|part| is_within(pointer, part));
    let parts = gate.get("present").map(|present| present.items()).unwrap_or_default();
    let read = |part: &FileNode<'_>| {
        let at = part.get("at")?;
        let pointer = read_pointer(&at, faults)?;
        if !is_signed(&pointer) {
            let message = format!("`{pointer}` is shown, but is not part of the subject");
            let hint = "add it to `subject`, so that the approval holds for it".to_owned();
            faults.push(at.diagnose("presented_part_not_signed", message).with_hint(Some(hint)));
        }
        let format = part.text_at("as").and_then(PresentationFormat::parse);
        Some(PresentationRule { pointer, format, title: part.string_at("title") })
    };
    parts.iter().filter_map(read).collect()
}
