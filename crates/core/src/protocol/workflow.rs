//! A workflow: phases and the ways between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{
    BudgetLimits, DocumentChange, DocumentDefinition, DurationMillis, FailureHandler, FileOrigin,
    Localized, PhaseWork, TransitionGate,
};
use crate::contract::Contract;

/// A state machine of phases and transitions, includes merged in.
#[derive(Debug)]
pub struct WorkflowDefinition {
    /// Unique in the protocol.
    pub id: String,
    /// A name for people.
    pub name: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// The document of its runs, where it has one of its own; see [`super::Protocol::document_for`].
    pub document: Option<DocumentDefinition>,
    /// What its runs may be started with, beside a document.
    pub input: Option<WorkflowInput>,
    /// The places of the document that are what a run gives in the end; none where it does not say.
    pub output: Vec<String>,
    /// A run begins in the first. Own phases come before included ones.
    pub phases: Vec<WorkflowPhase>,
    /// The ways, in the order of the files.
    pub transitions: Vec<WorkflowTransition>,
    /// Where it was said.
    pub origin: FileOrigin,
    /// Where its phases and the ways out of them stand in the lists above.
    pub index: WorkflowIndex,
}

/// The positions of the phases and transitions of a workflow, by the ids of phases.
#[derive(Debug, Default)]
pub struct WorkflowIndex {
    phases: BTreeMap<String, usize>,
    /// The ways out of a phase, in the order they are asked.
    transitions_from: BTreeMap<String, Vec<usize>>,
}

impl WorkflowIndex {
    /// The index of these phases and transitions. Of phases with one id the first counts.
    #[must_use]
    pub fn new(phases: &[WorkflowPhase], transitions: &[WorkflowTransition]) -> Self {
        let mut index = Self::default();
        for (position, phase) in phases.iter().enumerate() {
            index.phases.entry(phase.id.clone()).or_insert(position);
        }
        for (position, way) in transitions.iter().enumerate() {
            match index.transitions_from.get_mut(&way.from) {
                Some(ways) => ways.push(position),
                None => {
                    index.transitions_from.insert(way.from.clone(), vec![position]);
                }
            }
        }
        for ways in index.transitions_from.values_mut() {
            ways.sort_by_key(|position| transitions[*position].priority);
        }
        index
    }
}

/// What a run may be started with: checked like an answer, and then the first thing that changes the document.
#[derive(Debug)]
pub struct WorkflowInput {
    /// What it must satisfy.
    pub answer: Arc<Contract>,
    /// How it, as `reply`, changes the first document.
    pub apply: Vec<DocumentChange>,
    /// What is asked of a person where none was given.
    pub question: Option<Localized<String>>,
}

/// One phase.
#[derive(Debug)]
pub struct WorkflowPhase {
    /// Unique in the workflow.
    pub id: String,
    /// A name for people.
    pub name: Option<String>,
    /// What happens in it, for prompts and people.
    pub description: Option<String>,
    /// Whether it says that it ends the run. A phase with no way out does so too.
    pub terminal: bool,
    /// The hook that runs after it is entered.
    pub on_enter: Option<String>,
    /// The hook that runs before it is left.
    pub on_exit: Option<String>,
    /// What is done in it.
    pub work: PhaseWork,
    /// The pointers that may be written here; `Empty` is every place that is not the engine's.
    pub writes: Option<Vec<String>>,
    /// How long a run may stay.
    pub timeout: Option<(DurationMillis, FailureHandler)>,
    /// Limits of this phase.
    pub budget: BudgetLimits,
    /// The tickets without which it is not entered.
    pub needs: Vec<String>,
    /// The tickets that are given when its work was accepted.
    pub gives: Vec<String>,
    /// Where it was said.
    pub origin: FileOrigin,
}

/// One way from phase to phase.
#[derive(Debug)]
pub struct WorkflowTransition {
    /// The phase that is left.
    pub from: String,
    /// The phase that is entered.
    pub to: String,
    /// The lowest open one is taken.
    pub priority: i64,
    /// What must hold; open when absent.
    pub gate: Option<TransitionGate>,
    /// The budget that taking this way spends from: `rework`, or a name of the author's.
    pub spends: Option<String>,
    /// How taking it changes the document, before the next phase is entered. Expressions read `state` and `run`.
    pub apply: Vec<DocumentChange>,
    /// The tickets that are given when it is taken.
    pub gives: Vec<String>,
    /// Where it was said.
    pub origin: FileOrigin,
}

impl WorkflowDefinition {
    /// A phase by its id.
    #[must_use]
    pub fn find_phase(&self, id: &str) -> Option<&WorkflowPhase> {
        self.phase_position(id).map(|position| &self.phases[position])
    }

    /// The position of a phase in the list.
    #[must_use]
    pub fn phase_position(&self, id: &str) -> Option<usize> {
        self.index.phases.get(id).copied()
    }

    /// The ways out of a phase with their positions in the workflow, in the order they are asked:
    /// lowest priority first, ties in the order of the files.
    #[must_use]
    pub fn transitions_from(&self, phase: &str) -> Vec<(usize, &WorkflowTransition)> {
        let ways = self.index.transitions_from.get(phase).into_iter().flatten();
        ways.map(|position| (*position, &self.transitions[*position])).collect()
    }

    /// What a document holds at the places of `output`, in their order. A place that holds nothing gives nothing.
    pub fn select_output<'w>(
        &'w self,
        document: &'w Value,
    ) -> impl Iterator<Item = (&'w str, &'w Value)> {
        let places = self.output.iter().map(String::as_str);
        places.filter_map(|place| Some((place, document.pointer(place)?)))
    }

    /// Whether a run that stands here is done.
    #[must_use]
    pub fn ends_in(&self, phase: &WorkflowPhase) -> bool {
        phase.terminal || !self.index.transitions_from.contains_key(&phase.id)
    }
}
