//! All that is wrong with a folder, collected while it is loaded.

use std::cell::RefCell;

use super::file_node::FileNode;
use crate::source::{Diagnostic, DiagnosticCollector};

/// What was found so far. Shared by everything that loads, so it is written through `&`.
#[derive(Debug, Default)]
pub(super) struct LoadDiagnostics {
    diagnostics: RefCell<DiagnosticCollector>,
}

impl LoadDiagnostics {
    /// Remembers a fault. One told already, by another way to the same place, is dropped.
    pub(super) fn push(&self, fault: Diagnostic) {
        self.diagnostics.borrow_mut().push(fault);
    }

    /// Remembers a fault whose words cost something to make: they are made only if they are kept.
    pub(super) fn push_with(
        &self,
        code: &str,
        place: &FileNode<'_>,
        make: impl FnOnce() -> Diagnostic,
    ) {
        let fault = if self.is_full(code) { place.diagnose(code, "") } else { make() };
        self.push(fault);
    }

    /// Remembers several.
    pub(super) fn extend(&self, faults: impl IntoIterator<Item = Diagnostic>) {
        faults.into_iter().for_each(|fault| self.push(fault));
    }

    /// Whether a fault of this code would only be counted.
    pub(super) fn is_full(&self, code: &str) -> bool {
        self.diagnostics.borrow().is_full(code)
    }

    /// Whether anything keeps the folder from being used.
    pub(super) fn has_errors(&self) -> bool {
        self.diagnostics.borrow().error_count() > 0
    }

    /// Whether a file has an error.
    pub(super) fn has_errors_in(&self, file: &str) -> bool {
        self.diagnostics.borrow().has_error_in(file)
    }

    /// Everything, by file and place, and whether the folder can be used all the same.
    pub(super) fn finish(self) -> (Vec<Diagnostic>, bool) {
        let found = self.diagnostics.into_inner();
        let usable = found.error_count() == 0;
        (found.finish(), usable)
    }
}
