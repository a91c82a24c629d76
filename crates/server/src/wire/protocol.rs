//! Protocols as they are sent: what this house offers, and what each says.

use countersign_core::protocol::{Protocol, WorkflowDefinition, WorkflowPhase};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::DiagnosticView;
use crate::show::graph::{describe_gate, describe_work};

/// A protocol in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProtocolRow {
    /// By which it is named.
    #[schema(example = "demo")]
    pub name: String,
    /// The version in its index; null where it does not load.
    pub version: Option<String>,
    /// What it does, in a line.
    pub about: String,
    /// `folder`: the one of the folder of work. `shipped`: it comes with the program.
    #[schema(example = "shipped")]
    pub origin: String,
    /// The digest of its files.
    pub digest: String,
    /// The workflow that is meant when none is named; null where it does not load.
    pub default_workflow: Option<String>,
    /// Its workflows by id.
    pub workflows: Vec<String>,
    /// How many faults hinder it from loading.
    pub errors: usize,
}

/// A whole protocol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProtocolView {
    /// By which it is named.
    #[schema(example = "demo")]
    pub name: String,
    /// The version in its index; null where it does not load.
    pub version: Option<String>,
    /// What it does.
    pub about: String,
    /// `folder` or `shipped`.
    pub origin: String,
    /// The digest of its files.
    pub digest: String,
    /// The workflow that is meant when none is named.
    pub default_workflow: Option<String>,
    /// The model that is meant when nobody names one.
    pub default_model: Option<String>,
    /// Its workflows.
    pub workflows: Vec<WorkflowView>,
    /// Its agents by id.
    pub agents: Vec<String>,
    /// What `check` finds, errors first.
    pub findings: Vec<DiagnosticView>,
    /// Its files by path.
    pub files: Vec<String>,
}

/// A workflow.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WorkflowView {
    /// Unique in the protocol.
    pub id: String,
    /// A name for people.
    pub name: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// What its runs are started with; null where an object is merged into the first document.
    pub input: Option<WorkflowInputView>,
    /// The places of the document that a run gives in the end.
    pub output: Vec<String>,
    /// Its phases; a run begins in the first.
    pub phases: Vec<PhaseView>,
    /// Its ways.
    pub transitions: Vec<TransitionView>,
}

/// What a run is started with.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WorkflowInputView {
    /// What is asked of a person.
    pub question: Option<String>,
    /// What it must satisfy.
    pub schema: Value,
}

/// A phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PhaseView {
    /// Unique in the workflow.
    pub id: String,
    /// A name for people.
    pub name: Option<String>,
    /// What happens in it.
    pub description: Option<String>,
    /// What is done in it, in a few words.
    pub work: Option<String>,
    /// Whether it ends the run.
    pub terminal: bool,
}

/// A way from phase to phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TransitionView {
    /// The phase that is left.
    pub from: String,
    /// The phase that is entered.
    pub to: String,
    /// What must hold, in words; null where it is open.
    pub gate: Option<String>,
}

impl WorkflowView {
    /// A workflow of a protocol.
    #[must_use]
    pub fn from_workflow(protocol: &Protocol, workflow: &WorkflowDefinition) -> Self {
        let language =
            protocol.resolve_language(&protocol.document_for(workflow).initial, &Value::Null);
        let input = workflow.input.as_ref().map(|input| WorkflowInputView {
            question: input
                .question
                .as_ref()
                .map(|asked| asked.version_for(language.as_deref()).clone()),
            schema: input.answer.schema.source().clone(),
        });
        let ways = workflow.transitions.iter().map(|way| TransitionView {
            from: way.from.clone(),
            to: way.to.clone(),
            gate: way.gate.as_ref().map(describe_gate),
        });
        Self {
            id: workflow.id.clone(),
            name: workflow.name.clone(),
            description: workflow.description.clone(),
            input,
            output: workflow.output.clone(),
            phases: workflow
                .phases
                .iter()
                .map(|phase| PhaseView::from_phase(workflow, phase))
                .collect(),
            transitions: ways.collect(),
        }
    }
}

impl PhaseView {
    fn from_phase(workflow: &WorkflowDefinition, phase: &WorkflowPhase) -> Self {
        Self {
            id: phase.id.clone(),
            name: phase.name.clone(),
            description: phase.description.clone(),
            work: describe_work(&phase.work),
            terminal: workflow.ends_in(phase),
        }
    }
}
