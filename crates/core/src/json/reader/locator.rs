//! Finds where wanted pointers stand in a text while it is read.
//!
//! A tree of the wanted pointers is walked beside the value, so that nothing is kept for members
//! that nobody asked about.

use std::collections::BTreeMap;

use crate::json::Span;
use crate::json::pointer::{self, Segment};

/// The wanted pointers as a tree, and where the reader is in it.
#[derive(Debug)]
pub(super) struct Locator {
    nodes: Vec<Node>,
    /// The node of what is being read; `None` where nobody asked.
    current: Option<usize>,
}

#[derive(Debug, Default)]
struct Node {
    children: BTreeMap<String, usize>,
    span: Option<Span>,
}

impl Default for Locator {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], current: Some(0) }
    }
}

impl Locator {
    pub(super) fn new(pointers: &[&str]) -> Self {
        let mut locator = Self::default();
        for pointer in pointers {
            let mut at = 0;
            for segment in pointer::split(pointer) {
                let next = locator.nodes.len();
                let child = locator.nodes[at].children.entry(segment.into_owned()).or_insert(next);
                at = *child;
                if at == next {
                    locator.nodes.push(Node::default());
                }
            }
        }
        locator
    }

    /// Steps into a member; gives what [`Locator::leave`] needs to step out again.
    pub(super) fn enter(&mut self, segment: Segment<'_>) -> Option<usize> {
        let outer = self.current;
        self.current = outer.and_then(|at| {
            let children = &self.nodes[at].children;
            if children.is_empty() {
                return None;
            }
            match segment {
                Segment::Key(key) => children.get(key),
                Segment::Index(index) => children.get(index.to_string().as_str()),
            }
            .copied()
        });
        outer
    }

    /// Steps out of a member.
    pub(super) fn leave(&mut self, outer: Option<usize>) {
        self.current = outer;
    }

    /// Notes where the value that was just read stands.
    pub(super) fn record(&mut self, span: Span) {
        if let Some(at) = self.current {
            self.nodes[at].span = Some(span);
        }
    }

    /// Where a wanted pointer stands, or the nearest thing around it.
    pub(super) fn span(&self, pointer: &str) -> Option<Span> {
        let mut at = 0;
        let mut nearest = self.nodes[at].span;
        for segment in pointer::split(pointer) {
            let Some(child) = self.nodes[at].children.get(segment.as_ref()) else { break };
            at = *child;
            nearest = self.nodes[at].span.or(nearest);
        }
        nearest
    }
}
