//! Determines whether a gate can ever open, and whether it can ever be closed.

use std::collections::BTreeMap;
use std::ops::Range;

use countersign_contract::expr::{
    AbstractValue, Expr, NumberSet, PlainValue, ReadStep, StringSet, UnsatisfiableComparison,
};
use countersign_contract::find_similar_name;
use countersign_contract::json;
use countersign_contract::limits::{MAX_DIAGNOSTICS, MAX_LISTED_NAMES};

use super::analysis_budget::AnalysisBudget;
use super::located_expressions::{STATE_SLOT, document_schema};
use super::schema_path_view::{FieldDeclaration, SchemaPathView};
use super::wording::to_dotted_path;
use crate::{GateCheck, Protocol, WorkflowTransition};

/// What is known about a gate before any document exists.
#[derive(Debug)]
pub(super) enum GateAnalysis {
    /// Open for every document.
    Always,
    /// Open for some documents, or unknown.
    Depends,
    /// Closed for every document.
    Never(NeverOpensReason),
}

/// Why a gate never opens.
#[derive(Debug)]
pub(super) struct NeverOpensReason {
    pub(super) message: String,
    pub(super) hint: Option<String>,
    /// Range of the expression that is responsible; absent for other kinds of gates.
    pub(super) span: Option<Range<usize>>,
}

/// The gates of every workflow, by position of the transition.
#[derive(Debug)]
pub(super) struct GateAnalyses<'p> {
    workflows: BTreeMap<&'p str, Vec<GateAnalysis>>,
}

impl<'p> GateAnalyses<'p> {
    pub(super) fn from_protocol(protocol: &'p Protocol, effort: &AnalysisBudget) -> Self {
        let mut never = 0;
        let workflows = protocol.workflows.values().map(|workflow| {
            let document = document_schema(protocol, workflow);
            let document = document.map(|schema| SchemaPathView::with_budget(schema, effort));
            let transitions = workflow.transitions.iter().map(|transition| {
                let opening = analyze_gate(transition, document, never < MAX_DIAGNOSTICS);
                never += usize::from(matches!(opening, GateAnalysis::Never(_)));
                opening
            });
            (workflow.id.as_str(), transitions.collect())
        });
        Self { workflows: workflows.collect() }
    }

    /// The analysis of a transition's gate.
    pub(super) fn get(&self, workflow: &str, transition: usize) -> &GateAnalysis {
        self.workflows
            .get(workflow)
            .and_then(|transitions| transitions.get(transition))
            .unwrap_or(&GateAnalysis::Depends)
    }

    pub(super) fn never_opens(&self, workflow: &str, transition: usize) -> bool {
        matches!(self.get(workflow, transition), GateAnalysis::Never(_))
    }

    pub(super) fn always_opens(&self, workflow: &str, transition: usize) -> bool {
        matches!(self.get(workflow, transition), GateAnalysis::Always)
    }
}

/// Analyses one gate; `hinting` says whether to spend effort on a hint.
fn analyze_gate(
    transition: &WorkflowTransition,
    document: Option<SchemaPathView<'_>>,
    hinting: bool,
) -> GateAnalysis {
    let analysis = analyze_check(transition, document, hinting);
    // Before the approval is denied or expires, the transition is closed.
    match analysis {
        GateAnalysis::Always if transition.after.is_some() => GateAnalysis::Depends,
        analysis => analysis,
    }
}

fn analyze_check(
    transition: &WorkflowTransition,
    document: Option<SchemaPathView<'_>>,
    hinting: bool,
) -> GateAnalysis {
    let Some(gate) = &transition.gate else { return GateAnalysis::Always };
    match &gate.check {
        GateCheck::Expression(expr) => analyze_expression(expr, document, hinting),
        GateCheck::Status { pointer, value } => analyze_status(pointer, value, document, hinting),
        GateCheck::FileExists { .. }
        | GateCheck::FileExistsTemplate { .. }
        | GateCheck::Manual { .. } => GateAnalysis::Depends,
    }
}

/// The possible values at a path of `state`; for other roots, any value.
pub(super) fn possible_document_values(
    document: Option<SchemaPathView<'_>>,
    slot: usize,
    steps: &[ReadStep],
) -> AbstractValue {
    match document {
        Some(view) if slot == STATE_SLOT && !steps.is_empty() => view.possible_values(steps),
        _ if slot == STATE_SLOT && steps.is_empty() => {
            AbstractValue::from_plain(PlainValue::Object)
        }
        _ => AbstractValue::any(),
    }
}

fn analyze_expression(
    expr: &Expr,
    document: Option<SchemaPathView<'_>>,
    hinting: bool,
) -> GateAnalysis {
    let roots = [None; 3];
    if !(0..roots.len()).any(|slot| expr.uses_root(slot)) {
        return match expr.eval_bool(&roots) {
            Ok(true) => GateAnalysis::Always,
            Ok(false) => GateAnalysis::Never(NeverOpensReason {
                message: "it is false for every document".to_owned(),
                hint: Some(
                    "write a condition that can be true, or delete the transition".to_owned(),
                ),
                span: Some(0..expr.source().len()),
            }),
            Err(error) => GateAnalysis::Never(NeverOpensReason {
                message: error.message,
                hint: Some("a gate opens only on `true`".to_owned()),
                span: Some(error.span),
            }),
        };
    }
    let outlook = expr.analyze(&|slot, steps| possible_document_values(document, slot, steps));
    if outlook.value.has_plain(PlainValue::True) {
        return GateAnalysis::Depends;
    }
    let reason = find_forbidden_read(expr, document.filter(|_| hinting))
        .or_else(|| Some(explain_never_holds(expr, outlook.unsatisfiable.first()?)))
        .unwrap_or_else(|| explain_not_boolean(expr, &outlook.value));
    GateAnalysis::Never(reason)
}

fn explain_never_holds(expr: &Expr, never: &UnsatisfiableComparison) -> NeverOpensReason {
    let text = |span: &Range<usize>| &expr.source()[span.clone()];
    // Between a path and a literal, the path is what the author needs to learn about.
    let (span, may) = match (never.left.is_single(), never.right.is_single()) {
        (true, false) => (&never.right_span, &never.right),
        _ => (&never.left_span, &never.left),
    };
    let there = may.clone().without_plain(&[PlainValue::Undefined]);
    let shown = if there.is_never() { may } else { &there };
    let message =
        format!("`{}` never holds, because `{}` is {shown}", text(&never.span), text(span));
    let hint =
        "compare with a value that is possible there, or extend the contract of the document";
    NeverOpensReason { message, hint: Some(hint.to_owned()), span: Some(never.span.clone()) }
}

fn explain_not_boolean(expr: &Expr, may: &AbstractValue) -> NeverOpensReason {
    let span = Some(0..expr.source().len());
    if may.is_never() || may.has_plain(PlainValue::False) {
        let message = "it is not true for any document".to_owned();
        let hint = Some("compare each part of it with the contract of the document".to_owned());
        return NeverOpensReason { message, hint, span };
    }
    let message = format!("it returns {may}, but a gate opens only on `true`");
    NeverOpensReason { message, hint: Some("compare the value with something".to_owned()), span }
}

/// Finds a read of a path that the contract of the document forbids.
fn find_forbidden_read(
    expr: &Expr,
    document: Option<SchemaPathView<'_>>,
) -> Option<NeverOpensReason> {
    let document = document?;
    expr.read_paths().iter().filter(|read| read.slot == STATE_SLOT).find_map(|read| {
        let FieldDeclaration::Forbidden(index, names) = document.classify_path(&read.steps) else {
            return None;
        };
        let ReadStep::Field(name) = &read.steps[index] else { return None };
        let message =
            format!("it reads `{name}`, which the contract of the document does not have");
        Some(NeverOpensReason {
            message,
            hint: suggest_names(name, &names),
            span: Some(read.span.clone()),
        })
    })
}

/// Suggests a similar name, or lists the known ones.
pub(super) fn suggest_names(name: &str, names: &[&str]) -> Option<String> {
    const SHOWN: usize = MAX_LISTED_NAMES;
    if let Some(near) = find_similar_name(name, names.iter().copied()) {
        return Some(format!("did you mean `{near}`?"));
    }
    if names.is_empty() {
        return None;
    }
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`"));
    let more = if names.len() > SHOWN { ", …" } else { "" };
    Some(format!("known there: {}{more}", shown.collect::<Vec<_>>().join(", ")))
}

fn analyze_status(
    pointer: &str,
    value: &str,
    document: Option<SchemaPathView<'_>>,
    hinting: bool,
) -> GateAnalysis {
    let Some(document) = document else { return GateAnalysis::Depends };
    let steps: Vec<ReadStep> =
        json::split_pointer(pointer).map(|name| ReadStep::Field(name.into_owned())).collect();
    // A numeric segment may be a list index.
    if steps
        .iter()
        .any(|step| matches!(step, ReadStep::Field(name) if name.parse::<usize>().is_ok()))
    {
        return GateAnalysis::Depends;
    }
    let may = document.possible_values(&steps);
    if may_read_as(&may, value) {
        return GateAnalysis::Depends;
    }
    let field = to_dotted_path("state", pointer);
    let declaration =
        if hinting { document.classify_path(&steps) } else { FieldDeclaration::Allowed };
    GateAnalysis::Never(match declaration {
        FieldDeclaration::Forbidden(index, names) => {
            let name = match &steps[index] {
                ReadStep::Field(name) => name.as_str(),
                ReadStep::Element => "*",
            };
            let message =
                format!("it reads `{name}`, which the contract of the document does not have");
            NeverOpensReason { message, hint: suggest_names(name, &names), span: None }
        }
        _ => {
            let known = may.without_plain(&[PlainValue::Undefined]);
            let hint = match &known.strings {
                StringSet::OneOf(texts) if hinting => {
                    find_similar_name(value, texts.iter().map(String::as_str))
                        .map(|near| format!("did you mean `{near}`?"))
                }
                _ => None,
            };
            let message = format!("`{field}` is {known}, never \"{value}\"");
            NeverOpensReason { message, hint, span: None }
        }
    })
}

/// Whether a value of the set may have this text form.
fn may_read_as(may: &AbstractValue, text: &str) -> bool {
    let texts = match &may.strings {
        StringSet::Empty => false,
        StringSet::OneOf(texts) => texts.contains(text),
        StringSet::Any => true,
    };
    let plain = may.has_plain(PlainValue::Object)
        || may.list_lengths.is_some()
        || (may.has_plain(PlainValue::True) && text == "true")
        || (may.has_plain(PlainValue::False) && text == "false")
        || (may.has_plain(PlainValue::Null) && text == "null");
    let numbers = may.numbers != NumberSet::Empty && text.parse::<f64>().is_ok();
    texts || plain || numbers
}
