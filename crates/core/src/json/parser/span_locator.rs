//! Finds where wanted pointers stand in a text while it is read.
//!
//! A tree of the wanted pointers is walked beside the value, so that nothing is kept for members
//! that nobody asked about.

use std::collections::BTreeMap;

use crate::json::TextSpan;
use crate::json::pointer_text::{self, JsonPointerSegment};

/// The wanted pointers as a tree, and where the reader is in it.
#[derive(Debug)]
pub(super) struct JsonSpanLocator {
    nodes: Vec<JsonLocatorNode>,
    /// The node of what is being read; `Empty` where nobody asked.
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

    /// Steps into a member; gives what [`JsonSpanLocator::leave_member`] needs to step out again.
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

    /// Steps out of a member.
    pub(super) fn leave_member(&mut self, outer: Option<usize>) {
        self.current = outer;
    }

    /// Notes where the value that was just read stands.
    pub(super) fn record_span(&mut self, span: TextSpan) {
        if let Some(at) = self.current {
            self.nodes[at].span = Some(span);
        }
    }

    /// Where a wanted pointer stands, or the nearest thing around it.
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
