//! The document of runs, of all or of one workflow: its contract, its first value, the engine's places.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::contracts::Contracts;
use super::expression::expression;
use super::faults::Faults;
use super::file::File;
use super::known::known;
use super::member::Member;
use super::{path, place};
use crate::contract::Contract;
use crate::expr::Expr;
use crate::json;
use crate::nearest::nearest;
use crate::protocol::{Bundle, Document, ENGINE_NAMES, EnginePlace, NAMES};
use crate::reply::Code;
use crate::spec::{Source, Tree};

/// The contract of a document nobody gave one, and the places the engine keeps in it.
const USUAL: &str = "state";
const USUAL_PLACES: [(&str, &str); 4] = [
    ("workflow", "/workflow"),
    ("phase", "/phase"),
    ("status", "/status"),
    ("updated_at", "/updated_at"),
];

/// Reads everything but the first value.
pub(super) fn contract_and_engine(
    file: Option<&File>,
    contracts: &Contracts,
    faults: &Faults,
) -> (Option<Arc<Contract>>, Vec<EnginePlace>) {
    let section = file.and_then(|file| file.sound("document"));
    let named = section.as_ref().and_then(|section| section.get("contract"));
    let usual = named.as_ref().is_none_or(|named| named.text() == Some(USUAL));
    let contract = match &named {
        Some(named) => contracts.find(named, faults),
        None => contracts.get(USUAL),
    };
    let engine = match section.and_then(|section| section.get("engine")) {
        Some(engine) => places(&engine, faults),
        None if usual => {
            USUAL_PLACES.iter().map(|(name, at)| own(name, (*at).to_owned())).collect()
        }
        None => Vec::new(),
    };
    (contract, engine)
}

fn own(name: &str, at: String) -> EnginePlace {
    let value = Expr::compile(&format!("run.{name}"), &NAMES[..2]);
    let value = value.expect("a member of the run is an expression");
    EnginePlace { name: name.to_owned(), at, value }
}

fn places(section: &Member<'_>, faults: &Faults) -> Vec<EnginePlace> {
    let mut engine: Vec<EnginePlace> = Vec::new();
    for (name, member) in section.entries() {
        let Some(found) = engine_place(name, &member, faults) else { continue };
        if let Some(other) = place::engine_at(&found.at, &engine) {
            let message =
                format!("`{}` and `{}` cannot stand in one place", other.name, found.name);
            faults.push(member.fault("engine_place", message));
        }
        engine.push(found);
    }
    engine
}

fn engine_place(name: &str, member: &Member<'_>, faults: &Faults) -> Option<EnginePlace> {
    let at = if member.text().is_some() { member.clone() } else { member.get("at")? };
    let pointer = place::pointer(&at, faults)?;
    if pointer.is_empty() {
        let message = "the engine keeps values in places of the document, not in its stead";
        faults.push(at.fault("engine_place", message));
        return None;
    }
    if let Some(value) = member.get("value") {
        let value = expression(&value, &NAMES[..2], faults)?;
        return Some(EnginePlace { name: name.to_owned(), at: pointer, value });
    }
    if !ENGINE_NAMES.contains(&name) {
        let hint = match nearest(name, ENGINE_NAMES) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!("{}; or say `{{ at: {pointer}, value: EXPRESSION }}`", known(&ENGINE_NAMES))
            }
        };
        let fault = member.fault("unknown_engine_value", format!("a run has no `{name}`"));
        faults.push(fault.hinting(Some(hint)));
        return None;
    }
    Some(own(name, pointer))
}

/// Reads the first value, and holds what it says against the contract.
pub(super) fn document(
    file: Option<&File>,
    bundle: &Bundle,
    (contract, engine): (Option<Arc<Contract>>, Vec<EnginePlace>),
    run: &Value,
    faults: &Faults,
) -> Document {
    let section = file.and_then(|file| file.sound("document"));
    let said = section.and_then(|section| section.get("initial"));
    let apart = said.as_ref().and_then(|said| read(said, bundle, faults)).map(Arc::new);
    let place = match (&apart, said) {
        (Some(apart), _) => Some(Member::root(apart)),
        (None, Some(said)) if said.text().is_none() => Some(said),
        (None, _) => None,
    };
    let initial = place.as_ref().map_or_else(|| json!({}), |place| place.value.clone());
    let mut document = Document { contract, initial, engine };
    if let Some(contract) = &document.contract {
        contract.schema.fill(&mut document.initial);
        if let Some(place) = place {
            look(&document, contract, run, &place, faults);
        }
    }
    document
}

/// A first value that stands in a file of its own.
fn read(said: &Member<'_>, bundle: &Bundle, faults: &Faults) -> Option<Tree> {
    let path = said.text()?;
    let text = path::confined("", path).map_err(|reason| format!("`{path}` {reason}"));
    let text = text.and_then(|path| match bundle.files.get(&path) {
        Some(text) => Ok((path, text)),
        None => Err(format!("there is no file `{path}` in the protocol")),
    });
    let tree = match text {
        Ok((path, text)) => Tree::parse(Source::new(path, text)),
        Err(reason) => Err(said.fault("unreadable_file", reason)),
    };
    let tree = tree.map_err(|fault| faults.push(fault)).ok()?;
    if !tree.value.is_object() {
        let message = "the first value of a document is an object";
        faults.push(tree.fault("type", "", message));
        return None;
    }
    Some(tree)
}

/// What an input may still bring, and what the engine writes, is left to the start of a run.
fn look(
    document: &Document,
    contract: &Contract,
    run: &Value,
    place: &Member<'_>,
    faults: &Faults,
) {
    let mut value = document.initial.clone();
    for own in &document.engine {
        if let Ok(filled) = own.value.eval(&[Some(&document.initial), Some(run)])
            && let Some(filled) = filled.to_json()
        {
            put(&mut value, &own.at, filled);
        }
    }
    for violation in contract.schema.violations(&value) {
        let own = place::engine_at(&violation.pointer, &document.engine);
        let in_list = json::split(&violation.pointer).any(|name| name.parse::<usize>().is_ok());
        let left = own.is_some() || (violation.code == Code::Required && !in_list);
        if !left {
            let said = violation.message.replacen("the reply: ", "the document: ", 1);
            let pointer = format!("{}{}", place.pointer, violation.pointer);
            let message = format!("no document of `{}` begins so: {said}", contract.id);
            let fault = place.tree.fault("invalid_initial", &pointer, message);
            faults.push(fault.hinting(violation.hint));
        }
    }
}

/// Puts a value into tables that are made where they are missing; elsewhere nothing happens.
fn put(value: &mut Value, pointer: &str, new: Value) {
    let mut at = value;
    for name in json::split(pointer) {
        let Value::Object(members) = at else { return };
        at = members.entry(name.into_owned()).or_insert_with(|| Value::Object(Map::new()));
    }
    *at = new;
}
