//! What the index says about the runs of one workflow: their title, document, input and output.
//!
//! These keys are in the index, because the specification's schema allows no further keys at the
//! top of a workflow file, and leaves the index open.

use countersign_contract::json;
use countersign_contract::source::{Diagnostic, ParsedSourceFile};
use serde_json::Value;

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::protocol_file::ProtocolFile;
use super::symbol_table::{SymbolTable, format_known_names};
use super::unknown_keys::key_span;
use crate::FileOrigin;

/// Length of a workflow id, in bytes, up to which a hint repeats it.
const MAX_SHOWN_ID: usize = 60;
const SETTING_KEYS: [&str; 4] = ["title", "document", "input", "output"];

/// The section of the index for one workflow; empty if the index has none.
#[derive(Debug, Clone)]
pub(super) struct WorkflowSettings<'f> {
    section: Option<(&'f ProtocolFile, FileNode<'f>)>,
}

impl<'f> WorkflowSettings<'f> {
    /// Finds the section of a workflow.
    pub(super) fn find(index: Option<&'f ProtocolFile>, id: &str) -> Self {
        let section = index.and_then(|index| {
            let section = index.root().get("workflows")?.get(id)?;
            Some((index, section))
        });
        Self { section }
    }

    /// The member with this key, if it satisfies its schema.
    pub(super) fn valid_member(&self, key: &str) -> Option<FileNode<'f>> {
        let (index, section) = self.section.as_ref()?;
        section.get(key).filter(|member| index.is_valid(member))
    }

    /// The location of the section; `None` if there is none.
    pub(super) fn origin(&self) -> Option<FileOrigin> {
        self.section.as_ref().map(|(_, section)| section.origin())
    }
}

/// Reports workflows that the index names and the folder does not have: the default one, and those
/// of `workflows`.
pub(super) fn check_workflow_names(
    index: Option<&ProtocolFile>,
    workflows: &SymbolTable<()>,
    faults: &LoadDiagnostics,
) {
    if let Some(default) = index.and_then(|index| index.valid_member("default_workflow")) {
        workflows.resolve_name(&default, faults);
    }
    if workflows.unread {
        return;
    }
    let Some(sections) = index.and_then(|index| index.root().get("workflows")) else { return };
    for (id, section) in sections.entries() {
        if workflows.entries.contains_key(id) || workflows.broken.contains(id) {
            continue;
        }
        faults.push_with("unknown_workflow", &section, || {
            let names: Vec<&str> =
                workflows.entries.keys().chain(&workflows.broken).map(String::as_str).collect();
            let hint = match countersign_contract::find_similar_name(id, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format_known_names(&names),
            };
            let fault =
                sections.diagnose_key("unknown_workflow", id, format!("no workflow `{id}`"));
            fault.with_hint(Some(hint))
        });
    }
}

/// Reports keys that belong to the index and are in a workflow file, and removes them.
pub(super) fn remove_settings(tree: &mut ParsedSourceFile, faults: &LoadDiagnostics) {
    let id = tree.value["id"].as_str().filter(|id| id.len() <= MAX_SHOWN_ID).unwrap_or("ID");
    let id = id.to_owned();
    for key in SETTING_KEYS {
        let Value::Object(members) = &mut tree.value else { return };
        if members.remove(key).is_none() {
            continue;
        }
        let span = key_span(tree, &json::child_pointer("", key));
        let message = format!("`{key}` of a workflow is written in the index");
        let hint = format!(
            "move it to index.yaml: `workflows: {{ {id}: {{ {key}: … }} }}`; workflow files have only the keys of the specification"
        );
        let fault = Diagnostic::new("misplaced_key", message, &tree.source, span);
        faults.push(fault.with_hint(Some(hint)));
    }
}
