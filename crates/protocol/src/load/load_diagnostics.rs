//! Collects everything that is wrong with a folder while it is loaded.

use std::cell::RefCell;

use countersign_contract::source::{Diagnostic, DiagnosticCollector};

use super::file_node::FileNode;

/// The diagnostics found so far. All loading code shares them, so they are added through `&`.
#[derive(Debug, Default)]
pub(super) struct LoadDiagnostics {
    diagnostics: RefCell<DiagnosticCollector>,
}

impl LoadDiagnostics {
    /// Adds a diagnostic. A duplicate, found again at the same location, is dropped.
    pub(super) fn push(&self, fault: Diagnostic) {
        self.diagnostics.borrow_mut().push(fault);
    }

    /// Adds a diagnostic whose message is expensive to build; it is built only if it will be
    /// listed.
    pub(super) fn push_with(
        &self,
        code: &str,
        node: &FileNode<'_>,
        make: impl FnOnce() -> Diagnostic,
    ) {
        let fault = if self.is_full(code) { node.diagnose(code, "") } else { make() };
        self.push(fault);
    }

    /// Adds several diagnostics.
    pub(super) fn extend(&self, faults: impl IntoIterator<Item = Diagnostic>) {
        faults.into_iter().for_each(|fault| self.push(fault));
    }

    /// Whether further diagnostics of this code are only counted, not listed.
    pub(super) fn is_full(&self, code: &str) -> bool {
        self.diagnostics.borrow().is_full(code)
    }

    /// Whether an error prevents the folder from being used.
    pub(super) fn has_errors(&self) -> bool {
        self.diagnostics.borrow().error_count() > 0
    }

    /// Whether a file has an error.
    pub(super) fn has_errors_in(&self, file: &str) -> bool {
        self.diagnostics.borrow().has_error_in(file)
    }

    /// Returns all diagnostics, sorted by file and position, and whether the folder is usable.
    pub(super) fn finish(self) -> (Vec<Diagnostic>, bool) {
        let found = self.diagnostics.into_inner();
        let usable = found.error_count() == 0;
        (found.finish(), usable)
    }
}
