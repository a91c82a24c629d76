//! A complete protocol: the content of its files, resolved and compiled.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_contract::contract::ContractRegistry;
use countersign_contract::expr::Expr;
use countersign_contract::find_similar_name;
use serde_json::Value;

use super::{
    ChannelSubscription, DocumentDefinition, HookDefinition, Localized, ProtocolBundle,
    ProtocolMemoryConfig, ProtocolPolicy, ResolvedAgent, SkillDefinition, WorkflowDefinition,
};

/// A loaded protocol. It is immutable, and a run is pinned to its digest.
#[derive(Debug)]
pub struct Protocol {
    /// Name from the index.
    pub name: String,
    /// Version from the index: `major.minor.patch`.
    pub version: String,
    /// Description from the index; empty if it has none.
    pub description: String,
    /// Id of the workflow to use if the caller names none.
    pub default_workflow: String,
    /// How the document is laid out in state files.
    pub state_format: StateFileLayout,
    /// The document definition of workflows that do not have their own; see
    /// [`Protocol::document_for`].
    pub document: DocumentDefinition,
    /// Workflows by id, with their includes merged in.
    pub workflows: BTreeMap<String, WorkflowDefinition>,
    /// Agents by id, merged with their bases.
    pub agents: BTreeMap<String, Arc<ResolvedAgent>>,
    /// Prompt rules by name, which is the file name without folder and extension.
    pub rules: BTreeMap<String, Arc<Localized<String>>>,
    /// Skills by name, which is the name of their folder.
    pub skills: BTreeMap<String, Arc<SkillDefinition>>,
    /// The folder's contracts and the shipped ones.
    pub contracts: ContractRegistry,
    /// Hooks by id.
    pub hooks: BTreeMap<String, HookDefinition>,
    /// What runs may do and spend.
    pub policy: ProtocolPolicy,
    /// Model to use if neither the agent nor the caller names one.
    pub default_model: Option<String>,
    /// What names of models in this protocol stand for: `gpt-4` for `openai:gpt-4.1`. See
    /// [`Protocol::resolve_model_name`].
    pub model_aliases: BTreeMap<String, String>,
    /// Expression over `state` and `run` that gives the language of a run.
    pub language: Option<Expr>,
    /// How runs use memory.
    pub memory: ProtocolMemoryConfig,
    /// The channels that runs are subscribed to, beside those of the place where they work.
    pub channels: Vec<ChannelSubscription>,
    /// The files that the protocol was loaded from.
    pub bundle: ProtocolBundle,
    /// Digest of those files.
    pub digest: String,
}

/// How the document is laid out in state files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateFileLayout {
    /// One file, `current.json`.
    Single,
    /// Three files: `workflow.json`, `sprint.json`, `tasks.json`.
    Multi,
}

impl Protocol {
    /// Evaluates the language of a run with this document; `None` if the protocol sets none or the
    /// expression gives no text.
    #[must_use]
    pub fn resolve_language(&self, document: &Value, run: &Value) -> Option<String> {
        let value = self.language.as_ref()?.eval(&[Some(document), Some(run)]).ok()?.to_json()?;
        value.as_str().map(str::to_owned)
    }

    /// The document definition for a workflow's runs: its own, or the one of the index.
    #[must_use]
    pub fn document_for<'p>(&'p self, workflow: &'p WorkflowDefinition) -> &'p DocumentDefinition {
        workflow.document.as_ref().unwrap_or(&self.document)
    }

    /// The model that a name in this protocol stands for: the one that `models.aliases` of the index
    /// gives it, else the name itself.
    #[must_use]
    pub fn resolve_model_name<'p>(&'p self, name: &'p str) -> &'p str {
        self.model_aliases.get(name).map_or(name, String::as_str)
    }

    /// The model to use if neither the agent nor the caller names one; a name that `models.aliases`
    /// maps is replaced.
    #[must_use]
    pub fn resolve_default_model(&self) -> Option<&str> {
        self.default_model.as_deref().map(|name| self.resolve_model_name(name))
    }

    /// Finds a workflow by id. The error is a sentence that suggests the nearest id.
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
