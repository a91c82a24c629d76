//! Where in an author's files something was said, so that a fault found later can point there.

use std::ops::Range;
use std::sync::Arc;

use crate::json;
use crate::spec::{Diagnostic, Tree};

/// A member of a file.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The file.
    pub tree: Arc<Tree>,
    /// The member in it.
    pub pointer: String,
}

impl Origin {
    /// The root of a file.
    #[must_use]
    pub fn root(tree: &Arc<Tree>) -> Self {
        Self { tree: Arc::clone(tree), pointer: String::new() }
    }

    /// A member of this one.
    #[must_use]
    pub fn child(&self, key: &str) -> Self {
        Self { tree: Arc::clone(&self.tree), pointer: json::child(&self.pointer, key) }
    }

    /// A fault here.
    #[must_use]
    pub fn fault(&self, code: &str, message: impl Into<String>) -> Diagnostic {
        self.tree.fault(code, &self.pointer, message)
    }

    /// A fault at a stretch of the text that stands here: a part of an expression.
    #[must_use]
    pub fn fault_within(
        &self,
        code: &str,
        message: impl Into<String>,
        text: &str,
        stretch: &Range<usize>,
    ) -> Diagnostic {
        let span = self.tree.stretch(&self.pointer, text, stretch);
        Diagnostic::new(code, message, &self.tree.source, span)
    }
}
