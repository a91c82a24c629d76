//! A version of a log, as a reader of snapshots wants it, and what must hold of every one.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use countersign_contract::contract::ContractRegistry;
use countersign_contract::reply::{AdmissionVerdict, RuleContext};
use countersign_protocol::Protocol;
use countersign_run::{InputKind, RunEvent, RunLogEntry, RunState, build_run_value, fold_entry};
use countersign_shipped_contracts::load_shipped_contracts;
use serde_json::Value;

/// Folds a version into the state, and tells it. The document it leaves fits its contract.
pub(crate) fn version(
    protocol: &Protocol,
    state: &mut RunState,
    entry: &RunLogEntry,
) -> (String, Vec<RunEvent>) {
    let events = fold_entry(state, &entry.body).unwrap();
    let mut text = String::new();
    for event in &events {
        match event {
            RunEvent::InputReceived { input } => {
                let _ = writeln!(text, "> {}", shown(&input.payload));
            }
            RunEvent::EngineFieldsUpdated { fields } => {
                let moment =
                    |value: &Value| *value == state.version || *value == entry.time.to_string();
                for (at, value) in fields.iter().filter(|(_, value)| !moment(value)) {
                    let _ = writeln!(text, "  stamped {at} {}", short(value));
                }
            }
            RunEvent::ReplyRefused { attempt, violations, .. } => {
                let _ = writeln!(text, "  reply_refused, try {attempt}");
                for one in violations {
                    let _ = writeln!(text, "    {} {}", one.code, one.message);
                }
            }
            other => {
                let mut value = serde_json::to_value(other).unwrap();
                let members = value.as_object_mut().unwrap();
                let kind = members.remove("event").unwrap();
                members.remove("protocol");
                let _ = writeln!(text, "  {} {value}", kind.as_str().unwrap());
            }
        }
    }
    let _ = writeln!(text, "  = {} in {}", state.status().as_str(), state.phase);
    hold(protocol, state, &text);
    (text, events)
}

/// A value of the engine, which is a table of the protocol where it is long: its file shows that better.
fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.len() > LONG { format!("(a table of {} bytes)", text.len()) } else { text }
}

/// The document as it is shown at the end, without the long tables that the engine keeps in it.
pub(crate) fn last(protocol: &Protocol, state: &RunState) -> Value {
    let mut document = (*state.document).clone();
    for field in &protocol.document_for(&protocol.workflows[&state.workflow]).engine {
        if let Some(value) = document.pointer_mut(&field.pointer)
            && value.to_string().len() > LONG
        {
            *value = Value::String(short(value));
        }
    }
    document
}

/// From so many bytes on a value of the engine is not told in full.
const LONG: usize = 200;

/// What a document of the first contract is of the second as well: what it keeps besides is the protocol's
/// own.
const ALSO: [(&str, &str); 1] = [("answer_state", "chat_state")];

/// The document fits its contract, rules and all, and the shipped contract that it goes beyond.
fn hold(protocol: &Protocol, state: &RunState, text: &str) {
    let workflow = &protocol.workflows[&state.workflow];
    let Some(contract) = &protocol.document_for(workflow).contract else { return };
    let document = &*state.document;
    let run = build_run_value(state);
    let context = RuleContext { state: Some(document), run: Some(&run), new: Some(document) };
    let shipped = ALSO.iter().find(|(own, _)| *own == contract.id);
    let shipped = shipped.map(|(_, id)| Arc::clone(SHIPPED.find(id).unwrap()));
    for contract in [Some(contract), shipped.as_ref()].into_iter().flatten() {
        if let AdmissionVerdict::Refused(violations) = contract.admit_value(document, &context) {
            panic!(
                "version {}: the document breaks `{}`: {violations:#?}\n{text}",
                state.version, contract.id
            );
        }
    }
}

static SHIPPED: LazyLock<ContractRegistry> = LazyLock::new(load_shipped_contracts);

/// An input as a reader needs it: what came, without what is known anyway.
fn shown(what: &InputKind) -> String {
    let mut value = serde_json::to_value(what).unwrap();
    let members = value.as_object_mut().unwrap();
    let kind = members.remove("kind").unwrap();
    for known in ["action", "protocol", "finish", "usage"] {
        if members.get(known).is_some_and(|value| value != "length") {
            members.remove(known);
        }
    }
    let rest = if members.is_empty() { String::new() } else { format!(" {value}") };
    format!("{}{rest}", kind.as_str().unwrap())
}
