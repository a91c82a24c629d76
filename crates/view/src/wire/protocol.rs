//! Protocols as the API sends them: the list of protocols, and a whole protocol.

use countersign_protocol::{Protocol, WorkflowDefinition, WorkflowPhase};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::DiagnosticView;
use crate::show::graph::{describe_condition, describe_work};

/// A protocol in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProtocolRow {
    /// The name of the protocol.
    #[schema(example = "demo")]
    pub name: String,
    /// The version in the protocol's index. Null if the protocol does not load.
    pub version: Option<String>,
    /// A one-line description.
    pub description: String,
    /// The origin: `folder` (in the workspace) or `shipped` (part of the program).
    #[schema(example = "shipped")]
    pub origin: String,
    /// The digest of the protocol's files.
    pub digest: String,
    /// The workflow that is used if none is named. Null if the protocol does not load.
    pub default_workflow: Option<String>,
    /// The ids of the workflows. Empty if the protocol does not load.
    pub workflows: Vec<String>,
    /// The model that is used if none is named. Null if the protocol sets no default or does not
    /// load.
    pub default_model: Option<String>,
    /// The script that plays the model of the protocol in the workspace. Null for shipped
    /// protocols, and if the default model is no script.
    pub script: Option<ModelScriptView>,
    /// The number of errors that prevent the protocol from loading.
    pub errors: usize,
}

/// A whole protocol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProtocolView {
    /// The name of the protocol.
    #[schema(example = "demo")]
    pub name: String,
    /// The version in the protocol's index. Null if the protocol does not load.
    pub version: Option<String>,
    /// A description of the protocol.
    pub description: String,
    /// The origin: `folder` or `shipped`.
    pub origin: String,
    /// The digest of the protocol's files.
    pub digest: String,
    /// The workflow that is used if none is named. Null if the protocol does not load.
    pub default_workflow: Option<String>,
    /// The model that is used if none is named. Null if the protocol sets no default.
    pub default_model: Option<String>,
    /// The script that plays the model if no other model is named. Null if the default model is
    /// none, or its file is not in the workspace.
    pub script: Option<ModelScriptView>,
    /// The workflows of the protocol.
    pub workflows: Vec<WorkflowView>,
    /// The ids of the agents.
    pub agents: Vec<String>,
    /// The findings of `check`, errors first.
    pub diagnostics: Vec<DiagnosticView>,
    /// The paths of the protocol's files.
    pub files: Vec<String>,
}

/// A script that plays the model of a protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ModelScriptView {
    /// The file with the replies.
    #[schema(example = "replies.yaml")]
    pub file: String,
    /// Inputs of a run that the replies fit. Empty if the script names none.
    pub inputs: Vec<String>,
    /// Answers to questions of a run that the replies fit. Empty if the script names none.
    pub answers: Vec<String>,
}

/// A workflow of a protocol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WorkflowView {
    /// The id of the workflow, unique in the protocol.
    pub id: String,
    /// The display name of the workflow.
    pub name: Option<String>,
    /// A description of the workflow.
    pub description: Option<String>,
    /// The input that runs start with. Null if a run instead takes an object that is merged into
    /// the initial document.
    pub input: Option<WorkflowInputView>,
    /// JSON Pointers of the document values that are the output of a run.
    pub output: Vec<String>,
    /// The phases of the workflow; a run starts in the first.
    pub phases: Vec<PhaseView>,
    /// The transitions of the workflow.
    pub transitions: Vec<TransitionView>,
}

/// The input that a run starts with.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WorkflowInputView {
    /// The question that asks a person for the input.
    pub question: Option<String>,
    /// The JSON Schema of the input.
    pub schema: Value,
}

/// A phase of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PhaseView {
    /// The id of the phase, unique in the workflow.
    pub id: String,
    /// The display name of the phase.
    pub name: Option<String>,
    /// A description of the phase.
    pub description: Option<String>,
    /// The work of the phase, in a few words. Null if it has none.
    pub work: Option<String>,
    /// Whether entering the phase ends the run.
    pub terminal: bool,
}

/// A transition from one phase to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TransitionView {
    /// The phase that the transition leaves.
    pub from: String,
    /// The phase that the transition enters.
    pub to: String,
    /// The gate of the transition, in words. Null if the transition is always open.
    pub gate: Option<String>,
}

impl WorkflowView {
    /// Builds the view of a workflow of a protocol.
    #[must_use]
    pub fn from_workflow(protocol: &Protocol, workflow: &WorkflowDefinition) -> Self {
        let language =
            protocol.resolve_language(&protocol.document_for(workflow).initial, &Value::Null);
        let input = workflow.input.as_ref().map(|input| WorkflowInputView {
            question: input
                .question
                .as_ref()
                .map(|text| text.version_for(language.as_deref()).clone()),
            schema: input.answer.schema.source().clone(),
        });
        let transitions = workflow.transitions.iter().map(|transition| TransitionView {
            from: transition.from.clone(),
            to: transition.to.clone(),
            gate: describe_condition(transition),
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
            transitions: transitions.collect(),
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
