//! Reads the document definition of the protocol or of one workflow: contract, initial value and
//! engine-owned fields.

use std::sync::Arc;

use countersign_contract::contract::Contract;
use countersign_contract::expr::Expr;
use countersign_contract::find_similar_name;
use countersign_contract::json;
use countersign_contract::reply::ViolationCode;
use countersign_contract::source::{ParsedSourceFile, SourceFile};
use serde_json::{Map, Value, json};

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::protocol_contracts::ProtocolContracts;
use super::read_expression::read_expression;
use super::symbol_table::format_known_names;
use super::{confined_path, read_pointer};
use crate::{
    DocumentDefinition, ENGINE_FIELD_NAMES, EXPRESSION_NAMES, EngineField, ProtocolBundle,
};

/// Contract of a document that names none. `DEFAULT_ENGINE_FIELDS` are its engine-owned fields.
const DEFAULT_CONTRACT: &str = "state";
const DEFAULT_ENGINE_FIELDS: [(&str, &str); 4] = [
    ("workflow", "/workflow"),
    ("phase", "/phase"),
    ("status", "/status"),
    ("updated_at", "/updated_at"),
];

/// Reads everything except the initial value from a `document` section.
pub(super) fn read_contract_and_engine(
    section: Option<FileNode<'_>>,
    contracts: &ProtocolContracts,
    faults: &LoadDiagnostics,
) -> (Option<Arc<Contract>>, Vec<EngineField>) {
    let named = section.as_ref().and_then(|section| section.get("contract"));
    let usual = named.as_ref().is_none_or(|named| named.text() == Some(DEFAULT_CONTRACT));
    let contract = match &named {
        Some(named) => contracts.resolve_name(named, faults),
        None => contracts.get(DEFAULT_CONTRACT),
    };
    let engine = match section.and_then(|section| section.get("engine")) {
        Some(engine) => read_engine_fields(&engine, faults),
        None if usual => DEFAULT_ENGINE_FIELDS
            .iter()
            .map(|(name, at)| builtin_engine_field(name, (*at).to_owned()))
            .collect(),
        None => Vec::new(),
    };
    (contract, engine)
}

fn builtin_engine_field(name: &str, at: String) -> EngineField {
    let value = Expr::compile(&format!("run.{name}"), &EXPRESSION_NAMES[..2]);
    let value = value.expect("the name of a run field is an expression");
    EngineField { name: name.to_owned(), pointer: at, value }
}

fn read_engine_fields(section: &FileNode<'_>, faults: &LoadDiagnostics) -> Vec<EngineField> {
    let mut engine: Vec<EngineField> = Vec::new();
    for (name, member) in section.entries() {
        let Some(found) = read_engine_field(name, &member, faults) else { continue };
        if let Some(other) = read_pointer::find_overlapping_engine_field(&found.pointer, &engine) {
            let message =
                format!("`{}` and `{}` cannot use overlapping locations", other.name, found.name);
            faults.push(member.diagnose("engine_field", message));
        }
        engine.push(found);
    }
    engine
}

fn read_engine_field(
    name: &str,
    member: &FileNode<'_>,
    faults: &LoadDiagnostics,
) -> Option<EngineField> {
    let at = if member.text().is_some() { member.clone() } else { member.get("at")? };
    let pointer = read_pointer::read_pointer(&at, faults)?;
    if pointer.is_empty() {
        let message =
            "an engine-owned field must be inside the document; it cannot be the whole document";
        faults.push(at.diagnose("engine_field", message));
        return None;
    }
    if let Some(value) = member.get("value") {
        let value = read_expression(&value, &EXPRESSION_NAMES[..2], faults)?;
        return Some(EngineField { name: name.to_owned(), pointer, value });
    }
    if !ENGINE_FIELD_NAMES.contains(&name) {
        let hint = match find_similar_name(name, ENGINE_FIELD_NAMES) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!(
                    "{}; or write `{{ at: {pointer}, value: EXPRESSION }}`",
                    format_known_names(&ENGINE_FIELD_NAMES)
                )
            }
        };
        let fault = member.diagnose("unknown_engine_value", format!("a run has no field `{name}`"));
        faults.push(fault.with_hint(Some(hint)));
        return None;
    }
    Some(builtin_engine_field(name, pointer))
}

/// Reads the initial value and validates it against the contract.
pub(super) fn read_document(
    section: Option<FileNode<'_>>,
    bundle: &ProtocolBundle,
    (contract, engine): (Option<Arc<Contract>>, Vec<EngineField>),
    run: &Value,
    faults: &LoadDiagnostics,
) -> DocumentDefinition {
    let said = section.and_then(|section| section.get("initial"));
    let apart =
        said.as_ref().and_then(|said| parse_initial_file(said, bundle, faults)).map(Arc::new);
    let node = match (&apart, said) {
        (Some(apart), _) => Some(FileNode::root(apart)),
        (None, Some(said)) if said.text().is_none() => Some(said),
        (None, _) => None,
    };
    let initial = node.as_ref().map_or_else(|| json!({}), |node| node.value.clone());
    let mut document = DocumentDefinition { contract, initial, engine };
    if let Some(contract) = &document.contract {
        contract.schema.fill_defaults(&mut document.initial);
        if let Some(node) = node {
            check_initial_value(&document, contract, run, &node, faults);
        }
    }
    document
}

/// Reads an initial value from its own file.
fn parse_initial_file(
    said: &FileNode<'_>,
    bundle: &ProtocolBundle,
    faults: &LoadDiagnostics,
) -> Option<ParsedSourceFile> {
    let path = said.text()?;
    let text = confined_path::confine_path("", path).map_err(|reason| format!("`{path}` {reason}"));
    let text = text.and_then(|path| match bundle.files.get(&path) {
        Some(text) => Ok((path, text)),
        None => Err(format!("there is no file `{path}` in the protocol")),
    });
    let tree = match text {
        Ok((path, text)) => ParsedSourceFile::parse(SourceFile::new(path, text)),
        Err(reason) => Err(said.diagnose("unreadable_file", reason)),
    };
    let tree = tree.map_err(|fault| faults.push(fault)).ok()?;
    if !tree.value.is_object() {
        let message = "the initial document must be an object";
        faults.push(tree.diagnose("type", "", message));
        return None;
    }
    Some(tree)
}

/// Validates the initial value, except for what an input may still add and what the engine writes.
/// Those are checked when a run starts.
fn check_initial_value(
    document: &DocumentDefinition,
    contract: &Contract,
    run: &Value,
    node: &FileNode<'_>,
    faults: &LoadDiagnostics,
) {
    let mut value = document.initial.clone();
    for own in &document.engine {
        if let Ok(filled) = own.value.eval(&[Some(&document.initial), Some(run)])
            && let Some(filled) = filled.to_json()
        {
            set_at_pointer(&mut value, &own.pointer, filled);
        }
    }
    for violation in contract.schema.list_violations(&value) {
        let own = read_pointer::find_overlapping_engine_field(&violation.pointer, &document.engine);
        let in_list =
            json::split_pointer(&violation.pointer).any(|name| name.parse::<usize>().is_ok());
        let left = own.is_some() || (violation.code == ViolationCode::Required && !in_list);
        if !left {
            let said = violation.message.replacen("the reply: ", "the document: ", 1);
            let pointer = format!("{}{}", node.pointer, violation.pointer);
            let message =
                format!("the initial document breaks the contract `{}`: {said}", contract.id);
            let fault = node.tree.diagnose("invalid_initial", &pointer, message);
            faults.push(fault.with_hint(violation.hint));
        }
    }
}

/// Sets a value and creates missing parent objects; does nothing if a parent is not an object.
fn set_at_pointer(value: &mut Value, pointer: &str, new: Value) {
    let mut at = value;
    for name in json::split_pointer(pointer) {
        let Value::Object(members) = at else { return };
        at = members.entry(name.into_owned()).or_insert_with(|| Value::Object(Map::new()));
    }
    *at = new;
}
