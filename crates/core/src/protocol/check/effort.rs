//! The steps that the analyses of one `check` may take together. Beyond them an analysis stays
//! undecided, which is no finding; that it stopped is one.

use std::cell::Cell;

use super::budgets::index_file;
use crate::limits::MAX_CHECK_STEPS;
use crate::protocol::Protocol;
use crate::spec::Diagnostic;

/// What is left of the steps of one kind of work.
#[derive(Debug)]
pub(super) struct Effort {
    left: Cell<usize>,
    is_spent: Cell<bool>,
}

impl Effort {
    /// With this many steps.
    pub(super) fn new(steps: usize) -> Self {
        Self { left: Cell::new(steps), is_spent: Cell::new(false) }
    }

    /// Pays for some steps; whether they were left.
    pub(super) fn spend(&self, steps: usize) -> bool {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                true
            }
            None => {
                self.left.set(0);
                self.is_spent.set(true);
                false
            }
        }
    }

    /// Whether something was asked for that was not left.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent.get()
    }
}

/// The steps of every kind of work that grows with more than the size of the files.
#[derive(Debug)]
pub(super) struct Efforts {
    /// Questions to the schemas of documents and replies.
    pub(super) schemas: Effort,
    /// Places that are written, compared with those that are read.
    pub(super) places: Effort,
    /// Ways of a run with the tickets it holds.
    pub(super) tickets: Effort,
    /// Workflows that invoke one another.
    pub(super) calls: Effort,
    /// Pairs of gates, and the documents that are tried on them.
    pub(super) gates: Effort,
}

impl Efforts {
    /// All steps there are.
    pub(super) fn full() -> Self {
        let new = || Effort::new(MAX_CHECK_STEPS);
        // Steps that copy what is held, or walk a tree, cost more than others.
        let costly = || Effort::new(MAX_CHECK_STEPS / 4);
        let (places, tickets) = (costly(), costly());
        Self { schemas: new(), places, tickets, calls: new(), gates: new() }
    }

    /// One finding for every kind of work that stopped early.
    pub(super) fn incomplete(&self, protocol: &Protocol) -> Vec<Diagnostic> {
        let works = [
            (&self.schemas, "what the contracts allow at the places that expressions name"),
            (&self.places, "which of the places that expressions read something writes"),
            (&self.tickets, "on which ways a run comes to a phase without its ticket"),
            (&self.calls, "which workflows invoke one another in a ring"),
            (&self.gates, "which gates of equal priority can be open at once"),
        ];
        let Some(index) = index_file(protocol) else { return Vec::new() };
        let spent = works.into_iter().filter(|(effort, _)| effort.is_spent());
        spent
            .map(|(_, work)| {
                let message =
                    format!("the check stopped early and did not find out in full {work}");
                let hint =
                    "a missing finding of this kind proves nothing; make the workflow smaller";
                let fault = index.fault("analysis_incomplete", message);
                fault.warning().hinting(Some(hint.to_owned()))
            })
            .collect()
    }
}
