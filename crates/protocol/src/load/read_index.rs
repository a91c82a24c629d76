//! Finds the index file and reads its metadata.

use std::collections::BTreeMap;

use countersign_contract::expr::Expr;
use countersign_contract::json::TextSpan;
use countersign_contract::source::{Diagnostic, SourceFile};

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::protocol_contracts::file_stem;
use super::protocol_file::{ProtocolFile, ProtocolFileKind};
use super::read_expression::read_expression;
use crate::{ProtocolBundle, StateFileLayout};

const INDEX_FILES: [&str; 3] = ["index.yaml", "index.yml", "index.json"];

/// Finds and parses the index.
pub(super) fn parse_index(
    bundle: &ProtocolBundle,
    faults: &LoadDiagnostics,
) -> Option<ProtocolFile> {
    let found = INDEX_FILES.iter().filter_map(|name| Some((*name, bundle.files.get(*name)?)));
    let found: Vec<_> = found.collect();
    let Some((name, text)) = found.first() else {
        let message = "a protocol needs an `index.yaml`, and this folder has none";
        let near = bundle.files.keys().find(|path| file_stem(path).eq_ignore_ascii_case("index"));
        let hint = near.map(|path| format!("there is a file `{path}`"));
        faults.push(folder_diagnostic("missing_index", message).with_hint(hint));
        return None;
    };
    for (other, text) in &found[1..] {
        let source = SourceFile::new(*other, text.as_str()).into();
        let message = format!("`{name}` is already the index; remove one of the two");
        faults.push(Diagnostic::new("duplicate_id", message, &source, TextSpan::default()));
    }
    ProtocolFile::parse(ProtocolFileKind::Index, name, text, faults)
}

/// Creates a diagnostic for the folder as a whole.
pub(super) fn folder_diagnostic(code: &str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, message, &SourceFile::new(INDEX_FILES[0], "").into(), TextSpan::default())
}

/// The metadata of an index.
#[derive(Debug, Default)]
pub(super) struct IndexMetadata {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) description: String,
    pub(super) default_workflow: String,
    pub(super) default_model: Option<String>,
    pub(super) model_aliases: BTreeMap<String, String>,
}

/// Reads name, version and the other metadata.
pub(super) fn read_metadata(index: &ProtocolFile, faults: &LoadDiagnostics) -> IndexMetadata {
    let root = index.root();
    for key in ["name", "default_workflow"] {
        if let Some(member) = root.get(key).filter(|it| it.text().is_some_and(is_blank)) {
            faults.push(member.diagnose(
                "min_length",
                format!("a protocol needs a `{key}`, and this one is blank"),
            ));
        }
    }
    if let Some(version) =
        root.get("version").filter(|it| it.text().is_some_and(|it| !is_version(it)))
    {
        let message = format!("`{}` is not a version", version.text().unwrap_or_default());
        let hint = "write three numbers joined by dots: `1.0.0`".to_owned();
        faults.push(version.diagnose("invalid_version", message).with_hint(Some(hint)));
    }
    let text = |key: &str| root.string_at(key).unwrap_or_default();
    IndexMetadata {
        name: text("name"),
        version: text("version"),
        description: text("description"),
        default_workflow: text("default_workflow"),
        default_model: root.get("models").and_then(|models| models.string_at("default")),
        model_aliases: read_model_aliases(&root),
    }
}

/// Reads what the names of models in this protocol stand for.
fn read_model_aliases(root: &FileNode<'_>) -> BTreeMap<String, String> {
    let aliases = root.get("models").and_then(|models| models.get("aliases"));
    let entries = aliases.iter().flat_map(FileNode::entries);
    entries.filter_map(|(name, model)| Some((name.to_owned(), model.text()?.to_owned()))).collect()
}

/// Reads the expression that gives the language of a run.
pub(super) fn read_language(
    index: Option<&ProtocolFile>,
    faults: &LoadDiagnostics,
) -> Option<Expr> {
    read_expression(&index?.valid_member("language")?, &crate::EXPRESSION_NAMES[..2], faults)
}

/// Reads how the document is laid out in state files.
pub(super) fn read_state_layout(index: Option<&ProtocolFile>) -> StateFileLayout {
    let format = index.and_then(|index| index.root().get("state")?.get("format"));
    match format.as_ref().and_then(FileNode::text) {
        Some("multi") => StateFileLayout::Multi,
        _ => StateFileLayout::Single,
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Whether the text is `major.minor.patch`, with an optional pre-release or build part.
fn is_version(text: &str) -> bool {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = core.split('.').collect();
    let plain = |part: &&str| part.parse::<u64>().is_ok_and(|number| number.to_string() == **part);
    parts.len() == 3 && parts.iter().all(plain) && !text.ends_with(['-', '+'])
}
