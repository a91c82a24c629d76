//! Limits the number of steps that the analyses of one `check` may take together. An analysis that
//! runs out of steps stays undecided and reports nothing; that it stopped early is reported.

use std::cell::Cell;

use countersign_contract::limits::MAX_CHECK_STEPS;
use countersign_contract::source::Diagnostic;

use super::unused_budgets::parse_index_file;
use crate::Protocol;

/// The remaining steps of one kind of analysis.
#[derive(Debug)]
pub(super) struct AnalysisBudget {
    steps_left: Cell<usize>,
    is_spent: Cell<bool>,
}

impl AnalysisBudget {
    /// Creates a budget of this many steps.
    pub(super) fn new(steps: usize) -> Self {
        Self { steps_left: Cell::new(steps), is_spent: Cell::new(false) }
    }

    /// Spends some steps and returns whether they were available.
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

    /// Whether more steps were requested than were available.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent.get()
    }
}

/// The budgets of every analysis whose cost grows faster than the size of the files.
#[derive(Debug)]
pub(super) struct AnalysisBudgets {
    /// Queries to the schemas of documents and replies.
    pub(super) schemas: AnalysisBudget,
    /// Comparison of written pointers with read ones.
    pub(super) pointers: AnalysisBudget,
    /// Search over the paths of a run with the tickets it holds.
    pub(super) tickets: AnalysisBudget,
    /// Search for workflows that invoke one another.
    pub(super) invocations: AnalysisBudget,
    /// Comparison of pairs of gates, and the documents they are tested with.
    pub(super) gates: AnalysisBudget,
}

impl AnalysisBudgets {
    /// Gives each analysis its maximum number of steps.
    pub(super) fn with_max_steps() -> Self {
        let new = || AnalysisBudget::new(MAX_CHECK_STEPS);
        // Steps that copy the held tickets or walk a tree cost more than others.
        let costly = || AnalysisBudget::new(MAX_CHECK_STEPS / 4);
        let (pointers, tickets) = (costly(), costly());
        Self { schemas: new(), pointers, tickets, invocations: new(), gates: new() }
    }

    /// Creates one finding for every analysis that stopped early.
    pub(super) fn report_exhausted(&self, protocol: &Protocol) -> Vec<Diagnostic> {
        let works = [
            (&self.schemas, "what the contracts allow at the locations that expressions read"),
            (&self.pointers, "whether something writes the locations that expressions read"),
            (&self.tickets, "which paths lead a run to a phase without its ticket"),
            (&self.invocations, "which workflows invoke each other in a cycle"),
            (&self.gates, "which gates of equal priority can be open at once"),
        ];
        let Some(index) = parse_index_file(protocol) else { return Vec::new() };
        let spent = works.into_iter().filter(|(effort, _)| effort.is_spent());
        spent
            .map(|(_, work)| {
                let message = format!("the check stopped early and did not fully determine {work}");
                let hint = "more problems of this kind may exist; make the workflow smaller";
                let fault = index.diagnose("analysis_incomplete", message);
                fault.into_warning().with_hint(Some(hint.to_owned()))
            })
            .collect()
    }
}
