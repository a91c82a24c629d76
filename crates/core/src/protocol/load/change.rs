//! Changes of the document: verbs, places, and whether a phase may write there.

use super::expression::{expression, optional};
use super::member::Member;
use super::place;
use super::scope::{FAILURE, Scope};
use crate::limits::MAX_LISTED_NAMES;
use crate::protocol::{Change, Verb};

const VERBS: [&str; 7] = ["patch", "merge", "set", "append", "upsert", "remove", "emit"];

/// The name of the value that a change without one means.
const REPLY: &str = "reply";

/// Reads `apply`: a word, one change, or a list of them.
pub(super) fn changes(member: &Member<'_>, scope: &Scope<'_>) -> Vec<Change> {
    let origin = member.origin();
    if member.text().is_some() && !scope.reads.contains(&REPLY) {
        let word = member.text().unwrap_or_default();
        tell_no_reply(member, &format!("`apply: {word}` takes a reply, and here is none"), scope);
        return Vec::new();
    }
    match member.text() {
        Some("patch") => {
            let verb = Verb::Patch { from: String::new(), writes: None };
            vec![Change { when: None, verb, origin }]
        }
        Some(_) => {
            let verb = Verb::Merge { at: String::new(), value: None };
            vec![Change { when: None, verb, origin }]
        }
        None if member.value.is_array() => {
            member.items().iter().filter_map(|item| change(item, scope)).collect()
        }
        None => change(member, scope).into_iter().collect(),
    }
}

/// The changes of a phase or a question: none where `apply` is not said.
pub(super) fn applied(owner: &Member<'_>, scope: &Scope<'_>) -> Vec<Change> {
    owner.get("apply").map(|apply| changes(&apply, scope)).unwrap_or_default()
}

/// `{ /pointer: "expression" }` as changes that set.
pub(super) fn settings(member: &Member<'_>, scope: &Scope<'_>) -> Vec<Change> {
    let set = |(pointer, value): &(&str, Member<'_>)| {
        let at = place::named(pointer, value, scope.faults)?;
        authorize(value, &at, Reach::Whole, scope);
        let origin = value.origin();
        let value = Some(expression(value, scope.reads, scope.faults)?);
        Some(Change { when: None, verb: Verb::Set { at, value }, origin })
    };
    member.entries().iter().filter_map(set).collect()
}

fn change(member: &Member<'_>, scope: &Scope<'_>) -> Option<Change> {
    let named: Vec<&str> = VERBS.into_iter().filter(|verb| member.get(verb).is_some()).collect();
    if !member.value.is_object() {
        return None;
    }
    let [name] = named[..] else {
        let verbs = format!("one of `{}`", VERBS.join("`, `"));
        let fault = match named.first() {
            None => member.fault("required", format!("a change says what it does: {verbs}")),
            Some(_) => {
                let both = named.join("` and `");
                let message = format!("a change does one thing, and this one has `{both}`");
                let hint = "write a list of changes, one thing each".to_owned();
                member.fault("one_of", message).hinting(Some(hint))
            }
        };
        scope.faults.push(fault);
        return None;
    };
    let when = optional(member.get("when"), scope.reads, scope.faults);
    let verb = verb(name, &member.get(name)?, scope);
    Some(Change { when: when.ok()?, verb: verb?, origin: member.origin() })
}

fn verb(name: &str, body: &Member<'_>, scope: &Scope<'_>) -> Option<Verb> {
    let faults = scope.faults;
    if name == "emit" {
        let data = optional(body.get("data"), scope.reads, faults);
        return Some(Verb::Emit { event: body.owned("event")?, data: data.ok()? });
    }
    let has_reply = scope.reads.contains(&REPLY);
    if name == "patch" {
        if !has_reply {
            tell_no_reply(body, "`patch` takes a patch from a reply, and here is none", scope);
            return None;
        }
        return patch(body, scope);
    }
    let place = if body.text().is_some() { body.clone() } else { body.get("at")? };
    let value = optional(body.get("value"), scope.reads, faults);
    let has_whole = has_reply || scope.reads.contains(&FAILURE);
    if !has_whole && body.get("value").is_none() && name != "remove" {
        let message = format!("`{name}` without a `value` means the reply, and here is none");
        tell_no_reply(body, &message, scope);
    }
    let at = place::pointer(&place, faults)?;
    let reach = if name == "merge" { Reach::Inside } else { Reach::Whole };
    authorize(&place, &at, reach, scope);
    let (value, key) = (value.ok()?, body.owned("key"));
    Some(match name {
        "merge" => Verb::Merge { at, value },
        "set" => Verb::Set { at, value },
        "append" => Verb::Append { at, value },
        "upsert" => Verb::Upsert { at, key: key?, value },
        _ => {
            if key.is_some() != value.is_some() {
                let (has, lacks) = if key.is_some() { ("key", "value") } else { ("value", "key") };
                let message = format!("`{has}` without `{lacks}`");
                let hint = "name both to remove items of a list, or neither to remove the place";
                let fault = body.fault("required", message);
                faults.push(fault.hinting(Some(hint.to_owned())));
            }
            Verb::Remove { at, key, value }
        }
    })
}

/// Where the reply has a patch, and what that may change.
fn patch(body: &Member<'_>, scope: &Scope<'_>) -> Option<Verb> {
    let from = if body.text().is_some() { Some(body.clone()) } else { body.get("from") };
    let from = match from {
        Some(from) => place::pointer(&from, scope.faults)?,
        None => String::new(),
    };
    let Some(writes) = body.get("writes") else { return Some(Verb::Patch { from, writes: None }) };
    let mut places = Vec::new();
    for member in writes.items() {
        let at = place::pointer(&member, scope.faults)?;
        authorize(&member, &at, Reach::Inside, scope);
        places.push(at);
    }
    Some(Verb::Patch { from, writes: Some(places) })
}

/// Tells a change that means a reply where there is none.
fn tell_no_reply(member: &Member<'_>, message: &str, scope: &Scope<'_>) {
    let hint = "say what is written: `set: { at: /place, value: EXPRESSION }`".to_owned();
    scope.faults.push(member.fault("required", message).hinting(Some(hint)));
}

/// How much of a place a change touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// All of it.
    Whole,
    /// Some members of it, which only the reply tells.
    Inside,
}

/// Tells a change that no run could be allowed to make.
fn authorize(member: &Member<'_>, at: &str, reach: Reach, scope: &Scope<'_>) {
    let own = match reach {
        Reach::Whole => place::engine_at(at, scope.engine),
        Reach::Inside => place::engine_above(at, scope.engine),
    };
    if let Some(own) = own {
        place::tell_engine(member, at, own, scope.faults);
        return;
    }
    let Some(writes) = scope.writes else { return };
    let allowed = writes.set.covers(at) || (reach == Reach::Inside && writes.set.is_any_inside(at));
    if !allowed {
        let shown = place::shown(at);
        let message = format!("this writes {shown}, which is not among the phase's `writes`");
        let hint = match &*writes.places {
            [] => "the phase may write nothing".to_owned(),
            all if all.len() > MAX_LISTED_NAMES => {
                let listed = all[..MAX_LISTED_NAMES].join("`, `");
                format!("the phase may write `{listed}` and {} more", all.len() - MAX_LISTED_NAMES)
            }
            all => format!("the phase may write `{}`", all.join("`, `")),
        };
        scope.faults.push(member.fault("not_authorized", message).hinting(Some(hint)));
    }
}
