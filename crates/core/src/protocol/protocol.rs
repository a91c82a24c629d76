//! A protocol, whole: everything its files say, resolved and compiled.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{
    DocumentDefinition, HookDefinition, Localized, ProtocolBundle, ProtocolMemoryConfig,
    ProtocolPolicy, ResolvedAgent, WorkflowDefinition,
};
use crate::contract::ContractRegistry;
use crate::expr::Expr;
use crate::similar_name::find_similar_name;

/// A loaded protocol. Immutable; a run is pinned to its digest.
#[derive(Debug)]
pub struct Protocol {
    /// The name in the index.
    pub name: String,
    /// The version in the index.
    pub version: String,
    /// A few words.
    pub description: String,
    /// The workflow that is meant when none is named.
    pub default_workflow: String,
    /// How the document is laid out in files beside the protocol.
    pub state_format: StateFileLayout,
    /// What the document of a run is, and which places in it are the engine's, where its workflow does
    /// not say so itself; see [`Protocol::document_for`].
    pub document: DocumentDefinition,
    /// Workflows by id, their includes merged in.
    pub workflows: BTreeMap<String, WorkflowDefinition>,
    /// Agents by id, resolved against their bases.
    pub agents: BTreeMap<String, Arc<ResolvedAgent>>,
    /// Rules for prompts by name: the file's name without folder and extension.
    pub rules: BTreeMap<String, Arc<Localized<String>>>,
    /// Contracts of the folder, and the shipped ones.
    pub contracts: ContractRegistry,
    /// Hooks by id.
    pub hooks: BTreeMap<String, HookDefinition>,
    /// What runs may do and spend.
    pub policy: ProtocolPolicy,
    /// The model that is meant when neither the agent nor the caller names one.
    pub default_model: Option<String>,
    /// What gives the language of a run, over `state` and `run`.
    pub language: Option<Expr>,
    /// How runs use memory.
    pub memory: ProtocolMemoryConfig,
    /// The files it was loaded from.
    pub bundle: ProtocolBundle,
    /// The digest of those files.
    pub digest: String,
}

/// How the document is laid out in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateFileLayout {
    /// `current.json`.
    Single,
    /// `workflow.json`, `sprint.json`, `tasks.json`.
    Multi,
}

impl Protocol {
    /// The language of a run with this document; `Empty` where nothing gives one.
    #[must_use]
    pub fn resolve_language(&self, document: &Value, run: &Value) -> Option<String> {
        let given = self.language.as_ref()?.eval(&[Some(document), Some(run)]).ok()?.to_json()?;
        given.as_str().map(str::to_owned)
    }

    /// The document of a workflow's runs: its own, or the one of the index.
    #[must_use]
    pub fn document_for<'p>(&'p self, workflow: &'p WorkflowDefinition) -> &'p DocumentDefinition {
        workflow.document.as_ref().unwrap_or(&self.document)
    }

    /// A workflow by its id, or a sentence that names the nearest.
    pub fn find_workflow(&self, id: &str) -> Result<&WorkflowDefinition, String> {
        self.workflows.get(id).ok_or_else(|| {
            let known = self.workflows.keys().map(String::as_str);
            match find_similar_name(id, known) {
                Some(near) => format!("no workflow `{id}`; did you mean `{near}`?"),
                None => format!("no workflow `{id}` in protocol `{}`", self.name),
            }
        })
    }
}
