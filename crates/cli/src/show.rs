//! What a person sees: verdicts, violations beside the reply, faults beside the file.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use countersign_core::contract::Contract;
use countersign_core::json::Span;
use countersign_core::reply::{Accepted, Violation};
use countersign_core::spec::{Diagnostic, Place};
use serde_json::{Value, json};

use crate::exit::Error;
use crate::output;

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const DIM: Style = Style::new().dimmed();
/// Headings of what is shown on standard output.
pub(crate) const HEADING: Style = Style::new().bold();

/// An error of any kind, for a person or a program.
pub(crate) fn error(error: &Error, for_program: bool) {
    if for_program {
        let faults = match error {
            Error::Author(diagnostics) => diagnostics.iter().map(diagnostic_json).collect(),
            other => vec![json!({ "message": other.to_string() })],
        };
        output::json(&json!({ "errors": faults }));
        return;
    }
    if let Error::Author(diagnostics) = error {
        for diagnostic in diagnostics {
            let Diagnostic { source, span, hint, .. } = diagnostic;
            let title = Level::ERROR.primary_title(&diagnostic.message).id(&diagnostic.code);
            let group = excerpt(title, &source.name, &source.text, *span, hint.as_deref());
            output::talk(&Renderer::styled().render(&[group]));
            output::talk("");
        }
    }
    output::talk(&format!("{BAD}error{BAD:#}: {error}"));
}

fn diagnostic_json(diagnostic: &Diagnostic) -> Value {
    let Place { line, column } = diagnostic.place();
    json!({
        "code": diagnostic.code,
        "message": diagnostic.message,
        "file": diagnostic.source.name,
        "line": line,
        "column": column,
        "hint": diagnostic.hint,
    })
}

/// That a reply was let in, and what was done to it.
pub(crate) fn accepted(contract: &Contract, accepted: &Accepted, unchecked: &[&str]) {
    output::talk(&format!("{GOOD}accepted{GOOD:#} by {}", named(contract)));
    for repair in accepted.repairs() {
        let Span { start, end } = repair.span;
        let (kind, class) = (repair.kind.as_str(), repair.class.as_str());
        output::talk(&format!("  repaired: {kind} {DIM}({class}, bytes {start} to {end}){DIM:#}"));
    }
    for pointer in accepted.defaults() {
        output::talk(&format!("  default filled in: {pointer}"));
    }
    not_checked(unchecked);
}

/// Everything wrong with a reply, each thing beside its place.
pub(crate) fn refused(
    contract: &Contract,
    violations: &[Violation],
    (name, reply): (&str, &[u8]),
    unchecked: &[&str],
) {
    // Without text there are no places in it.
    let text = std::str::from_utf8(reply).unwrap_or_default();
    for violation in violations {
        let code = violation.code.to_string();
        let title = Level::ERROR.primary_title(&violation.message).id(&code);
        let group = match violation.span {
            Some(span) if !text.trim().is_empty() => {
                excerpt(title, name, text, span, violation.hint.as_deref())
            }
            _ => hinted(Group::with_title(title), violation.hint.as_deref()),
        };
        output::talk(&Renderer::styled().render(&[group]));
        output::talk("");
    }
    let count = violations.len();
    let noun = if count == 1 { "violation" } else { "violations" };
    output::talk(&format!("{BAD}refused{BAD:#} by {}: {count} {noun}", named(contract)));
    not_checked(unchecked);
}

fn not_checked(rules: &[&str]) {
    if !rules.is_empty() {
        let rules = rules.join(", ");
        output::talk(&format!("  not checked, for want of --state or --run: {rules}"));
    }
}

fn named(contract: &Contract) -> String {
    format!("{} {}", contract.id, contract.version)
}

/// The lines around a place, with a caret. Long lines are cut to what surrounds the place.
fn excerpt<'t>(
    title: annotate_snippets::Title<'t>,
    name: &'t str,
    text: &'t str,
    span: Span,
    hint: Option<&'t str>,
) -> Group<'t> {
    const SHOWN: usize = 160;
    // A caret under a whole object says nothing: the first line of it is enough.
    let mut end = span.end.min(text.len());
    if let Some(newline) = text[span.start..end].find('\n') {
        end = span.start + newline;
    }
    while end > span.start + SHOWN || !text.is_char_boundary(end) {
        end -= 1;
    }
    let annotation = AnnotationKind::Primary.span(span.start..end);
    let snippet = Snippet::source(text).path(name).annotation(annotation);
    hinted(title.element(snippet), hint)
}

fn hinted<'t>(group: Group<'t>, hint: Option<&'t str>) -> Group<'t> {
    match hint {
        Some(hint) => group.element(Level::HELP.message(hint)),
        None => group,
    }
}
