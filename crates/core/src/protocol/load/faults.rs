//! All that is wrong with a folder, collected while it is loaded.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use crate::json::Span;
use crate::spec::{Diagnostic, Severity};

/// What was found so far. Shared by everything that loads, so it is written through `&`.
#[derive(Debug, Default)]
pub(super) struct Faults {
    found: RefCell<Vec<Diagnostic>>,
    /// File, place, code and message of each.
    told: RefCell<BTreeSet<(String, Span, String, String)>>,
    errors: Cell<usize>,
}

impl Faults {
    /// Remembers a fault. One told already, by another way to the same place, is dropped.
    pub(super) fn push(&self, fault: Diagnostic) {
        let Diagnostic { source, span, code, message, .. } = &fault;
        let key = (source.name.clone(), *span, code.clone(), message.clone());
        if self.told.borrow_mut().insert(key) {
            let error = usize::from(fault.severity == Severity::Error);
            self.errors.set(self.errors.get() + error);
            self.found.borrow_mut().push(fault);
        }
    }

    /// Remembers several.
    pub(super) fn extend(&self, faults: impl IntoIterator<Item = Diagnostic>) {
        faults.into_iter().for_each(|fault| self.push(fault));
    }

    /// Whether anything keeps the folder from being used.
    pub(super) fn any(&self) -> bool {
        self.errors.get() > 0
    }

    /// Whether a file has an error.
    pub(super) fn any_in(&self, file: &str) -> bool {
        let wrong =
            |fault: &Diagnostic| fault.severity == Severity::Error && fault.source.name == file;
        self.found.borrow().iter().any(wrong)
    }

    /// Everything, by file and place, and whether the folder can be used all the same.
    pub(super) fn finish(self) -> (Vec<Diagnostic>, bool) {
        let mut found = self.found.into_inner();
        found.sort_by(|one, other| {
            let place = |fault: &Diagnostic| (fault.source.name.clone(), fault.span);
            place(one).cmp(&place(other)).then_with(|| one.code.cmp(&other.code))
        });
        (found, self.errors.get() == 0)
    }
}
