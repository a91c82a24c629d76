//! All that is wrong with a folder, collected while it is loaded.

use std::cell::RefCell;

use super::member::Member;
use crate::spec::{Diagnostic, Findings};

/// What was found so far. Shared by everything that loads, so it is written through `&`.
#[derive(Debug, Default)]
pub(super) struct Faults {
    found: RefCell<Findings>,
}

impl Faults {
    /// Remembers a fault. One told already, by another way to the same place, is dropped.
    pub(super) fn push(&self, fault: Diagnostic) {
        self.found.borrow_mut().push(fault);
    }

    /// Remembers a fault whose words cost something to make: they are made only if they are kept.
    pub(super) fn push_at(
        &self,
        code: &str,
        place: &Member<'_>,
        make: impl FnOnce() -> Diagnostic,
    ) {
        let fault = if self.is_full(code) { place.fault(code, "") } else { make() };
        self.push(fault);
    }

    /// Remembers several.
    pub(super) fn extend(&self, faults: impl IntoIterator<Item = Diagnostic>) {
        faults.into_iter().for_each(|fault| self.push(fault));
    }

    /// Whether a fault of this code would only be counted.
    pub(super) fn is_full(&self, code: &str) -> bool {
        self.found.borrow().is_full(code)
    }

    /// Whether anything keeps the folder from being used.
    pub(super) fn any(&self) -> bool {
        self.found.borrow().errors() > 0
    }

    /// Whether a file has an error.
    pub(super) fn any_in(&self, file: &str) -> bool {
        self.found.borrow().has_error_in(file)
    }

    /// Everything, by file and place, and whether the folder can be used all the same.
    pub(super) fn finish(self) -> (Vec<Diagnostic>, bool) {
        let found = self.found.into_inner();
        let usable = found.errors() == 0;
        (found.finish(), usable)
    }
}
