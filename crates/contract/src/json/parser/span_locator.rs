//! Finds the spans of requested pointers while the text is parsed.
//!
//! The locator walks a tree of the requested pointers in parallel to the value, so that it stores
//! nothing for other members.

use std::collections::BTreeMap;

use crate::json::TextSpan;
use crate::json::pointer_text::{self, JsonPointerSegment};

/// Requested pointers as a tree, and the parser's current position in it.
#[derive(Debug)]
pub(super) struct JsonSpanLocator {
    nodes: Vec<JsonLocatorNode>,
    /// Tree node of the value being parsed; `None` if no pointer leads there.
    current: Option<usize>,
}

#[derive(Debug, Default)]
struct JsonLocatorNode {
    children: BTreeMap<String, usize>,
    span: Option<TextSpan>,
}

impl Default for JsonSpanLocator {
    fn default() -> Self {
        Self { nodes: vec![JsonLocatorNode::default()], current: Some(0) }
    }
}

impl JsonSpanLocator {
    pub(super) fn new(pointers: &[&str]) -> Self {
        let mut locator = Self::default();
        for pointer in pointers {
            let mut at = 0;
            for segment in pointer_text::split_pointer(pointer) {
                let next = locator.nodes.len();
                let child = locator.nodes[at].children.entry(segment.into_owned()).or_insert(next);
                at = *child;
                if at == next {
                    locator.nodes.push(JsonLocatorNode::default());
                }
            }
        }
        locator
    }

    /// Enters a member. Returns the state that [`JsonSpanLocator::leave_member`] needs to leave it
    /// again.
    pub(super) fn enter_member(&mut self, segment: JsonPointerSegment<'_>) -> Option<usize> {
        let outer = self.current;
        self.current = outer.and_then(|at| {
            let children = &self.nodes[at].children;
            if children.is_empty() {
                return None;
            }
            match segment {
                JsonPointerSegment::Key(key) => children.get(key),
                JsonPointerSegment::Index(index) => children.get(index.to_string().as_str()),
            }
            .copied()
        });
        outer
    }

    /// Leaves a member and restores the state from [`JsonSpanLocator::enter_member`].
    pub(super) fn leave_member(&mut self, outer: Option<usize>) {
        self.current = outer;
    }

    /// Records the span of the value that was just parsed.
    pub(super) fn record_span(&mut self, span: TextSpan) {
        if let Some(at) = self.current {
            self.nodes[at].span = Some(span);
        }
    }

    /// Returns the span of a requested pointer, or of its nearest ancestor with a known span.
    pub(super) fn find_span(&self, pointer: &str) -> Option<TextSpan> {
        let mut at = 0;
        let mut nearest = self.nodes[at].span;
        for segment in pointer_text::split_pointer(pointer) {
            let Some(child) = self.nodes[at].children.get(segment.as_ref()) else { break };
            at = *child;
            nearest = self.nodes[at].span.or(nearest);
        }
        nearest
    }
}
