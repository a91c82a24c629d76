//! Where in an author's files something was said, so that a fault found later can point there.

use std::ops::Range;
use std::sync::Arc;

use crate::json;
use crate::source::{Diagnostic, ParsedSourceFile};

/// A member of a file.
#[derive(Debug, Clone)]
pub struct FileOrigin {
    /// The file.
    pub tree: Arc<ParsedSourceFile>,
    /// The member in it.
    pub pointer: String,
}

impl FileOrigin {
    /// The root of a file.
    #[must_use]
    pub fn root(tree: &Arc<ParsedSourceFile>) -> Self {
        Self { tree: Arc::clone(tree), pointer: String::new() }
    }

    /// A member of this one.
    #[must_use]
    pub fn child(&self, key: &str) -> Self {
        Self { tree: Arc::clone(&self.tree), pointer: json::child_pointer(&self.pointer, key) }
    }

    /// A fault here.
    #[must_use]
    pub fn diagnose(&self, code: &str, message: impl Into<String>) -> Diagnostic {
        self.tree.diagnose(code, &self.pointer, message)
    }

    /// A fault at a stretch of the text that stands here: a part of an expression.
    #[must_use]
    pub fn diagnose_within(
        &self,
        code: &str,
        message: impl Into<String>,
        text: &str,
        stretch: &Range<usize>,
    ) -> Diagnostic {
        let span = self.tree.find_excerpt_span(&self.pointer, text, stretch);
        Diagnostic::new(code, message, &self.tree.source, span)
    }
}
