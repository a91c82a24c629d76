//! Gates of transitions.

use super::expression::{expression, template};
use super::faults::Faults;
use super::member::Member;
use super::retry::retry;
use super::{duration, path, place};
use crate::protocol::{Check, Gate, NAMES};

const TYPES: [&str; 5] = ["manual", "criteria", "expression", "file_exists", "status"];

/// Which keys belong to which types of gate; the others belong to all.
const BELONGS: [(&str, &[&str]); 6] = [
    ("check", &["criteria", "expression"]),
    ("path", &["file_exists"]),
    ("field", &["status"]),
    ("value", &["status"]),
    ("who", &["manual"]),
    ("deadline", &["manual"]),
];

/// Reads a gate; `None` where it has a fault.
pub(super) fn gate(member: &Member<'_>, faults: &Faults) -> Option<Gate> {
    if member.text().is_some() {
        let check = Check::Expression(short(member, faults)?);
        return Some(Gate { description: None, check, retry: None });
    }
    let kind = member.text_of("type").unwrap_or_default();
    for (key, kinds) in BELONGS {
        if member.get(key).is_some() && !kinds.contains(&kind) && TYPES.contains(&kind) {
            let kinds = kinds.join("` and `");
            let message = format!("`{key}` belongs to gates of type `{kinds}`, not `{kind}`");
            faults.push(member.fault_at_key("misplaced_key", key, message));
        }
    }
    let check = match kind {
        "status" => Check::Status {
            pointer: place::dotted(&member.get("field")?, faults)?,
            value: member.owned("value")?,
        },
        "file_exists" => file(&member.get("path")?, faults)?,
        "manual" => Check::Manual {
            who: member.owned("who"),
            deadline: member.get("deadline").and_then(|it| duration::duration(&it, faults)),
        },
        _ => Check::Expression(expression(&member.get("check")?, &NAMES[..2], faults)?),
    };
    let retry = member.get("retry").and_then(|it| retry(&it, faults));
    Some(Gate { description: member.owned("description"), check, retry })
}

/// The question whether a file is there, at a path that may have places to fill.
fn file(path: &Member<'_>, faults: &Faults) -> Option<Check> {
    if !path.text()?.contains("{{") {
        return Some(Check::File { path: path::inside(path, faults)? });
    }
    let (filled, inside) = (template(path, &NAMES[..2], faults), path::inside_filled(path, faults));
    inside?;
    Some(Check::FileAt { path: filled? })
}

/// A gate given as text: a check, and not the name of a type, which is an easy slip.
fn short(member: &Member<'_>, faults: &Faults) -> Option<crate::expr::Expr> {
    let text = member.text()?.trim();
    if TYPES.contains(&text) {
        let message = format!("a gate given as text is an expression, and `{text}` is none");
        let hint = format!("did you mean `gate: {{ type: {text} }}`?");
        faults.push(member.fault("invalid_expression", message).hinting(Some(hint)));
        return None;
    }
    expression(member, &NAMES[..2], faults)
}
