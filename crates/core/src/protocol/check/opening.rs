//! Whether a gate can open at all, and whether it can be closed.

use std::collections::BTreeMap;
use std::ops::Range;

use super::effort::Effort;
use super::finding::dotted;
use super::view::{Standing, View};
use super::written::{STATE, document_schema};
use crate::expr::{Expr, May, NeverHolds, Numbers, Plain, ReadStep, Texts};
use crate::json;
use crate::limits::{MAX_FINDINGS, MAX_LISTED_NAMES};
use crate::nearest::nearest;
use crate::protocol::{Check, Protocol, Transition};

/// What is told of a gate before any document exists.
#[derive(Debug)]
pub(super) enum Opening {
    /// Open, whatever the document says.
    Always,
    /// It depends.
    Depends,
    /// Closed, whatever the document says.
    Never(Reason),
}

/// Why a gate never opens.
#[derive(Debug)]
pub(super) struct Reason {
    pub(super) message: String,
    pub(super) hint: Option<String>,
    /// The stretch of the expression that is to blame; none for a gate of another kind.
    pub(super) span: Option<Range<usize>>,
}

/// The gates of every workflow, by the position of the transition.
#[derive(Debug)]
pub(super) struct Openings<'p> {
    workflows: BTreeMap<&'p str, Vec<Opening>>,
}

impl<'p> Openings<'p> {
    pub(super) fn of(protocol: &'p Protocol, effort: &Effort) -> Self {
        let mut never = 0;
        let workflows = protocol.workflows.values().map(|workflow| {
            let document = document_schema(protocol, workflow);
            let document = document.map(|schema| View::with_effort(schema, effort));
            let ways = workflow.transitions.iter().map(|way| {
                let opening = opening(way, document, never < MAX_FINDINGS);
                never += usize::from(matches!(opening, Opening::Never(_)));
                opening
            });
            (workflow.id.as_str(), ways.collect())
        });
        Self { workflows: workflows.collect() }
    }

    /// The gate of a transition.
    pub(super) fn get(&self, workflow: &str, way: usize) -> &Opening {
        self.workflows.get(workflow).and_then(|ways| ways.get(way)).unwrap_or(&Opening::Depends)
    }

    pub(super) fn is_never(&self, workflow: &str, way: usize) -> bool {
        matches!(self.get(workflow, way), Opening::Never(_))
    }

    pub(super) fn is_always(&self, workflow: &str, way: usize) -> bool {
        matches!(self.get(workflow, way), Opening::Always)
    }
}

/// What is told of one gate; `hinting` where advice is worth its price.
fn opening(way: &Transition, document: Option<View<'_>>, hinting: bool) -> Opening {
    let Some(gate) = &way.gate else { return Opening::Always };
    match &gate.check {
        Check::Expression(expr) => expression(expr, document, hinting),
        Check::Status { pointer, value } => status(pointer, value, document, hinting),
        Check::File { .. } | Check::FileAt { .. } | Check::Manual { .. } => Opening::Depends,
    }
}

/// What is known of a path of `state`; of other roots nothing is.
pub(super) fn of_document(document: Option<View<'_>>, slot: usize, steps: &[ReadStep]) -> May {
    match document {
        Some(view) if slot == STATE && !steps.is_empty() => view.possible(steps),
        _ if slot == STATE && steps.is_empty() => May::only(Plain::Object),
        _ => May::anything(),
    }
}

fn expression(expr: &Expr, document: Option<View<'_>>, hinting: bool) -> Opening {
    let roots = [None; 3];
    if !(0..roots.len()).any(|slot| expr.uses(slot)) {
        return match expr.test(&roots) {
            Ok(true) => Opening::Always,
            Ok(false) => Opening::Never(Reason {
                message: "it is false for every document".to_owned(),
                hint: Some("say when the way is to open, or delete it".to_owned()),
                span: Some(0..expr.source().len()),
            }),
            Err(error) => Opening::Never(Reason {
                message: error.message,
                hint: Some("a gate opens on `true` only".to_owned()),
                span: Some(error.span),
            }),
        };
    }
    let outlook = expr.outlook(&|slot, steps| of_document(document, slot, steps));
    if outlook.may.has(Plain::True) {
        return Opening::Depends;
    }
    let reason = forbidden(expr, document.filter(|_| hinting))
        .or_else(|| Some(never_holds(expr, outlook.never.first()?)))
        .unwrap_or_else(|| not_a_truth(expr, &outlook.may));
    Opening::Never(reason)
}

fn never_holds(expr: &Expr, never: &NeverHolds) -> Reason {
    let text = |span: &Range<usize>| &expr.source()[span.clone()];
    // Of a path and a literal, the path is what the author does not know.
    let (span, may) = match (never.left.is_single(), never.right.is_single()) {
        (true, false) => (&never.right_span, &never.right),
        _ => (&never.left_span, &never.left),
    };
    let there = may.clone().without(&[Plain::Undefined]);
    let shown = if there.is_never() { may } else { &there };
    let message = format!("`{}` never holds, as `{}` is {shown}", text(&never.span), text(span));
    let hint = "compare with a value that is possible there, or widen the contract of the document";
    Reason { message, hint: Some(hint.to_owned()), span: Some(never.span.clone()) }
}

fn not_a_truth(expr: &Expr, may: &May) -> Reason {
    let span = Some(0..expr.source().len());
    if may.is_never() || may.has(Plain::False) {
        let message = "it is true for no document".to_owned();
        let hint = Some("hold each part of it against the contract of the document".to_owned());
        return Reason { message, hint, span };
    }
    let message = format!("it gives {may}, and a gate opens on `true` only");
    Reason { message, hint: Some("compare the value with something".to_owned()), span }
}

/// A path the contract of the document forbids.
fn forbidden(expr: &Expr, document: Option<View<'_>>) -> Option<Reason> {
    let document = document?;
    expr.reads().iter().filter(|read| read.slot == STATE).find_map(|read| {
        let Standing::Forbidden(index, names) = document.standing(&read.steps) else {
            return None;
        };
        let ReadStep::Field(name) = &read.steps[index] else { return None };
        let message =
            format!("it reads `{name}`, which the contract of the document does not have");
        Some(Reason { message, hint: known_names(name, &names), span: Some(read.span.clone()) })
    })
}

/// The name that was probably meant, or those there are.
pub(super) fn known_names(name: &str, names: &[&str]) -> Option<String> {
    const SHOWN: usize = MAX_LISTED_NAMES;
    if let Some(near) = nearest(name, names.iter().copied()) {
        return Some(format!("did you mean `{near}`?"));
    }
    if names.is_empty() {
        return None;
    }
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`"));
    let more = if names.len() > SHOWN { ", …" } else { "" };
    Some(format!("known there: {}{more}", shown.collect::<Vec<_>>().join(", ")))
}

fn status(pointer: &str, value: &str, document: Option<View<'_>>, hinting: bool) -> Opening {
    let Some(document) = document else { return Opening::Depends };
    let steps: Vec<ReadStep> =
        json::split(pointer).map(|name| ReadStep::Field(name.into_owned())).collect();
    // A segment that is a number may be a place in a list.
    if steps
        .iter()
        .any(|step| matches!(step, ReadStep::Field(name) if name.parse::<usize>().is_ok()))
    {
        return Opening::Depends;
    }
    let may = document.possible(&steps);
    if reads_as(&may, value) {
        return Opening::Depends;
    }
    let field = dotted("state", pointer);
    let standing = if hinting { document.standing(&steps) } else { Standing::Known };
    Opening::Never(match standing {
        Standing::Forbidden(index, names) => {
            let name = match &steps[index] {
                ReadStep::Field(name) => name.as_str(),
                ReadStep::Element => "*",
            };
            let message =
                format!("it reads `{name}`, which the contract of the document does not have");
            Reason { message, hint: known_names(name, &names), span: None }
        }
        _ => {
            let known = may.without(&[Plain::Undefined]);
            let hint = match &known.texts {
                Texts::OneOf(texts) if hinting => nearest(value, texts.iter().map(String::as_str))
                    .map(|near| format!("did you mean `{near}`?")),
                _ => None,
            };
            let message = format!("`{field}` is {known}, never \"{value}\"");
            Reason { message, hint, span: None }
        }
    })
}

/// Whether a value of the set may read as this text.
fn reads_as(may: &May, text: &str) -> bool {
    let texts = match &may.texts {
        Texts::None => false,
        Texts::OneOf(texts) => texts.contains(text),
        Texts::Any => true,
    };
    let plain = may.has(Plain::Object)
        || may.lists.is_some()
        || (may.has(Plain::True) && text == "true")
        || (may.has(Plain::False) && text == "false")
        || (may.has(Plain::Null) && text == "null");
    let numbers = may.numbers != Numbers::None && text.parse::<f64>().is_ok();
    texts || plain || numbers
}
