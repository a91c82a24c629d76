//! Turns an accepted value into a patch of the document, within the authority of the phase.
//!
//! Only an [`AcceptedValue`], the protocol's own changes or a hook's patch produce an update. An
//! update is computed on a copy, and the contract of the document validates the result. The
//! document changes only when `record_update` records the update.

use std::sync::LazyLock;

use countersign_contract::contract::{Contract, load_inline_contract};
use countersign_contract::expr::Expr;
use countersign_contract::json;
use countersign_contract::patch::{Authority, JsonPointer, Patch, PatchOperation};
use countersign_contract::reply::{
    AcceptedValue, AdmissionVerdict, RuleContext, Violation, ViolationCode, ViolationList,
    format_value,
};
use countersign_protocol::{ChangeOperation, DocumentChange, DocumentDefinition, PhaseWork};
use serde_json::{Map, Value};

use super::phases::validate_document;
use super::run_decision::RunDecision;
use crate::event::RunEvent;

static ANY_VALUE: LazyLock<Contract> = LazyLock::new(|| {
    load_inline_contract("id: anything\nversion: 1.0.0\nschema: true")
        .expect("the built-in contract loads")
});

/// The contract for values without a declared contract. It accepts every value.
pub(super) fn any_value_contract() -> &'static Contract {
    &ANY_VALUE
}

/// Admits a value under a contract that accepts every value.
pub(super) fn accept_any_value(contract: &Contract, value: &Value) -> AcceptedValue {
    match contract.admit_value(value, &RuleContext::default()) {
        AdmissionVerdict::Accepted(accepted) => *accepted,
        AdmissionVerdict::Refused(_) => {
            unreachable!("a contract without requirements accepts every value")
        }
    }
}

/// JSON Pointers of the engine-owned fields of a document.
pub(super) fn engine_pointers(document: &DocumentDefinition) -> Vec<String> {
    document.engine.iter().map(|field| field.pointer.clone()).collect()
}

/// Returns a copy of a document with an RFC 7396 merge patch applied.
pub(super) fn merge_into_copy(document: &Value, merge: &Value) -> Value {
    let mut merged = document.clone();
    match Patch::from_merge_patch(document, merge).apply(&mut merged) {
        Ok(_) => merged,
        Err(_) => merge.clone(),
    }
}

/// A validated patch and the document that results from it, not yet recorded.
pub(super) struct DocumentUpdate {
    patch: Patch,
    document: Value,
    /// Events that the protocol author emits with the update: name and data.
    custom_events: Vec<(String, Option<Value>)>,
}

impl DocumentUpdate {
    /// Whether the update leaves the document unchanged.
    pub(super) fn is_empty(&self) -> bool {
        self.patch.ops.is_empty()
    }
}

/// Values that expressions in changes can read in addition to the document, the run and the
/// accepted value.
#[derive(Debug, Default)]
pub(super) struct ChangeScope {
    /// Id and status of the child that ended; `None` outside child workflows.
    pub(super) child: Option<Value>,
    /// The item of a `for_each` phase or question; `None` without `for_each`.
    pub(super) item: Option<Value>,
}

impl ChangeScope {
    /// The values that are present, in the order of their expression slots.
    pub(super) fn expression_roots(&self) -> impl Iterator<Item = Option<&Value>> {
        [&self.child, &self.item].into_iter().filter(|one| one.is_some()).map(Option::as_ref)
    }
}

impl RunDecision<'_> {
    /// Records an update and its custom events. An update without operations records no change. The
    /// update must have been built from the current document.
    pub(super) fn record_update(&mut self, update: DocumentUpdate) {
        if !update.patch.ops.is_empty() {
            self.emit_document_change(update.patch, update.document);
            self.visited_idle_phases.clear();
        }
        for (name, data) in update.custom_events {
            self.emit(RunEvent::EventEmitted { name, data });
        }
    }

    /// Builds the update that these changes make from an accepted value, or returns all violations.
    pub(super) fn build_update(
        &self,
        changes: &[DocumentChange],
        accepted: &AcceptedValue,
        scope: &ChangeScope,
        contract: Option<&Contract>,
    ) -> Result<DocumentUpdate, Vec<Violation>> {
        tracing::trace!(changes = changes.len(), "building the patch");
        let run = self.run_value();
        let writes = self.current_phase().writes.clone().unwrap_or_else(|| vec![String::new()]);
        let mut roots = vec![Some(&*run), Some(accepted.value())];
        roots.extend(scope.expression_roots());
        let update = self.try_changes(changes, &roots, &writes)?;
        self.check_after_update(&update.document, &run, accepted, contract)?;
        Ok(update)
    }

    /// Builds the update of changes that the protocol author declares without a reply. `others` are
    /// the values of the names after `run`. Only the engine-owned fields and the contract of the
    /// document limit these changes.
    pub(super) fn build_author_update(
        &self,
        changes: &[DocumentChange],
        others: &[Option<&Value>],
    ) -> Result<DocumentUpdate, Vec<Violation>> {
        let run = self.run_value();
        let roots: Vec<_> = [Some(&*run)].into_iter().chain(others.iter().copied()).collect();
        let update = self.try_changes(changes, &roots, &[String::new()])?;
        self.check_document(&update.document, &run)?;
        Ok(update)
    }

    /// Builds the update that the input of a new run makes to its first document. The caller
    /// validates the whole document afterwards.
    pub(super) fn build_input_update(
        &self,
        changes: &[DocumentChange],
        accepted: &AcceptedValue,
        contract: &Contract,
    ) -> Result<DocumentUpdate, Vec<Violation>> {
        let run = self.run_value();
        let update =
            self.try_changes(changes, &[Some(&run), Some(accepted.value())], &[String::new()])?;
        self.check_rules(&update.document, &run, accepted, Some(contract))?;
        Ok(update)
    }

    /// Applies changes one after the other to a copy of the document; each one reads the result of
    /// those before it. `others` are the values of the names after `state`.
    fn try_changes(
        &self,
        changes: &[DocumentChange],
        others: &[Option<&Value>],
        writes: &[String],
    ) -> Result<DocumentUpdate, Vec<Violation>> {
        let authority = Authority::parse(writes, &engine_pointers(self.document_definition()))
            .expect("pointers were parsed when the protocol was loaded");
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

    /// Builds an update from a patch that a hook returned; the document's contract must accept the
    /// result.
    pub(super) fn build_patch_update(
        &self,
        patch: Patch,
    ) -> Result<DocumentUpdate, Vec<Violation>> {
        let mut document = (*self.state.document).clone();
        patch.apply(&mut document).map_err(|error| vec![Violation::from(error)])?;
        let run = self.run_value();
        self.check_document(&document, &run)?;
        self.check_part_contracts(&document)?;
        Ok(DocumentUpdate { patch, document, custom_events: Vec::new() })
    }

    /// Builds the update of a patch that a person submits. The contract of each part that it changes
    /// must accept the result, as it must accept the reply of a model.
    pub(super) fn build_manual_update(
        &self,
        changes: &[DocumentChange],
        accepted: &AcceptedValue,
    ) -> Result<DocumentUpdate, Vec<Violation>> {
        let update = self.build_update(changes, accepted, &ChangeScope::default(), None)?;
        self.check_part_contracts(&update.document)?;
        Ok(update)
    }

    /// Checks the parts of the document that are whole replies against the contracts of these
    /// replies. Parts that stay as they are, or are removed, are not checked.
    fn check_part_contracts(&self, document: &Value) -> Result<(), Vec<Violation>> {
        for phase in &self.workflow.phases {
            let PhaseWork::Agent(work) = &phase.work else { continue };
            for change in work.apply.iter().filter(|change| change.when.is_none()) {
                let ChangeOperation::Set { pointer, value: None } = &change.operation else {
                    continue;
                };
                let (before, after) =
                    (self.state.document.pointer(pointer), document.pointer(pointer));
                if let Some(after) = after.filter(|after| before != Some(*after)) {
                    self.admit_value(&work.contract, after).map_err(|violations| {
                        let prefix = |one: Violation| one.with_pointer_prefix(pointer);
                        violations.into_iter().map(prefix).collect::<Vec<_>>()
                    })?;
                }
            }
        }
        Ok(())
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

    /// Checks the rules that read `new` against the document that would result.
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
            // The other rules were checked when the reply was admitted.
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
        let describe = |violation: Violation| {
            let message = format!("in the resulting document, {}", violation.message);
            let violation = violation.with_message(message);
            // Without a hint, a model on retry would look for the pointer in its reply.
            match violation.hint {
                Some(_) => violation,
                None => violation
                    .with_hint("this pointer is in the resulting document, not in the reply"),
            }
        };
        Err(violations.into_iter().map(describe).collect())
    }
}

/// Builds the operations of one change against the current copy of the document.
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
            let locate = |violation: Violation| violation.with_pointer_prefix(from);
            let patch_value = reply.pointer(from).unwrap_or(&Value::Null);
            if patch_value.is_null() {
                return Ok(Patch::default());
            }
            let tagged = patch_value.is_object();
            let patch = if tagged {
                Patch::from_tagged(patch_value, document)
            } else {
                Patch::parse(patch_value)
            };
            let patch =
                patch.map_err(|faults| faults.into_iter().map(locate).collect::<Vec<_>>())?;
            // Check the narrower bounds first, so that the model learns about those.
            let mut faults = Vec::new();
            if let Some(writes) = writes {
                let narrower = Authority::parse::<_, &str>(writes, &[])
                    .expect("pointers were parsed when the protocol was loaded");
                faults = narrower.check(&patch, document);
            }
            if faults.is_empty() {
                faults = authority.check(&patch, document);
            }
            if faults.is_empty() {
                return Ok(patch);
            }
            let back = |violation| {
                if tagged { patch.relocate_violation(patch_value, violation) } else { violation }
            };
            Err(faults.into_iter().map(back).map(locate).collect())
        }
        ChangeOperation::Merge { pointer: at, value: expr } => {
            build_merge_patch(document, at, &value(expr)?, authority)
        }
        ChangeOperation::Set { pointer: at, value: expr } => {
            build_set_patch(document, at, value(expr)?, authority)
        }
        ChangeOperation::Append { pointer: at, value: expr } => {
            let value = value(expr)?;
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
        ChangeOperation::Upsert { pointer: at, key, value: expr } => {
            build_upsert_patch(document, at, key, into_items(value(expr)?), authority)
        }
        ChangeOperation::Remove { pointer: at, key, value: expr } => match key {
            None => match document.pointer(at) {
                None => Ok(Patch::default()),
                Some(_) => authorize_operations(
                    vec![PatchOperation::Remove { path: parse_pointer(at)? }],
                    document,
                    authority,
                ),
            },
            Some(key) => {
                build_remove_patch(document, at, key, &into_items(value(expr)?), authority)
            }
        },
        ChangeOperation::Emit { .. } => Ok(Patch::default()),
    }
}

/// Whether the `when` condition of a change holds; true without a condition.
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

/// Merges a value at a pointer, and creates missing parents.
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

/// Sets the value at a pointer, and creates missing parents.
fn build_set_patch(
    document: &Value,
    at: &str,
    value: Value,
    authority: &Authority,
) -> Result<Patch, Vec<Violation>> {
    let in_list = json::parent_pointer(at).and_then(|parent| document.pointer(parent));
    if in_list.is_some_and(Value::is_array) && document.pointer(at).is_some() {
        // `add` would insert into the list and shift the items after it.
        return authorize_operations(
            vec![PatchOperation::Replace { path: parse_pointer(at)?, value }],
            document,
            authority,
        );
    }
    // Authority is checked for the target itself, not for the missing parents created below.
    let target =
        Patch::from_ops(vec![PatchOperation::Add { path: parse_pointer(at)?, value: Value::Null }]);
    let faults = authority.check(&target, document);
    if !faults.is_empty() {
        return Err(point_at_targets(&target, faults));
    }
    let (mut pointer, mut value) = (at, value);
    while let Some(parent) = json::parent_pointer(pointer) {
        if document.pointer(parent).is_some_and(|parent| !parent.is_null()) {
            break;
        }
        let segment =
            json::split_pointer(&pointer[parent.len()..]).next().unwrap_or_default().into_owned();
        value = Value::Object(Map::from_iter([(segment, value)]));
        pointer = parent;
    }
    Ok(Patch::from_ops(vec![PatchOperation::Add { path: parse_pointer(pointer)?, value }]))
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
            let expected = format!("items with a field `{key}`, which identifies them");
            return Err(vec![Violation::new(
                ViolationCode::Required,
                at,
                expected,
                format_value(&item),
            )]);
        };
        match (list.iter().position(|known| known.get(key) == Some(id)), &item) {
            (Some(index), Value::Object(members)) => {
                for (name, value) in members.iter().filter(|(name, _)| *name != key) {
                    let pointer =
                        json::child_pointer(&json::child_pointer(at, &index.to_string()), name);
                    ops.push(PatchOperation::Add {
                        path: parse_pointer(&pointer)?,
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
    // Remove from the back, so that the indices before it stay valid.
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

/// Points violations of generated operations at the document pointers they would write, because no
/// reply contains these operations.
fn point_at_targets(patch: &Patch, faults: Vec<Violation>) -> Vec<Violation> {
    let rename = |fault: Violation| {
        let pointer = find_operation(patch, &fault).map_or("", |op| op.path().as_str()).to_owned();
        let message = format!("{pointer}: expected {}, found a change to it", fault.expected);
        Violation { pointer, ..fault }.with_message(message)
    };
    faults.into_iter().map(rename).collect()
}

/// Points a violation at the operation in the reply, or at the document pointer of a generated
/// operation.
fn locate_violation(change: &DocumentChange, made: &Patch, violation: Violation) -> Violation {
    match &change.operation {
        ChangeOperation::Patch { from, .. } => violation.with_pointer_prefix(from),
        _ => {
            let pointer =
                find_operation(made, &violation).map_or("", |op| op.path().as_str()).to_owned();
            violation.with_pointer(pointer)
        }
    }
}

/// Finds the operation that a violation's pointer names.
fn find_operation<'p>(patch: &'p Patch, fault: &Violation) -> Option<&'p PatchOperation> {
    let index = json::split_pointer(&fault.pointer).next()?.parse::<usize>().ok()?;
    patch.ops.get(index)
}

fn parse_pointer(text: &str) -> Result<JsonPointer, Vec<Violation>> {
    JsonPointer::parse(text).map_err(|error| {
        vec![Violation::new(
            ViolationCode::InvalidPatch,
            "",
            "a JSON Pointer",
            format!("`{text}`: {error}"),
        )]
    })
}

fn into_items(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        other => vec![other],
    }
}

fn not_a_list_violation(at: &str, found: &Value) -> Violation {
    Violation::new(ViolationCode::PatchFailed, at, "a list in the document", format_value(found))
}

fn undefined_value_violation(expr: &Expr, message: &str) -> Violation {
    let found = format!("`{}`: {message}", expr.source().trim());
    Violation::new(ViolationCode::PatchFailed, "", "a value to write", found)
}
