//! Writing: what an accepted value makes of the document, as a patch within the phase's authority.
//!
//! Only an [`AcceptedValue`] makes a patch. It is tried on a copy, and the document's own contract is
//! asked about the result; until all of that holds, nothing has changed.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::phases::validate_document;
use super::run_decision::RunDecision;
use crate::contract::{Contract, load_inline_contract};
use crate::expr::Expr;
use crate::json;
use crate::patch::{Authority, JsonPointer, Patch, PatchOperation};
use crate::protocol::{ChangeOperation, DocumentChange, DocumentDefinition};
use crate::reply::{
    AcceptedValue, AdmissionVerdict, Code, RuleContext, Violation, ViolationList, format_value,
};
use crate::run::event::RunEvent;

static ANY_VALUE: LazyLock<Contract> = LazyLock::new(|| {
    load_inline_contract("id: anything\nversion: 1.0.0\nschema: true")
        .expect("our own contract loads")
});

/// The contract of what nobody described: it takes every value.
pub(super) fn any_value_contract() -> &'static Contract {
    &ANY_VALUE
}

/// A value that a contract without demands lets in.
pub(super) fn accept_any_value(contract: &Contract, value: &Value) -> AcceptedValue {
    match contract.admit_value(value, &RuleContext::default()) {
        AdmissionVerdict::Accepted(accepted) => *accepted,
        AdmissionVerdict::Refused(_) => unreachable!("a contract without demands refuses nothing"),
    }
}

/// The places that are the engine's.
pub(super) fn engine_pointers(document: &DocumentDefinition) -> Vec<String> {
    document.engine.iter().map(|place| place.at.clone()).collect()
}

/// A document with an RFC 7396 patch merged in.
pub(super) fn merge_into_copy(document: &Value, merge: &Value) -> Value {
    let mut merged = document.clone();
    match Patch::from_merge_patch(document, merge).apply(&mut merged) {
        Ok(_) => merged,
        Err(_) => merge.clone(),
    }
}

/// A patch, and the document it makes: tried, found good, and not yet true.
pub(super) struct DocumentUpdate {
    patch: Patch,
    document: Value,
    /// What the author has the log say of it: name and data.
    custom_events: Vec<(String, Option<Value>)>,
}

impl DocumentUpdate {
    /// Whether it leaves the document as it is.
    pub(super) fn is_empty(&self) -> bool {
        self.patch.ops.is_empty()
    }
}

/// What changes may read beside document, run, and what they are made from.
#[derive(Debug, Default)]
pub(super) struct ChangeScope {
    /// The child that ended.
    pub(super) child: Option<Value>,
    /// The item that all this is about.
    pub(super) item: Option<Value>,
}

impl ChangeScope {
    /// As expressions know them, in the order of their slots.
    pub(super) fn expression_roots(&self) -> impl Iterator<Item = Option<&Value>> {
        [&self.child, &self.item].into_iter().filter(|one| one.is_some()).map(Option::as_ref)
    }
}

impl RunDecision<'_> {
    /// Records a change, unless it changes nothing. It must have been tried on the document of now.
    pub(super) fn record_update(&mut self, written: DocumentUpdate) {
        if !written.patch.ops.is_empty() {
            self.emit_document_change(written.patch, written.document);
            self.visited_idle_phases.clear();
        }
        for (name, data) in written.custom_events {
            self.emit(RunEvent::Announced { name, data });
        }
    }

    /// The patch that these changes make of an accepted value, or everything against it.
    pub(super) fn build_update(
        &self,
        changes: &[DocumentChange],
        accepted: &AcceptedValue,
        beside: &ChangeScope,
        contract: Option<&Contract>,
    ) -> Result<DocumentUpdate, Vec<Violation>> {
        let run = self.run_value();
        let writes = self.current_phase().writes.clone().unwrap_or_else(|| vec![String::new()]);
        let mut roots = vec![Some(&*run), Some(accepted.value())];
        roots.extend(beside.expression_roots());
        let written = self.try_changes(changes, &roots, &writes)?;
        self.check_after_update(&written.document, &run, accepted, contract)?;
        Ok(written)
    }

    /// The patch that changes of the author's make where no reply is; `others` are the values of the names
    /// after `run`. They are bound by the engine's places and the contract of the document alone.
    pub(super) fn build_author_update(
        &self,
        changes: &[DocumentChange],
        others: &[Option<&Value>],
    ) -> Result<DocumentUpdate, Vec<Violation>> {
        let run = self.run_value();
        let roots: Vec<_> = [Some(&*run)].into_iter().chain(others.iter().copied()).collect();
        let written = self.try_changes(changes, &roots, &[String::new()])?;
        self.check_document(&written.document, &run)?;
        Ok(written)
    }

    /// The patch that an input makes of the first document, which is asked about as a whole afterwards.
    pub(super) fn build_input_update(
        &self,
        changes: &[DocumentChange],
        accepted: &AcceptedValue,
        contract: &Contract,
    ) -> Result<DocumentUpdate, Vec<Violation>> {
        let run = self.run_value();
        let written =
            self.try_changes(changes, &[Some(&run), Some(accepted.value())], &[String::new()])?;
        self.check_rules(&written.document, &run, accepted, Some(contract))?;
        Ok(written)
    }

    /// Tries changes one after the other on a copy; each reads what those before it made. `others` are
    /// the values of the names after `state`.
    fn try_changes(
        &self,
        changes: &[DocumentChange],
        others: &[Option<&Value>],
        writes: &[String],
    ) -> Result<DocumentUpdate, Vec<Violation>> {
        let authority = Authority::parse(writes, &engine_pointers(self.document_definition()))
            .expect("pointers were read when the protocol was loaded");
        let mut document = (*self.state.document).clone();
        let (mut patch, mut announced) = (Patch::default(), Vec::new());
        for change in changes {
            let made = {
                let mut roots = vec![Some(&document)];
                roots.extend(others);
                if let ChangeOperation::Emit { event, data } = &change.operation {
                    if applies(change, &roots)? {
                        let data =
                            data.as_ref().map(|data| evaluate_value(data, &roots)).transpose()?;
                        announced.push((event.clone(), data));
                    }
                    continue;
                }
                build_change_patch(change, &roots, &document, &authority)?
            };
            made.apply(&mut document)
                .map_err(|error| vec![locate_violation(change, &made, Violation::from(error))])?;
            patch.ops.extend(made.ops);
        }
        Ok(DocumentUpdate { patch, document, custom_events: announced })
    }

    /// A patch of the protocol's own, if it can be applied and leaves a document that fits.
    pub(super) fn build_patch_update(
        &self,
        patch: Patch,
    ) -> Result<DocumentUpdate, Vec<Violation>> {
        let mut document = (*self.state.document).clone();
        patch.apply(&mut document).map_err(|error| vec![Violation::from(error)])?;
        let run = self.run_value();
        self.check_document(&document, &run)?;
        Ok(DocumentUpdate { patch, document, custom_events: Vec::new() })
    }

    fn check_after_update(
        &self,
        document: &Value,
        run: &Value,
        accepted: &AcceptedValue,
        contract: Option<&Contract>,
    ) -> Result<(), Vec<Violation>> {
        self.check_rules(document, run, accepted, contract)?;
        self.check_document(document, run)
    }

    /// Whether the rules over `new` hold of the document that would result.
    fn check_rules(
        &self,
        document: &Value,
        run: &Value,
        accepted: &AcceptedValue,
        contract: Option<&Contract>,
    ) -> Result<(), Vec<Violation>> {
        let before = RuleContext { state: Some(&self.state.document), run: Some(run), new: None };
        let after = RuleContext { new: Some(document), ..before };
        let mut violations = ViolationList::default();
        for rule in contract.iter().flat_map(|contract| &contract.rules) {
            // The others were asked when the reply was let in.
            if rule.lacks_context(&before) && !rule.lacks_context(&after) {
                rule.check(accepted.value(), &after, &mut violations);
            }
        }
        if violations.count() == 0 { Ok(()) } else { Err(violations.finish()) }
    }

    fn check_document(&self, document: &Value, run: &Value) -> Result<(), Vec<Violation>> {
        let Some(contract) = &self.document_definition().contract else { return Ok(()) };
        let context =
            RuleContext { state: Some(&self.state.document), run: Some(run), new: Some(document) };
        let violations = validate_document(contract, document, &context);
        if violations.is_empty() {
            return Ok(());
        }
        let told = |violation: Violation| {
            let message = format!("in the document that would result, {}", violation.message);
            let violation = violation.with_message(message);
            // A model that is asked again looks for the place in its reply.
            match violation.hint {
                Some(_) => violation,
                None => violation.with_hint("this is a place in the document that would result"),
            }
        };
        Err(violations.into_iter().map(told).collect())
    }
}

/// One change as operations against the document of this moment.
fn build_change_patch(
    change: &DocumentChange,
    roots: &[Option<&Value>],
    document: &Value,
    authority: &Authority,
) -> Result<Patch, Vec<Violation>> {
    let reply = roots.get(2).copied().flatten().unwrap_or(&Value::Null);
    if !applies(change, roots)? {
        return Ok(Patch::default());
    }
    let value = |expr: &Option<Expr>| match expr {
        None => Ok(reply.clone()),
        Some(expr) => evaluate_value(expr, roots),
    };
    match &change.operation {
        ChangeOperation::Patch { from, writes } => {
            let place = |violation: Violation| violation.with_pointer_prefix(from);
            let given = reply.pointer(from).unwrap_or(&Value::Null);
            if given.is_null() {
                return Ok(Patch::default());
            }
            let tagged = given.is_object();
            let patch =
                if tagged { Patch::from_tagged(given, document) } else { Patch::parse(given) };
            let patch =
                patch.map_err(|faults| faults.into_iter().map(place).collect::<Vec<_>>())?;
            // The narrower bounds first: they are what the reply is to be told.
            let mut faults = Vec::new();
            if let Some(writes) = writes {
                let narrower = Authority::parse::<_, &str>(writes, &[])
                    .expect("pointers were read when the protocol was loaded");
                faults = narrower.check(&patch, document);
            }
            if faults.is_empty() {
                faults = authority.check(&patch, document);
            }
            if faults.is_empty() {
                return Ok(patch);
            }
            let back = |violation| {
                if tagged { patch.relocate_violation(given, violation) } else { violation }
            };
            Err(faults.into_iter().map(back).map(place).collect())
        }
        ChangeOperation::Merge { at, value: given } => {
            build_merge_patch(document, at, &value(given)?, authority)
        }
        ChangeOperation::Set { at, value: given } => {
            build_set_patch(document, at, value(given)?, authority)
        }
        ChangeOperation::Append { at, value: given } => {
            let value = value(given)?;
            match document.pointer(at) {
                None | Some(Value::Null) => {
                    build_set_patch(document, at, Value::Array(vec![value]), authority)
                }
                Some(Value::Array(_)) => authorize_operations(
                    vec![PatchOperation::Add {
                        path: parse_pointer(&json::child_pointer(at, "-"))?,
                        value,
                    }],
                    document,
                    authority,
                ),
                Some(other) => Err(vec![not_a_list_violation(at, other)]),
            }
        }
        ChangeOperation::Upsert { at, key, value: given } => {
            build_upsert_patch(document, at, key, into_items(value(given)?), authority)
        }
        ChangeOperation::Remove { at, key, value: given } => match key {
            None => match document.pointer(at) {
                None => Ok(Patch::default()),
                Some(_) => authorize_operations(
                    vec![PatchOperation::Remove { path: parse_pointer(at)? }],
                    document,
                    authority,
                ),
            },
            Some(key) => {
                build_remove_patch(document, at, key, &into_items(value(given)?), authority)
            }
        },
        ChangeOperation::Emit { .. } => Ok(Patch::default()),
    }
}

/// Whether a change is made at all.
fn applies(change: &DocumentChange, roots: &[Option<&Value>]) -> Result<bool, Vec<Violation>> {
    let Some(when) = &change.when else { return Ok(true) };
    when.eval_bool(roots).map_err(|error| vec![undefined_value_violation(when, &error.message)])
}

/// The value of an expression; `undefined` is none that can be kept.
fn evaluate_value(expr: &Expr, roots: &[Option<&Value>]) -> Result<Value, Vec<Violation>> {
    let value =
        expr.eval(roots).map_err(|error| vec![undefined_value_violation(expr, &error.message)])?;
    value.to_json().ok_or_else(|| vec![undefined_value_violation(expr, "it is undefined")])
}

/// Merges a value into a place; what holds it is made where it is missing.
fn build_merge_patch(
    document: &Value,
    at: &str,
    value: &Value,
    authority: &Authority,
) -> Result<Patch, Vec<Violation>> {
    match document.pointer(at) {
        Some(there @ Value::Object(_)) if value.is_object() => {
            let mut ops = Patch::try_from_merge_patch(there, value)?.ops;
            if !at.is_empty() {
                let prefix = |path: &JsonPointer| parse_pointer(&format!("{at}{}", path.as_str()));
                for op in &mut ops {
                    match op {
                        PatchOperation::Move { from, path }
                        | PatchOperation::Copy { from, path } => {
                            *from = prefix(from)?;
                            *path = prefix(path)?;
                        }
                        PatchOperation::Add { path, .. }
                        | PatchOperation::Remove { path }
                        | PatchOperation::Replace { path, .. }
                        | PatchOperation::Test { path, .. } => *path = prefix(path)?,
                    }
                }
            }
            authorize_operations(ops, document, authority)
        }
        _ => build_set_patch(document, at, merge_into_copy(&Value::Null, value), authority),
    }
}

/// Puts a value in its place; what holds it is made where it is missing.
fn build_set_patch(
    document: &Value,
    at: &str,
    value: Value,
    authority: &Authority,
) -> Result<Patch, Vec<Violation>> {
    let in_list = json::parent_pointer(at).and_then(|holder| document.pointer(holder));
    if in_list.is_some_and(Value::is_array) && document.pointer(at).is_some() {
        // To add to a list is to move the others.
        return authorize_operations(
            vec![PatchOperation::Replace { path: parse_pointer(at)?, value }],
            document,
            authority,
        );
    }
    // The place that is meant is asked for, not the missing ones around it that must be made.
    let meant =
        Patch::from_ops(vec![PatchOperation::Add { path: parse_pointer(at)?, value: Value::Null }]);
    let faults = authority.check(&meant, document);
    if !faults.is_empty() {
        return Err(point_at_targets(&meant, faults));
    }
    let (mut place, mut value) = (at, value);
    while let Some(holder) = json::parent_pointer(place) {
        if document.pointer(holder).is_some_and(|holder| !holder.is_null()) {
            break;
        }
        let segment =
            json::split_pointer(&place[holder.len()..]).next().unwrap_or_default().into_owned();
        value = Value::Object(Map::from_iter([(segment, value)]));
        place = holder;
    }
    Ok(Patch::from_ops(vec![PatchOperation::Add { path: parse_pointer(place)?, value }]))
}

fn build_upsert_patch(
    document: &Value,
    at: &str,
    key: &str,
    items: Vec<Value>,
    authority: &Authority,
) -> Result<Patch, Vec<Violation>> {
    let (list, missing) = match document.pointer(at) {
        None | Some(Value::Null) => (&[][..], true),
        Some(Value::Array(list)) => (list.as_slice(), false),
        Some(other) => return Err(vec![not_a_list_violation(at, other)]),
    };
    let mut ops = Vec::new();
    let mut fresh: Vec<Value> = Vec::new();
    for item in items {
        let Some(id) = item.get(key) else {
            let expected = format!("items with a field `{key}`, which tells them apart");
            return Err(vec![Violation::new(Code::Required, at, expected, format_value(&item))]);
        };
        match (list.iter().position(|known| known.get(key) == Some(id)), &item) {
            (Some(index), Value::Object(members)) => {
                for (name, value) in members.iter().filter(|(name, _)| *name != key) {
                    let place =
                        json::child_pointer(&json::child_pointer(at, &index.to_string()), name);
                    ops.push(PatchOperation::Add {
                        path: parse_pointer(&place)?,
                        value: value.clone(),
                    });
                }
            }
            _ => match fresh.iter_mut().find(|known| known.get(key) == Some(id)) {
                Some(known) => *known = merge_into_copy(known, &item),
                None => fresh.push(item),
            },
        }
    }
    if missing {
        return build_set_patch(document, at, Value::Array(fresh), authority);
    }
    for value in fresh {
        ops.push(PatchOperation::Add {
            path: parse_pointer(&json::child_pointer(at, "-"))?,
            value,
        });
    }
    authorize_operations(ops, document, authority)
}

fn build_remove_patch(
    document: &Value,
    at: &str,
    key: &str,
    keys: &[Value],
    authority: &Authority,
) -> Result<Patch, Vec<Violation>> {
    let list = match document.pointer(at) {
        None | Some(Value::Null) => return Ok(Patch::default()),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(vec![not_a_list_violation(at, other)]),
    };
    let gone = |item: &&Value| item.get(key).is_some_and(|id| keys.contains(id));
    let indices = list.iter().enumerate().filter(|(_, item)| gone(item)).map(|(index, _)| index);
    // From the back, so that the indices before it stay what they are.
    let mut ops = Vec::new();
    for index in indices.collect::<Vec<_>>().into_iter().rev() {
        ops.push(PatchOperation::Remove {
            path: parse_pointer(&json::child_pointer(at, &index.to_string()))?,
        });
    }
    authorize_operations(ops, document, authority)
}

fn authorize_operations(
    ops: Vec<PatchOperation>,
    document: &Value,
    authority: &Authority,
) -> Result<Patch, Vec<Violation>> {
    let patch = Patch::from_ops(ops);
    let faults = authority.check(&patch, document);
    if faults.is_empty() { Ok(patch) } else { Err(point_at_targets(&patch, faults)) }
}

/// Faults of operations that no reply wrote out: they are named by the place they would write.
fn point_at_targets(patch: &Patch, faults: Vec<Violation>) -> Vec<Violation> {
    let rename = |fault: Violation| {
        let place = find_operation(patch, &fault).map_or("", |op| op.path().as_str()).to_owned();
        let message = format!("{place}: expected {}, found a change of it", fault.expected);
        Violation { pointer: place, ..fault }.with_message(message)
    };
    faults.into_iter().map(rename).collect()
}

/// A fault of an operation, at the place in the reply where it was written.
fn locate_violation(change: &DocumentChange, made: &Patch, violation: Violation) -> Violation {
    match &change.operation {
        ChangeOperation::Patch { from, .. } => violation.with_pointer_prefix(from),
        _ => {
            let place =
                find_operation(made, &violation).map_or("", |op| op.path().as_str()).to_owned();
            violation.with_pointer(place)
        }
    }
}

/// The operation that a fault is about.
fn find_operation<'p>(patch: &'p Patch, fault: &Violation) -> Option<&'p PatchOperation> {
    let index = json::split_pointer(&fault.pointer).next()?.parse::<usize>().ok()?;
    patch.ops.get(index)
}

fn parse_pointer(text: &str) -> Result<JsonPointer, Vec<Violation>> {
    JsonPointer::parse(text).map_err(|error| {
        vec![Violation::new(Code::InvalidPatch, "", "a JSON Pointer", format!("`{text}`: {error}"))]
    })
}

fn into_items(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        other => vec![other],
    }
}

fn not_a_list_violation(at: &str, found: &Value) -> Violation {
    Violation::new(Code::PatchFailed, at, "a list in the document", format_value(found))
}

fn undefined_value_violation(expr: &Expr, message: &str) -> Violation {
    let found = format!("`{}`: {message}", expr.source().trim());
    Violation::new(Code::PatchFailed, "", "a value to write", found)
}
