//! Finds the byte spans of violations in the reply text.

use super::Violation;
use crate::json::{self, RepairLevel};

/// Sets the span of every violation that has only a pointer: the span of its location, or of the
/// nearest existing ancestor. `start` is the offset of the object in `text`.
pub(super) fn fill_spans(
    mut violations: Vec<Violation>,
    text: &str,
    start: usize,
    level: RepairLevel,
) -> Vec<Violation> {
    if text.is_empty() || violations.iter().all(|violation| violation.span.is_some()) {
        return violations;
    }
    let pointers: Vec<&str> = violations.iter().map(|one| one.pointer.as_str()).collect();
    let spans = json::locate_pointers(text, start, level, &pointers);
    for (violation, span) in violations.iter_mut().zip(spans) {
        violation.span = violation.span.or(span);
    }
    violations
}
