//! Workflows: phases and the transitions between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_contract::contract::Contract;
use serde_json::Value;

use super::{
    BudgetLimits, DecisionTrigger, DocumentChange, DocumentDefinition, DurationMillis,
    FailureHandler, FileOrigin, Localized, PhaseWork, TextTemplate, TransitionGate,
};

/// A state machine of phases and transitions, with includes merged in.
#[derive(Debug)]
pub struct WorkflowDefinition {
    /// Unique in the protocol.
    pub id: String,
    /// A name for people.
    pub name: Option<String>,
    /// What the workflow does, for people.
    pub description: Option<String>,
    /// The title of a run in lists, a template over `state` and `run`; `None` if the title is an
    /// excerpt of the input.
    pub title: Option<Localized<TextTemplate>>,
    /// The workflow's own document definition; see [`super::Protocol::document_for`].
    pub document: Option<DocumentDefinition>,
    /// What runs may be started with, beside a document.
    pub input: Option<WorkflowInput>,
    /// Pointers of the document that form the result of a run; empty if the workflow declares none.
    pub output: Vec<String>,
    /// Phases in order; a run starts in the first. Own phases come before included ones.
    pub phases: Vec<WorkflowPhase>,
    /// Transitions in file order.
    pub transitions: Vec<WorkflowTransition>,
    /// Where the file defines the workflow.
    pub origin: FileOrigin,
    /// Where the index describes title, document, input and output; `None` if it does not.
    pub settings_origin: Option<FileOrigin>,
    /// Positions of phases and transitions in the lists above.
    pub index: WorkflowIndex,
}

/// Positions of a workflow's phases and transitions, by phase id.
#[derive(Debug, Default)]
pub struct WorkflowIndex {
    phases: BTreeMap<String, usize>,
    /// Positions of the transitions out of a phase, in evaluation order.
    transitions_from: BTreeMap<String, Vec<usize>>,
}

impl WorkflowIndex {
    /// Builds the index. If several phases have the same id, the first one is used.
    #[must_use]
    pub fn new(phases: &[WorkflowPhase], transitions: &[WorkflowTransition]) -> Self {
        let mut index = Self::default();
        for (position, phase) in phases.iter().enumerate() {
            index.phases.entry(phase.id.clone()).or_insert(position);
        }
        for (position, transition) in transitions.iter().enumerate() {
            match index.transitions_from.get_mut(&transition.from) {
                Some(positions) => positions.push(position),
                None => {
                    index.transitions_from.insert(transition.from.clone(), vec![position]);
                }
            }
        }
        for positions in index.transitions_from.values_mut() {
            positions.sort_by_key(|position| transitions[*position].priority);
        }
        index
    }
}

/// What a run may be started with. It is checked like an answer, and then makes the first change to
/// the document.
#[derive(Debug)]
pub struct WorkflowInput {
    /// Contract that the input must satisfy.
    pub answer: Arc<Contract>,
    /// How the input changes the initial document; expressions read it as `reply`.
    pub apply: Vec<DocumentChange>,
    /// Question to a person when a run is started without input.
    pub question: Option<Localized<String>>,
}

/// One phase of a workflow.
#[derive(Debug)]
pub struct WorkflowPhase {
    /// Unique in the workflow.
    pub id: String,
    /// A name for people.
    pub name: Option<String>,
    /// What happens in the phase, for prompts and people.
    pub description: Option<String>,
    /// Whether the author marked the phase as an end. A phase without outgoing transitions is an
    /// end too.
    pub terminal: bool,
    /// Id of the hook that runs after the phase is entered.
    pub on_enter: Option<String>,
    /// Id of the hook that runs before the phase is left.
    pub on_exit: Option<String>,
    /// The work of the phase.
    pub work: PhaseWork,
    /// Pointers that may be written in this phase; `None` allows every field that is not
    /// engine-owned.
    pub writes: Option<Vec<String>>,
    /// Time that a run may stay in the phase, and what happens after it.
    pub timeout: Option<(DurationMillis, FailureHandler)>,
    /// Budget limits of this phase.
    pub budget: BudgetLimits,
    /// Tickets that a run must hold to enter the phase.
    pub needs: Vec<String>,
    /// Tickets issued when the phase's work is accepted.
    pub issues: Vec<String>,
    /// Where the file defines the phase.
    pub origin: FileOrigin,
}

/// A transition from one phase to another.
#[derive(Debug)]
pub struct WorkflowTransition {
    /// Id of the phase that is left.
    pub from: String,
    /// Id of the phase that is entered.
    pub to: String,
    /// Evaluation order; of the open transitions the one with the lowest priority is taken. The
    /// default is 0.
    pub priority: i64,
    /// The condition of the transition; always open if absent.
    pub gate: Option<TransitionGate>,
    /// The transition is considered only after an approval of the phase ended like this.
    pub after: Option<DecisionTrigger>,
    /// Budget to spend from when the transition is taken: `rework`, or a name that the author
    /// chose.
    pub spends: Option<String>,
    /// Changes applied before the next phase is entered. Their expressions read `state` and `run`.
    pub apply: Vec<DocumentChange>,
    /// Tickets issued when the transition is taken.
    pub issues: Vec<String>,
    /// Where the file defines the transition.
    pub origin: FileOrigin,
}

impl WorkflowDefinition {
    /// Where the index describes one of title, document, input and output; the workflow itself if
    /// it does not.
    #[must_use]
    pub fn setting_origin(&self, key: &str) -> FileOrigin {
        let section = self.settings_origin.as_ref();
        section.map_or_else(|| self.origin.clone(), |section| section.child(key))
    }

    /// Finds a phase by its id.
    #[must_use]
    pub fn find_phase(&self, id: &str) -> Option<&WorkflowPhase> {
        self.phase_position(id).map(|position| &self.phases[position])
    }

    /// Position of a phase in `phases`.
    #[must_use]
    pub fn phase_position(&self, id: &str) -> Option<usize> {
        self.index.phases.get(id).copied()
    }

    /// Lists the transitions out of a phase with their positions, in evaluation order: lowest
    /// priority first, ties in file order.
    #[must_use]
    pub fn transitions_from(&self, phase: &str) -> Vec<(usize, &WorkflowTransition)> {
        let positions = self.index.transitions_from.get(phase).into_iter().flatten();
        positions.map(|position| (*position, &self.transitions[*position])).collect()
    }

    /// Selects the values at the pointers of `output`, in their order. Pointers without a value are
    /// skipped.
    pub fn select_output<'w>(
        &'w self,
        document: &'w Value,
    ) -> impl Iterator<Item = (&'w str, &'w Value)> {
        let pointers = self.output.iter().map(String::as_str);
        pointers.filter_map(|pointer| Some((pointer, document.pointer(pointer)?)))
    }

    /// Whether a run ends in this phase.
    #[must_use]
    pub fn ends_in(&self, phase: &WorkflowPhase) -> bool {
        phase.terminal || !self.index.transitions_from.contains_key(&phase.id)
    }
}
