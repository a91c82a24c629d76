//! Locations in an author's files, so that problems found after loading can point to them.

use std::ops::Range;
use std::sync::Arc;

use countersign_contract::json;
use countersign_contract::source::{Diagnostic, ParsedSourceFile};

/// The location of a value in a file.
#[derive(Debug, Clone)]
pub struct FileOrigin {
    /// The parsed file.
    pub tree: Arc<ParsedSourceFile>,
    /// JSON Pointer of the value in the file.
    pub pointer: String,
}

impl FileOrigin {
    /// Location of the whole file.
    #[must_use]
    pub fn root(tree: &Arc<ParsedSourceFile>) -> Self {
        Self { tree: Arc::clone(tree), pointer: String::new() }
    }

    /// Location of a member of this value.
    #[must_use]
    pub fn child(&self, key: &str) -> Self {
        Self { tree: Arc::clone(&self.tree), pointer: json::child_pointer(&self.pointer, key) }
    }

    /// Creates a diagnostic for this location.
    #[must_use]
    pub fn diagnose(&self, code: &str, message: impl Into<String>) -> Diagnostic {
        self.tree.diagnose(code, &self.pointer, message)
    }

    /// Creates a diagnostic for a range of the text at this location, such as a part of an
    /// expression.
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
