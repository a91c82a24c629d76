//! Where in the text a violation stands.

use std::collections::BTreeMap;

use super::Violation;
use crate::json::{self, RepairLevel, Span};

/// Gives every violation that has only a pointer its place in the text: its own, or that of the
/// nearest thing around it that exists.
pub(super) fn fill(
    mut violations: Vec<Violation>,
    text: &str,
    start: usize,
    level: RepairLevel,
) -> Vec<Violation> {
    if text.is_empty() || violations.iter().all(|violation| violation.span.is_some()) {
        return violations;
    }
    let places = places(text, start, level);
    for violation in &mut violations {
        if violation.span.is_none() {
            violation.span = nearest(&places, &violation.pointer);
        }
    }
    violations
}

/// The place of every member of the value that begins at `start`.
#[must_use]
pub fn places(text: &str, start: usize, level: RepairLevel) -> BTreeMap<String, Span> {
    json::read_spans(text, start, level).into_iter().collect()
}

fn nearest(places: &BTreeMap<String, Span>, pointer: &str) -> Option<Span> {
    let mut pointer = pointer;
    loop {
        if let Some(span) = places.get(pointer) {
            return Some(*span);
        }
        pointer = json::parent(pointer)?;
    }
}
