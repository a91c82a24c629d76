//! Authority wider than what a phase can touch.

use super::effort::Effort;
use super::finding::{names, place};
use super::view::View;
use super::whole;
use super::written::{changes, parts};
use crate::expr::{May, Plain, ReadStep, Texts};
use crate::json;
use crate::limits::MAX_LISTED_NAMES;
use crate::patch::PointerSet;
use crate::protocol::{Hook, Phase, Protocol, Verb, Work};
use crate::spec::Diagnostic;

pub(super) fn check(protocol: &Protocol, effort: &Effort) -> Vec<Diagnostic> {
    let workflows = whole::workflows(protocol).into_iter();
    let phases = workflows.flat_map(|workflow| &workflow.phases);
    phases.flat_map(|phase| of_phase(protocol, phase, effort)).collect()
}

fn of_phase(protocol: &Protocol, phase: &Phase, effort: &Effort) -> Vec<Diagnostic> {
    let Some(writes) = &phase.writes else { return Vec::new() };
    let Some(touched) = touched(protocol, phase, effort) else { return Vec::new() };
    let touched = Places::new(touched);
    let entries = writes.iter().enumerate();
    entries
        .filter_map(|(index, entry)| {
            let (message, hint) = too_wide(phase, entry, &touched)?;
            let origin = phase.origin.child("writes").child(&index.to_string());
            let fault = origin.fault("authority_too_wide", message);
            Some(fault.warning().hinting(Some(hint)))
        })
        .collect()
}

/// A place that is touched: exactly this one, or whatever begins with this text.
#[derive(Debug)]
enum Touched {
    Place(String),
    Beginning(String),
}

/// The same, to be asked many times.
#[derive(Debug)]
struct Places {
    places: PointerSet,
    /// There is one at most for every patch of the phase.
    beginnings: Vec<String>,
}

impl Places {
    fn new(touched: Vec<Touched>) -> Self {
        let (mut places, mut beginnings) = (Vec::new(), Vec::new());
        for one in touched {
            match one {
                Touched::Place(place) => places.push(place),
                Touched::Beginning(text) => beginnings.push(text),
            }
        }
        beginnings.sort_unstable();
        beginnings.dedup();
        Self { places: PointerSet::from_pointers(places.iter().map(String::as_str)), beginnings }
    }
}

fn too_wide(phase: &Phase, entry: &str, touched: &Places) -> Option<(String, String)> {
    let begins = |text: &String| entry.starts_with(text.as_str()) || text.starts_with(entry);
    if touched.places.covers(entry) || touched.beginnings.iter().any(begins) {
        return None;
    }
    // Entries do not lie inside one another as a rule, so each place is looked at about once.
    let mut inside = touched.places.inside(entry).map(|(pointer, _)| pointer);
    let mut deeper: Vec<&str> = inside.by_ref().take(MAX_LISTED_NAMES + 1).collect();
    if deeper.is_empty() {
        let message = format!("phase `{}` may write {} and never does", phase.id, place(entry));
        return Some((message, "delete it from `writes`, or add the change to `apply`".to_owned()));
    }
    if deeper.len() > MAX_LISTED_NAMES {
        deeper.truncate(MAX_LISTED_NAMES);
        let message = format!(
            "phase `{}` may write {} and only ever changes parts of it: {}, …",
            phase.id,
            place(entry),
            names(deeper.iter().copied())
        );
        return Some((message, "name these parts in `writes`".to_owned()));
    }
    let message = format!(
        "phase `{}` may write {} and only ever changes {}",
        phase.id,
        place(entry),
        names(deeper.iter().copied())
    );
    Some((message, format!("say `writes: [{}]`", deeper.join(", "))))
}

/// Every place a phase can touch; `None` where that cannot be told.
fn touched(protocol: &Protocol, phase: &Phase, effort: &Effort) -> Option<Vec<Touched>> {
    if matches!(phase.work, Work::None) {
        return None;
    }
    let mut touched = Vec::new();
    for hook in [&phase.on_enter, &phase.on_exit].into_iter().flatten() {
        let Some(Hook::Patch { ops, .. }) = protocol.hooks.get(hook) else { return None };
        let paths = ops.as_array().into_iter().flatten().flat_map(|op| [&op["path"], &op["from"]]);
        touched.extend(paths.filter_map(|path| Some(Touched::Place(path.as_str()?.to_owned()))));
    }
    for (change, reply) in changes(protocol, phase) {
        match &change.verb {
            Verb::Patch { writes: Some(writes), .. } => {
                touched.extend(writes.iter().cloned().map(Touched::Place));
            }
            Verb::Patch { from, writes: None } => {
                touched.extend(pinned(View::with_effort(reply?, effort), from)?);
            }
            Verb::Emit { .. } => {}
            other => touched.push(Touched::Place(parts(other).1.to_owned())),
        }
    }
    Some(touched)
}

/// The places that the operations of a patch are bound to by the contract that brings it.
fn pinned(reply: View<'_>, from: &str) -> Option<Vec<Touched>> {
    let field = |name: &str| ReadStep::Field(name.to_owned());
    let here: Vec<ReadStep> = json::split(from).map(|name| field(&name)).collect();
    let is_list = |may: &May| {
        let others = May { lists: None, ..may.clone() }.without(&[Plain::Undefined]);
        may.lists.is_some() && others.is_never()
    };
    let mut ops = here.clone();
    if !is_list(&reply.possible(&ops)) {
        ops.push(field("ops"));
        if !is_list(&reply.possible(&ops)) {
            return None;
        }
    }
    ops.extend([ReadStep::Element, field("path")]);
    let path = reply.possible(&ops);
    if let Texts::OneOf(places) = path.texts {
        return Some(places.into_iter().map(Touched::Place).collect());
    }
    let beginnings: Option<Vec<String>> = reply.patterns(&ops).into_iter().map(beginning).collect();
    // Of several patterns some may belong to alternatives; one alone holds always or not at all.
    match beginnings?.as_slice() {
        [only] if !only.is_empty() => Some(vec![Touched::Beginning(only.clone())]),
        _ => None,
    }
}

/// The text that whatever matches a pattern begins with.
fn beginning(pattern: &str) -> Option<String> {
    let rest = pattern.strip_prefix('^')?;
    if rest.contains('|') && !rest.contains('(') {
        return None;
    }
    let plain = |character: &char| {
        character.is_alphanumeric() || matches!(character, '/' | '_' | '-' | '~')
    };
    let mut text: String = rest.chars().take_while(plain).collect();
    // A quantifier speaks of the character before it.
    let next = rest[text.len()..].chars().next();
    if matches!(next, Some('?' | '*' | '{' | '+')) {
        text.pop();
    }
    Some(text)
}
