//! Reads changes of the document: operation, pointer, and whether the phase may write there.

use countersign_contract::limits::MAX_LISTED_NAMES;

use super::file_node::FileNode;
use super::name_scope::{FAILURE, NameScope};
use super::read_expression::{read_expression, read_optional_expression};
use super::read_pointer;
use crate::{ChangeOperation, DocumentChange};

const OPERATIONS: [&str; 7] = ["patch", "merge", "set", "append", "upsert", "remove", "emit"];

/// The name that a change without a value refers to.
const REPLY: &str = "reply";

/// Reads `apply`: a keyword, one change, or a list of changes.
pub(super) fn read_changes(member: &FileNode<'_>, scope: &NameScope<'_>) -> Vec<DocumentChange> {
    let origin = member.origin();
    if member.text().is_some() && !scope.change_names.contains(&REPLY) {
        let word = member.text().unwrap_or_default();
        report_missing_reply(
            member,
            &format!("`apply: {word}` needs a reply, and there is none here"),
            scope,
        );
        return Vec::new();
    }
    match member.text() {
        Some("patch") => {
            let operation = ChangeOperation::Patch { from: String::new(), writes: None };
            vec![DocumentChange { when: None, operation, origin }]
        }
        Some(_) => {
            let operation = ChangeOperation::Merge { pointer: String::new(), value: None };
            vec![DocumentChange { when: None, operation, origin }]
        }
        None if member.value.is_array() => {
            member.items().iter().filter_map(|item| read_change(item, scope)).collect()
        }
        None => read_change(member, scope).into_iter().collect(),
    }
}

/// Reads the changes of a phase or a question; none if `apply` is absent.
pub(super) fn read_apply(owner: &FileNode<'_>, scope: &NameScope<'_>) -> Vec<DocumentChange> {
    owner.get("apply").map(|apply| read_changes(&apply, scope)).unwrap_or_default()
}

/// Reads `{ /pointer: "expression" }` as `set` changes.
pub(super) fn read_set_changes(
    member: &FileNode<'_>,
    scope: &NameScope<'_>,
) -> Vec<DocumentChange> {
    let set = |(pointer, value): &(&str, FileNode<'_>)| {
        let at = read_pointer::parse_pointer(pointer, value, scope.faults)?;
        check_authority(value, &at, WriteExtent::Whole, scope);
        let origin = value.origin();
        let value = Some(read_expression(value, scope.change_names, scope.faults)?);
        Some(DocumentChange {
            when: None,
            operation: ChangeOperation::Set { pointer: at, value },
            origin,
        })
    };
    member.entries().iter().filter_map(set).collect()
}

fn read_change(member: &FileNode<'_>, scope: &NameScope<'_>) -> Option<DocumentChange> {
    let named: Vec<&str> =
        OPERATIONS.into_iter().filter(|verb| member.get(verb).is_some()).collect();
    if !member.value.is_object() {
        return None;
    }
    let [name] = named[..] else {
        let verbs = format!("one of `{}`", OPERATIONS.join("`, `"));
        let fault = match named.first() {
            None => member.diagnose("required", format!("a change needs an operation: {verbs}")),
            Some(_) => {
                let both = named.join("` and `");
                let message = format!("a change has one operation, and this one has `{both}`");
                let hint = "write a list of changes with one operation each".to_owned();
                member.diagnose("one_of", message).with_hint(Some(hint))
            }
        };
        scope.faults.push(fault);
        return None;
    };
    let when = read_optional_expression(member.get("when"), scope.change_names, scope.faults);
    let operation = read_operation(name, &member.get(name)?, scope);
    Some(DocumentChange { when: when.ok()?, operation: operation?, origin: member.origin() })
}

fn read_operation(
    name: &str,
    body: &FileNode<'_>,
    scope: &NameScope<'_>,
) -> Option<ChangeOperation> {
    let faults = scope.faults;
    if name == "emit" {
        let data = read_optional_expression(body.get("data"), scope.change_names, faults);
        return Some(ChangeOperation::Emit { event: body.string_at("event")?, data: data.ok()? });
    }
    let has_reply = scope.change_names.contains(&REPLY);
    if name == "patch" {
        if !has_reply {
            report_missing_reply(body, "`patch` needs a reply, and there is none here", scope);
            return None;
        }
        return read_patch_operation(body, scope);
    }
    let node = if body.text().is_some() { body.clone() } else { body.get("at")? };
    let value = read_optional_expression(body.get("value"), scope.change_names, faults);
    let has_whole = has_reply || scope.change_names.contains(&FAILURE);
    if !has_whole && body.get("value").is_none() && name != "remove" {
        let message =
            format!("`{name}` without a `value` writes the reply, and there is none here");
        report_missing_reply(body, &message, scope);
    }
    let at = read_pointer::read_pointer(&node, faults)?;
    let reach = if name == "merge" { WriteExtent::Inside } else { WriteExtent::Whole };
    check_authority(&node, &at, reach, scope);
    let (value, key) = (value.ok()?, body.string_at("key"));
    Some(match name {
        "merge" => ChangeOperation::Merge { pointer: at, value },
        "set" => ChangeOperation::Set { pointer: at, value },
        "append" => ChangeOperation::Append { pointer: at, value },
        "upsert" => ChangeOperation::Upsert { pointer: at, key: key?, value },
        _ => {
            if key.is_some() != value.is_some() {
                let (has, lacks) = if key.is_some() { ("key", "value") } else { ("value", "key") };
                let message = format!("`{has}` without `{lacks}`");
                let hint =
                    "set both to remove items of a list, or neither to remove the whole value";
                let fault = body.diagnose("required", message);
                faults.push(fault.with_hint(Some(hint.to_owned())));
            }
            ChangeOperation::Remove { pointer: at, key, value }
        }
    })
}

/// Reads where the reply contains a patch and what the patch may change.
fn read_patch_operation(body: &FileNode<'_>, scope: &NameScope<'_>) -> Option<ChangeOperation> {
    let from = if body.text().is_some() { Some(body.clone()) } else { body.get("from") };
    let from = match from {
        Some(from) => read_pointer::read_pointer(&from, scope.faults)?,
        None => String::new(),
    };
    let Some(writes) = body.get("writes") else {
        return Some(ChangeOperation::Patch { from, writes: None });
    };
    let mut pointers = Vec::new();
    for member in writes.items() {
        let at = read_pointer::read_pointer(&member, scope.faults)?;
        check_authority(&member, &at, WriteExtent::Inside, scope);
        pointers.push(at);
    }
    Some(ChangeOperation::Patch { from, writes: Some(pointers) })
}

/// Reports a change that needs a reply where there is none.
fn report_missing_reply(member: &FileNode<'_>, message: &str, scope: &NameScope<'_>) {
    let hint = "add the value to write: `set: { at: /field, value: EXPRESSION }`".to_owned();
    scope.faults.push(member.diagnose("required", message).with_hint(Some(hint)));
}

/// How much of the value at a pointer a change writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteExtent {
    /// The whole value.
    Whole,
    /// Some members of the value, which only the reply determines.
    Inside,
}

/// Reports a change that no run would be allowed to make.
fn check_authority(member: &FileNode<'_>, at: &str, reach: WriteExtent, scope: &NameScope<'_>) {
    let own = match reach {
        WriteExtent::Whole => read_pointer::find_overlapping_engine_field(at, scope.engine),
        WriteExtent::Inside => read_pointer::find_enclosing_engine_field(at, scope.engine),
    };
    if let Some(own) = own {
        read_pointer::report_engine_field(member, at, own, scope.faults);
        return;
    }
    let Some(writes) = scope.writes else { return };
    let allowed =
        writes.set.covers(at) || (reach == WriteExtent::Inside && writes.set.has_any_inside(at));
    if !allowed {
        let shown = read_pointer::format_pointer(at);
        let message = format!("this writes {shown}, which is not among the phase's `writes`");
        let hint = match &*writes.pointers {
            [] => "the phase may write nothing".to_owned(),
            all if all.len() > MAX_LISTED_NAMES => {
                let listed = all[..MAX_LISTED_NAMES].join("`, `");
                format!("the phase may write `{listed}` and {} more", all.len() - MAX_LISTED_NAMES)
            }
            all => format!("the phase may write `{}`", all.join("`, `")),
        };
        scope.faults.push(member.diagnose("not_authorized", message).with_hint(Some(hint)));
    }
}
