//! Finds authority that is wider than what a phase can write.

use countersign_contract::expr::{AbstractValue, PlainValue, ReadStep, StringSet};
use countersign_contract::json;
use countersign_contract::limits::MAX_LISTED_NAMES;
use countersign_contract::patch::PointerSet;
use countersign_contract::source::Diagnostic;

use super::analysis_budget::AnalysisBudget;
use super::located_expressions::{collect_phase_changes, split_operation};
use super::schema_path_view::SchemaPathView;
use super::standalone_workflows;
use super::wording::{format_names, format_pointer};
use crate::{ChangeOperation, HookDefinition, PhaseWork, Protocol, WorkflowPhase};

pub(super) fn check(protocol: &Protocol, effort: &AnalysisBudget) -> Vec<Diagnostic> {
    let workflows = standalone_workflows::find_standalone_workflows(protocol).into_iter();
    let phases = workflows.flat_map(|workflow| &workflow.phases);
    phases.flat_map(|phase| check_phase(protocol, phase, effort)).collect()
}

fn check_phase(
    protocol: &Protocol,
    phase: &WorkflowPhase,
    effort: &AnalysisBudget,
) -> Vec<Diagnostic> {
    let Some(writes) = &phase.writes else { return Vec::new() };
    let Some(touched) = collect_touched_pointers(protocol, phase, effort) else {
        return Vec::new();
    };
    let touched = TouchedPointerSet::new(touched);
    let entries = writes.iter().enumerate();
    entries
        .filter_map(|(index, entry)| {
            let (message, hint) = explain_unused_authority(phase, entry, &touched)?;
            let origin = phase.origin.child("writes").child(&index.to_string());
            let fault = origin.diagnose("authority_too_wide", message);
            Some(fault.into_warning().with_hint(Some(hint)))
        })
        .collect()
}

/// A pointer that a phase can write: exactly this one, or any that starts with this text.
#[derive(Debug)]
enum TouchedPointer {
    Exact(String),
    Prefix(String),
}

/// The same pointers, prepared for many lookups.
#[derive(Debug)]
struct TouchedPointerSet {
    exact: PointerSet,
    /// At most one prefix for each patch of the phase.
    prefixes: Vec<String>,
}

impl TouchedPointerSet {
    fn new(touched: Vec<TouchedPointer>) -> Self {
        let (mut pointers, mut prefixes) = (Vec::new(), Vec::new());
        for one in touched {
            match one {
                TouchedPointer::Exact(pointer) => pointers.push(pointer),
                TouchedPointer::Prefix(text) => prefixes.push(text),
            }
        }
        prefixes.sort_unstable();
        prefixes.dedup();
        Self { exact: PointerSet::from_pointers(pointers.iter().map(String::as_str)), prefixes }
    }
}

fn explain_unused_authority(
    phase: &WorkflowPhase,
    entry: &str,
    touched: &TouchedPointerSet,
) -> Option<(String, String)> {
    let begins = |text: &String| entry.starts_with(text.as_str()) || text.starts_with(entry);
    if touched.exact.covers(entry) || touched.prefixes.iter().any(begins) {
        return None;
    }
    // Entries are rarely inside one another, so each pointer is visited about once.
    let mut inside = touched.exact.iter_inside(entry).map(|(pointer, _)| pointer);
    let mut deeper: Vec<&str> = inside.by_ref().take(MAX_LISTED_NAMES + 1).collect();
    if deeper.is_empty() {
        let message =
            format!("phase `{}` may write {} but never does", phase.id, format_pointer(entry));
        return Some((message, "delete it from `writes`, or add the change to `apply`".to_owned()));
    }
    if deeper.len() > MAX_LISTED_NAMES {
        deeper.truncate(MAX_LISTED_NAMES);
        let message = format!(
            "phase `{}` may write {} but changes only parts of it: {}, …",
            phase.id,
            format_pointer(entry),
            format_names(deeper.iter().copied())
        );
        return Some((message, "list these parts in `writes`".to_owned()));
    }
    let message = format!(
        "phase `{}` may write {} but changes only {}",
        phase.id,
        format_pointer(entry),
        format_names(deeper.iter().copied())
    );
    Some((message, format!("use `writes: [{}]`", deeper.join(", "))))
}

/// Collects every pointer that a phase can write; `None` if that is unknown.
fn collect_touched_pointers(
    protocol: &Protocol,
    phase: &WorkflowPhase,
    effort: &AnalysisBudget,
) -> Option<Vec<TouchedPointer>> {
    if matches!(phase.work, PhaseWork::None) {
        return None;
    }
    let mut touched = Vec::new();
    for hook in [&phase.on_enter, &phase.on_exit].into_iter().flatten() {
        let Some(HookDefinition::Patch { ops, .. }) = protocol.hooks.get(hook) else { return None };
        let paths = ops.as_array().into_iter().flatten().flat_map(|op| [&op["path"], &op["from"]]);
        touched.extend(
            paths.filter_map(|path| Some(TouchedPointer::Exact(path.as_str()?.to_owned()))),
        );
    }
    for (change, reply) in collect_phase_changes(protocol, phase) {
        match &change.operation {
            ChangeOperation::Patch { writes: Some(writes), .. } => {
                touched.extend(writes.iter().cloned().map(TouchedPointer::Exact));
            }
            ChangeOperation::Patch { from, writes: None } => {
                touched.extend(find_pinned_pointers(
                    SchemaPathView::with_budget(reply?, effort),
                    from,
                )?);
            }
            ChangeOperation::Emit { .. } => {}
            other => touched.push(TouchedPointer::Exact(split_operation(other).1.to_owned())),
        }
    }
    Some(touched)
}

/// Finds the pointers to which the contract of a reply restricts the operations of its patch.
fn find_pinned_pointers(reply: SchemaPathView<'_>, from: &str) -> Option<Vec<TouchedPointer>> {
    let field = |name: &str| ReadStep::Field(name.to_owned());
    let here: Vec<ReadStep> = json::split_pointer(from).map(|name| field(&name)).collect();
    let is_list = |may: &AbstractValue| {
        let others = AbstractValue { list_lengths: None, ..may.clone() }
            .without_plain(&[PlainValue::Undefined]);
        may.list_lengths.is_some() && others.is_never()
    };
    let mut ops = here.clone();
    if !is_list(&reply.possible_values(&ops)) {
        ops.push(field("ops"));
        if !is_list(&reply.possible_values(&ops)) {
            return None;
        }
    }
    ops.extend([ReadStep::Element, field("path")]);
    let path = reply.possible_values(&ops);
    if let StringSet::OneOf(pointers) = path.strings {
        return Some(pointers.into_iter().map(TouchedPointer::Exact).collect());
    }
    let beginnings: Option<Vec<String>> =
        reply.required_patterns(&ops).into_iter().map(extract_literal_prefix).collect();
    // Several patterns may belong to alternatives; a single one always applies or never.
    match beginnings?.as_slice() {
        [only] if !only.is_empty() => Some(vec![TouchedPointer::Prefix(only.clone())]),
        _ => None,
    }
}

/// Extracts the text that every match of a pattern starts with.
fn extract_literal_prefix(pattern: &str) -> Option<String> {
    let rest = pattern.strip_prefix('^')?;
    if rest.contains('|') && !rest.contains('(') {
        return None;
    }
    let plain = |character: &char| {
        character.is_alphanumeric() || matches!(character, '/' | '_' | '-' | '~')
    };
    let mut text: String = rest.chars().take_while(plain).collect();
    // A quantifier applies to the character before it.
    let next = rest[text.len()..].chars().next();
    if matches!(next, Some('?' | '*' | '{' | '+')) {
        text.pop();
    }
    Some(text)
}
