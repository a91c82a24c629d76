//! Writing: what an accepted value makes of the document, as a patch within the phase's authority.
//!
//! Only an [`Accepted`] makes a patch. It is tried on a copy, and the document's own contract is
//! asked about the result; until all of that holds, nothing has changed.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::deciding::Deciding;
use super::phases::faults;
use crate::contract::{Contract, load_inline};
use crate::expr::Expr;
use crate::json;
use crate::patch::{Authority, Op, Patch, Pointer};
use crate::protocol::{Change, Document, Verb};
use crate::reply::{Accepted, Code, Context, Verdict, Violation, ViolationList, show};
use crate::run::event::Event;

static ANYTHING: LazyLock<Contract> = LazyLock::new(|| {
    load_inline("id: anything\nversion: 1.0.0\nschema: true").expect("our own contract loads")
});

/// The contract of what nobody described: it takes every value.
pub(super) fn anything() -> &'static Contract {
    &ANYTHING
}

/// A value that a contract without demands lets in.
pub(super) fn taken(contract: &Contract, value: &Value) -> Accepted {
    match contract.admit_value(value, &Context::default()) {
        Verdict::Accepted(accepted) => *accepted,
        Verdict::Refused(_) => unreachable!("a contract without demands refuses nothing"),
    }
}

/// The places that are the engine's.
pub(super) fn engine_places(document: &Document) -> Vec<String> {
    document.engine.iter().map(|place| place.at.clone()).collect()
}

/// A document with an RFC 7396 patch merged in.
pub(super) fn merged(document: &Value, merge: &Value) -> Value {
    let mut merged = document.clone();
    match Patch::merge(document, merge).apply(&mut merged) {
        Ok(_) => merged,
        Err(_) => merge.clone(),
    }
}

/// A patch, and the document it makes: tried, found good, and not yet true.
pub(super) struct Written {
    patch: Patch,
    document: Value,
    /// What the author has the log say of it: name and data.
    announced: Vec<(String, Option<Value>)>,
}

impl Written {
    /// Whether it leaves the document as it is.
    pub(super) fn is_empty(&self) -> bool {
        self.patch.ops.is_empty()
    }
}

/// What changes may read beside document, run, and what they are made from.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// The child that ended.
    pub(super) child: Option<Value>,
    /// The item that all this is about.
    pub(super) item: Option<Value>,
}

impl Beside {
    /// As expressions know them, in the order of their slots.
    pub(super) fn roots(&self) -> impl Iterator<Item = Option<&Value>> {
        [&self.child, &self.item].into_iter().filter(|one| one.is_some()).map(Option::as_ref)
    }
}

impl Deciding<'_> {
    /// Records a change, unless it changes nothing. It must have been tried on the document of now.
    pub(super) fn change(&mut self, written: Written) {
        if !written.patch.ops.is_empty() {
            self.emit_tried(written.patch, written.document);
            self.passed.clear();
        }
        for (name, data) in written.announced {
            self.emit(Event::Announced { name, data });
        }
    }

    /// The patch that these changes make of an accepted value, or everything against it.
    pub(super) fn written(
        &self,
        changes: &[Change],
        accepted: &Accepted,
        beside: &Beside,
        contract: Option<&Contract>,
    ) -> Result<Written, Vec<Violation>> {
        let run = self.run();
        let writes = self.phase().writes.clone().unwrap_or_else(|| vec![String::new()]);
        let mut roots = vec![Some(&*run), Some(accepted.value())];
        roots.extend(beside.roots());
        let written = self.tried(changes, &roots, &writes)?;
        self.holds_after(&written.document, &run, accepted, contract)?;
        Ok(written)
    }

    /// The patch that changes of the author's make where no reply is; `others` are the values of the names
    /// after `run`. They are bound by the engine's places and the contract of the document alone.
    pub(super) fn written_by_author(
        &self,
        changes: &[Change],
        others: &[Option<&Value>],
    ) -> Result<Written, Vec<Violation>> {
        let run = self.run();
        let roots: Vec<_> = [Some(&*run)].into_iter().chain(others.iter().copied()).collect();
        let written = self.tried(changes, &roots, &[String::new()])?;
        self.document_holds(&written.document, &run)?;
        Ok(written)
    }

    /// The patch that an input makes of the first document, which is asked about as a whole afterwards.
    pub(super) fn written_from_input(
        &self,
        changes: &[Change],
        accepted: &Accepted,
        contract: &Contract,
    ) -> Result<Written, Vec<Violation>> {
        let run = self.run();
        let written =
            self.tried(changes, &[Some(&run), Some(accepted.value())], &[String::new()])?;
        self.rules_hold(&written.document, &run, accepted, Some(contract))?;
        Ok(written)
    }

    /// Tries changes one after the other on a copy; each reads what those before it made. `others` are
    /// the values of the names after `state`.
    fn tried(
        &self,
        changes: &[Change],
        others: &[Option<&Value>],
        writes: &[String],
    ) -> Result<Written, Vec<Violation>> {
        let authority = Authority::parse(writes, &engine_places(self.spec()))
            .expect("pointers were read when the protocol was loaded");
        let mut document = (*self.state.document).clone();
        let (mut patch, mut announced) = (Patch::default(), Vec::new());
        for change in changes {
            let made = {
                let mut roots = vec![Some(&document)];
                roots.extend(others);
                if let Verb::Emit { event, data } = &change.verb {
                    if applies(change, &roots)? {
                        let data = data.as_ref().map(|data| given(data, &roots)).transpose()?;
                        announced.push((event.clone(), data));
                    }
                    continue;
                }
                made(change, &roots, &document, &authority)?
            };
            made.apply(&mut document)
                .map_err(|error| vec![placed(change, &made, Violation::from(error))])?;
            patch.ops.extend(made.ops);
        }
        Ok(Written { patch, document, announced })
    }

    /// A patch of the protocol's own, if it can be applied and leaves a document that fits.
    pub(super) fn fitting_patch(&self, patch: Patch) -> Result<Written, Vec<Violation>> {
        let mut document = (*self.state.document).clone();
        patch.apply(&mut document).map_err(|error| vec![Violation::from(error)])?;
        let run = self.run();
        self.document_holds(&document, &run)?;
        Ok(Written { patch, document, announced: Vec::new() })
    }

    fn holds_after(
        &self,
        document: &Value,
        run: &Value,
        accepted: &Accepted,
        contract: Option<&Contract>,
    ) -> Result<(), Vec<Violation>> {
        self.rules_hold(document, run, accepted, contract)?;
        self.document_holds(document, run)
    }

    /// Whether the rules over `new` hold of the document that would result.
    fn rules_hold(
        &self,
        document: &Value,
        run: &Value,
        accepted: &Accepted,
        contract: Option<&Contract>,
    ) -> Result<(), Vec<Violation>> {
        let before = Context { state: Some(&self.state.document), run: Some(run), new: None };
        let after = Context { new: Some(document), ..before };
        let mut violations = ViolationList::default();
        for rule in contract.iter().flat_map(|contract| &contract.rules) {
            // The others were asked when the reply was let in.
            if rule.lacks(&before) && !rule.lacks(&after) {
                rule.check(accepted.value(), &after, &mut violations);
            }
        }
        if violations.count() == 0 { Ok(()) } else { Err(violations.finish()) }
    }

    fn document_holds(&self, document: &Value, run: &Value) -> Result<(), Vec<Violation>> {
        let Some(contract) = &self.spec().contract else { return Ok(()) };
        let context =
            Context { state: Some(&self.state.document), run: Some(run), new: Some(document) };
        let violations = faults(contract, document, &context);
        if violations.is_empty() {
            return Ok(());
        }
        let told = |violation: Violation| {
            let message = format!("in the document that would result, {}", violation.message);
            let violation = violation.saying(message);
            // A model that is asked again looks for the place in its reply.
            match violation.hint {
                Some(_) => violation,
                None => violation.hinting("this is a place in the document that would result"),
            }
        };
        Err(violations.into_iter().map(told).collect())
    }
}

/// One change as operations against the document of this moment.
fn made(
    change: &Change,
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
        Some(expr) => given(expr, roots),
    };
    match &change.verb {
        Verb::Patch { from, writes } => {
            let place = |violation: Violation| violation.under(from);
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
            let back =
                |violation| if tagged { patch.place_in(given, violation) } else { violation };
            Err(faults.into_iter().map(back).map(place).collect())
        }
        Verb::Merge { at, value: given } => merge(document, at, &value(given)?, authority),
        Verb::Set { at, value: given } => set(document, at, value(given)?, authority),
        Verb::Append { at, value: given } => {
            let value = value(given)?;
            match document.pointer(at) {
                None | Some(Value::Null) => set(document, at, Value::Array(vec![value]), authority),
                Some(Value::Array(_)) => checked(
                    vec![Op::Add { path: pointer(&json::child(at, "-"))?, value }],
                    document,
                    authority,
                ),
                Some(other) => Err(vec![no_list(at, other)]),
            }
        }
        Verb::Upsert { at, key, value: given } => {
            upsert(document, at, key, listed(value(given)?), authority)
        }
        Verb::Remove { at, key, value: given } => match key {
            None => match document.pointer(at) {
                None => Ok(Patch::default()),
                Some(_) => checked(vec![Op::Remove { path: pointer(at)? }], document, authority),
            },
            Some(key) => remove(document, at, key, &listed(value(given)?), authority),
        },
        Verb::Emit { .. } => Ok(Patch::default()),
    }
}

/// Whether a change is made at all.
fn applies(change: &Change, roots: &[Option<&Value>]) -> Result<bool, Vec<Violation>> {
    let Some(when) = &change.when else { return Ok(true) };
    when.test(roots).map_err(|error| vec![undecided(when, &error.message)])
}

/// The value of an expression; `undefined` is none that can be kept.
fn given(expr: &Expr, roots: &[Option<&Value>]) -> Result<Value, Vec<Violation>> {
    let value = expr.eval(roots).map_err(|error| vec![undecided(expr, &error.message)])?;
    value.to_json().ok_or_else(|| vec![undecided(expr, "it is undefined")])
}

/// Merges a value into a place; what holds it is made where it is missing.
fn merge(
    document: &Value,
    at: &str,
    value: &Value,
    authority: &Authority,
) -> Result<Patch, Vec<Violation>> {
    match document.pointer(at) {
        Some(there @ Value::Object(_)) if value.is_object() => {
            let mut ops = Patch::try_merge(there, value)?.ops;
            if !at.is_empty() {
                let prefix = |path: &Pointer| pointer(&format!("{at}{}", path.as_str()));
                for op in &mut ops {
                    match op {
                        Op::Move { from, path } | Op::Copy { from, path } => {
                            *from = prefix(from)?;
                            *path = prefix(path)?;
                        }
                        Op::Add { path, .. }
                        | Op::Remove { path }
                        | Op::Replace { path, .. }
                        | Op::Test { path, .. } => *path = prefix(path)?,
                    }
                }
            }
            checked(ops, document, authority)
        }
        _ => set(document, at, merged(&Value::Null, value), authority),
    }
}

/// Puts a value in its place; what holds it is made where it is missing.
fn set(
    document: &Value,
    at: &str,
    value: Value,
    authority: &Authority,
) -> Result<Patch, Vec<Violation>> {
    let in_list = json::parent(at).and_then(|holder| document.pointer(holder));
    if in_list.is_some_and(Value::is_array) && document.pointer(at).is_some() {
        // To add to a list is to move the others.
        return checked(vec![Op::Replace { path: pointer(at)?, value }], document, authority);
    }
    // The place that is meant is asked for, not the missing ones around it that must be made.
    let meant = Patch::from_ops(vec![Op::Add { path: pointer(at)?, value: Value::Null }]);
    let faults = authority.check(&meant, document);
    if !faults.is_empty() {
        return Err(named(&meant, faults));
    }
    let (mut place, mut value) = (at, value);
    while let Some(holder) = json::parent(place) {
        if document.pointer(holder).is_some_and(|holder| !holder.is_null()) {
            break;
        }
        let segment = json::split(&place[holder.len()..]).next().unwrap_or_default().into_owned();
        value = Value::Object(Map::from_iter([(segment, value)]));
        place = holder;
    }
    Ok(Patch::from_ops(vec![Op::Add { path: pointer(place)?, value }]))
}

fn upsert(
    document: &Value,
    at: &str,
    key: &str,
    items: Vec<Value>,
    authority: &Authority,
) -> Result<Patch, Vec<Violation>> {
    let (list, missing) = match document.pointer(at) {
        None | Some(Value::Null) => (&[][..], true),
        Some(Value::Array(list)) => (list.as_slice(), false),
        Some(other) => return Err(vec![no_list(at, other)]),
    };
    let mut ops = Vec::new();
    let mut fresh: Vec<Value> = Vec::new();
    for item in items {
        let Some(id) = item.get(key) else {
            let expected = format!("items with a field `{key}`, which tells them apart");
            return Err(vec![Violation::new(Code::Required, at, expected, show(&item))]);
        };
        match (list.iter().position(|known| known.get(key) == Some(id)), &item) {
            (Some(index), Value::Object(members)) => {
                for (name, value) in members.iter().filter(|(name, _)| *name != key) {
                    let place = json::child(&json::child(at, &index.to_string()), name);
                    ops.push(Op::Add { path: pointer(&place)?, value: value.clone() });
                }
            }
            _ => match fresh.iter_mut().find(|known| known.get(key) == Some(id)) {
                Some(known) => *known = merged(known, &item),
                None => fresh.push(item),
            },
        }
    }
    if missing {
        return set(document, at, Value::Array(fresh), authority);
    }
    for value in fresh {
        ops.push(Op::Add { path: pointer(&json::child(at, "-"))?, value });
    }
    checked(ops, document, authority)
}

fn remove(
    document: &Value,
    at: &str,
    key: &str,
    keys: &[Value],
    authority: &Authority,
) -> Result<Patch, Vec<Violation>> {
    let list = match document.pointer(at) {
        None | Some(Value::Null) => return Ok(Patch::default()),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(vec![no_list(at, other)]),
    };
    let gone = |item: &&Value| item.get(key).is_some_and(|id| keys.contains(id));
    let indices = list.iter().enumerate().filter(|(_, item)| gone(item)).map(|(index, _)| index);
    // From the back, so that the indices before it stay what they are.
    let mut ops = Vec::new();
    for index in indices.collect::<Vec<_>>().into_iter().rev() {
        ops.push(Op::Remove { path: pointer(&json::child(at, &index.to_string()))? });
    }
    checked(ops, document, authority)
}

fn checked(ops: Vec<Op>, document: &Value, authority: &Authority) -> Result<Patch, Vec<Violation>> {
    let patch = Patch::from_ops(ops);
    let faults = authority.check(&patch, document);
    if faults.is_empty() { Ok(patch) } else { Err(named(&patch, faults)) }
}

/// Faults of operations that no reply wrote out: they are named by the place they would write.
fn named(patch: &Patch, faults: Vec<Violation>) -> Vec<Violation> {
    let rename = |fault: Violation| {
        let place = op_of(patch, &fault).map_or("", |op| op.path().as_str()).to_owned();
        let message = format!("{place}: expected {}, found a change of it", fault.expected);
        Violation { pointer: place, ..fault }.saying(message)
    };
    faults.into_iter().map(rename).collect()
}

/// A fault of an operation, at the place in the reply where it was written.
fn placed(change: &Change, made: &Patch, violation: Violation) -> Violation {
    match &change.verb {
        Verb::Patch { from, .. } => violation.under(from),
        _ => {
            let place = op_of(made, &violation).map_or("", |op| op.path().as_str()).to_owned();
            violation.pointing(place)
        }
    }
}

/// The operation that a fault is about.
fn op_of<'p>(patch: &'p Patch, fault: &Violation) -> Option<&'p Op> {
    let index = json::split(&fault.pointer).next()?.parse::<usize>().ok()?;
    patch.ops.get(index)
}

fn pointer(text: &str) -> Result<Pointer, Vec<Violation>> {
    Pointer::parse(text).map_err(|error| {
        vec![Violation::new(Code::InvalidPatch, "", "a JSON Pointer", format!("`{text}`: {error}"))]
    })
}

fn listed(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        other => vec![other],
    }
}

fn no_list(at: &str, found: &Value) -> Violation {
    Violation::new(Code::PatchFailed, at, "a list in the document", show(found))
}

fn undecided(expr: &Expr, message: &str) -> Violation {
    let found = format!("`{}`: {message}", expr.source().trim());
    Violation::new(Code::PatchFailed, "", "a value to write", found)
}
