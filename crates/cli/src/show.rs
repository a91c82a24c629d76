//! What a person sees: verdicts, violations beside the reply, faults beside the file.

use anstyle::AnsiColor;
use countersign_core::contract::Contract;
use countersign_core::json::Span;
use countersign_core::reply::{Accepted, Violation, count_violations};
use countersign_core::run::{State, Status, Wait};
use countersign_core::spec::{Diagnostic, Severity};
use countersign_memory::store::MemoryError;
use countersign_runtime::driver::Rest;
use countersign_runtime::engine::EngineError;
use serde_json::json;

use crate::excerpt::Excerpt;
use crate::exit::Error;
use crate::output;
use crate::style::Style;
use countersign_server::show::waiting;
use countersign_server::wire;

pub(crate) const GOOD: Style = Style::bold_colour(AnsiColor::Green);
pub(crate) const BAD: Style = Style::bold_colour(AnsiColor::Red);
pub(crate) const DIM: Style = Style::dimmed();
/// Headings of what is shown on standard output.
pub(crate) const HEADING: Style = Style::bold();

/// An error of any kind, for a person or a program.
pub(crate) fn error(error: &Error, for_program: bool) {
    if for_program {
        let faults = match error {
            Error::Author(diagnostics) => {
                diagnostics.iter().map(|one| json!(wire::Finding::from(one))).collect()
            }
            Error::Rejected(rejection) | Error::NotGiven { rejection, .. } => vec![json!({
                "code": rejection.code(),
                "message": rejection.to_string(),
                "violations": rejection.violations(),
            })],
            other => vec![json!({ "message": with_cause(other) })],
        };
        output::json(&json!({ "errors": faults }));
        return;
    }
    if let Error::Author(diagnostics) = error {
        for diagnostic in diagnostics {
            output::talk(&fault(diagnostic, &diagnostic.source.name));
            output::talk("");
        }
    }
    output::talk(&format!("{BAD}error{BAD:#}: {}", with_cause(error)));
}

/// An error, and what lies below it where a database did not do its work: only that says what to do.
fn with_cause(error: &Error) -> String {
    let (Error::Store(store)
    | Error::Engine(EngineError::Store(store))
    | Error::Memory(MemoryError::Store(store))) = error
    else {
        return error.to_string();
    };
    match std::error::Error::source(store) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// A fault beside its place, in a file that the user knows by this name.
pub(crate) fn fault(diagnostic: &Diagnostic, name: &str) -> String {
    let Diagnostic { source, span, hint, .. } = diagnostic;
    Excerpt {
        is_warning: diagnostic.severity == Severity::Warning,
        title: &diagnostic.message,
        code: Some(&diagnostic.code),
        source: Some((name, &source.text)),
        spans: vec![(*span, None)],
        hint: hint.as_deref(),
        ..Excerpt::default()
    }
    .render()
}

/// That a reply was let in, and what was done to it.
pub(crate) fn accepted(contract: &Contract, accepted: &Accepted, unchecked: &[&str]) {
    output::talk(&format!("{GOOD}accepted{GOOD:#} by {}", named(contract)));
    for repair in accepted.repairs() {
        let Span { start, end } = repair.span;
        let (kind, class) = (repair.kind.as_str(), repair.class.as_str());
        let times = if repair.count == 1 { String::new() } else { format!(" ×{}", repair.count) };
        output::talk(&format!(
            "  repaired: {kind}{times} {DIM}({class}, bytes {start} to {end}){DIM:#}"
        ));
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
        let shown = violation.span.filter(|_| !text.trim().is_empty());
        let excerpt = Excerpt {
            title: &violation.message,
            code: Some(&violation.code.to_string()),
            source: Some((name, text)),
            spans: shown.map(|span| (span, None)).into_iter().collect(),
            hint: violation.hint.as_deref(),
            ..Excerpt::default()
        };
        output::talk(&excerpt.render());
        output::talk("");
    }
    let count = count_violations(violations);
    let noun = if count == 1 { "violation" } else { "violations" };
    output::talk(&format!("{BAD}refused{BAD:#} by {}: {count} {noun}", named(contract)));
    not_checked(unchecked);
}

/// Everything wrong with a reply that was handed in, a line each.
pub(crate) fn violations(violations: &[Violation]) {
    output::talk(&format!("{BAD}refused{BAD:#}:"));
    for violation in violations {
        output::talk(&format!("  {violation}"));
        if let Some(hint) = &violation.hint {
            output::talk(&format!("    {DIM}{hint}{DIM:#}"));
        }
    }
}

/// A refused text with every violation beside its place; those without a place stand below.
pub(crate) fn beside(text: &str, violations: &[Violation]) -> String {
    let count = count_violations(violations);
    let title = format!("{count} {}", if count == 1 { "violation" } else { "violations" });
    let (placed, unplaced): (Vec<_>, Vec<_>) =
        violations.iter().partition(|one| one.span.is_some() && !text.trim().is_empty());
    let spans = placed.iter().filter_map(|one| Some((one.span?, Some(one.message.as_str()))));
    Excerpt {
        title: &title,
        source: Some(("the reply", text)),
        spans: spans.collect(),
        notes: unplaced.iter().map(ToString::to_string).collect(),
        ..Excerpt::default()
    }
    .render()
}

/// The colour of a status.
pub(crate) fn status_style(status: Status) -> Style {
    match status {
        Status::Completed => GOOD,
        Status::Failed => BAD,
        Status::Running => Style::colour(AnsiColor::Cyan),
        Status::Waiting => Style::colour(AnsiColor::Yellow),
        Status::Halted => Style::colour(AnsiColor::Magenta),
    }
}

/// Where a run stands, in a line.
pub(crate) fn standing(state: &State) -> String {
    let status = state.status();
    let style = status_style(status);
    let mut line = format!(
        "run {HEADING}{}{HEADING:#} is {style}{}{style:#} in phase {} at version {}",
        state.run,
        status.as_str(),
        state.phase,
        state.version
    );
    if let Some((_, Some(reason))) = &state.end {
        line.push_str(&format!(": {reason}"));
    }
    line
}

/// Why nobody is working on a run now, where its waits do not tell.
pub(crate) fn rest(run: &str, rest: &Rest) {
    match rest {
        Rest::NeedsReply => output::talk(&format!(
            "It asks a model, and none is named. Name one with --model, or take its place: `countersign next {run}`, `countersign submit {run} FILE`."
        )),
        Rest::Child(child) => {
            output::talk(&format!("It waits for run {child}: `countersign status {child}`."));
        }
        Rest::Until(at) => {
            output::talk(&format!("It goes on at {at}: `countersign run --resume {run}`."));
        }
        Rest::Held | Rest::Stopped => output::talk("Another process is working on it."),
        Rest::Parked => output::talk(&format!(
            "Workers ended again and again while working on it, so it is parked. Let it go on with `countersign resume {run}`."
        )),
        Rest::Ended(_) | Rest::Halted | Rest::Waiting => {}
    }
}

/// An open wait, in a line or two.
pub(crate) fn wait(run: &str, wait: &Wait) -> String {
    let mut line = format!(
        "  {HEADING}{run}/{}{HEADING:#}  {}  {}",
        wait.id,
        wait.kind.as_str(),
        wait.question
    );
    if let Some(shape) = waiting::shape(wait) {
        line.push_str(&format!("\n    {shape}"));
    }
    if let Some(who) = &wait.who {
        line.push_str(&format!("\n    for {who}"));
    }
    if let Some(deadline) = wait.deadline {
        line.push_str(&format!("\n    until {deadline}"));
    }
    line
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
