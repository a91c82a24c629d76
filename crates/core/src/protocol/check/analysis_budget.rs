//! The steps that the analyses of one `check` may take together. Beyond them an analysis stays
//! undecided, which is no finding; that it stopped is one.

use std::cell::Cell;

use super::unused_budgets::parse_index_file;
use crate::limits::MAX_CHECK_STEPS;
use crate::protocol::Protocol;
use crate::source::Diagnostic;

/// What is left of the steps of one kind of work.
#[derive(Debug)]
pub(super) struct AnalysisBudget {
    steps_left: Cell<usize>,
    is_spent: Cell<bool>,
}

impl AnalysisBudget {
    /// With this many steps.
    pub(super) fn new(steps: usize) -> Self {
        Self { steps_left: Cell::new(steps), is_spent: Cell::new(false) }
    }

    /// Pays for some steps; whether they were left.
    pub(super) fn spend(&self, steps: usize) -> bool {
        match self.steps_left.get().checked_sub(steps) {
            Some(left) => {
                self.steps_left.set(left);
                true
            }
            None => {
                self.steps_left.set(0);
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
pub(super) struct AnalysisBudgets {
    /// Questions to the schemas of documents and replies.
    pub(super) schemas: AnalysisBudget,
    /// Places that are written, compared with those that are read.
    pub(super) pointers: AnalysisBudget,
    /// Ways of a run with the tickets it holds.
    pub(super) tickets: AnalysisBudget,
    /// Workflows that invoke one another.
    pub(super) invocations: AnalysisBudget,
    /// Pairs of gates, and the documents that are tried on them.
    pub(super) gates: AnalysisBudget,
}

impl AnalysisBudgets {
    /// All steps there are.
    pub(super) fn with_max_steps() -> Self {
        let new = || AnalysisBudget::new(MAX_CHECK_STEPS);
        // Steps that copy what is held, or walk a tree, cost more than others.
        let costly = || AnalysisBudget::new(MAX_CHECK_STEPS / 4);
        let (pointers, tickets) = (costly(), costly());
        Self { schemas: new(), pointers, tickets, invocations: new(), gates: new() }
    }

    /// One finding for every kind of work that stopped early.
    pub(super) fn report_exhausted(&self, protocol: &Protocol) -> Vec<Diagnostic> {
        let works = [
            (&self.schemas, "what the contracts allow at the places that expressions name"),
            (&self.pointers, "which of the places that expressions read something writes"),
            (&self.tickets, "on which ways a run comes to a phase without its ticket"),
            (&self.invocations, "which workflows invoke one another in a ring"),
            (&self.gates, "which gates of equal priority can be open at once"),
        ];
        let Some(index) = parse_index_file(protocol) else { return Vec::new() };
        let spent = works.into_iter().filter(|(effort, _)| effort.is_spent());
        spent
            .map(|(_, work)| {
                let message =
                    format!("the check stopped early and did not find out in full {work}");
                let hint =
                    "a missing finding of this kind proves nothing; make the workflow smaller";
                let fault = index.diagnose("analysis_incomplete", message);
                fault.into_warning().with_hint(Some(hint.to_owned()))
            })
            .collect()
    }
}
