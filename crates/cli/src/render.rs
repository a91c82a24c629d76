//! Formats verdicts, violations and diagnostics for people, with excerpts of the reply or the file.

use anstyle::AnsiColor;
use countersign_contract::contract::Contract;
use countersign_contract::json::TextSpan;
use countersign_contract::reply::{AcceptedValue, Violation, count_violations};
use countersign_contract::source::{Diagnostic, DiagnosticSeverity};
use countersign_memory::store::MemoryError;
use countersign_protocol::format_assignees;
use countersign_run::{ExecutionStatus, RunState, RunWait};
use countersign_runtime::driver::IdleReason;
use countersign_runtime::engine::EngineError;
use serde_json::json;

use crate::excerpt::SourceExcerpt;
use crate::exit::CliError;
use crate::output;
use crate::style::TerminalStyle;
use countersign_view::show::wait_text;
use countersign_view::wire;

pub(crate) const GOOD: TerminalStyle = TerminalStyle::bold_colour(AnsiColor::Green);
pub(crate) const BAD: TerminalStyle = TerminalStyle::bold_colour(AnsiColor::Red);
pub(crate) const DIM: TerminalStyle = TerminalStyle::dim();
/// The style of headings on standard output.
pub(crate) const HEADING: TerminalStyle = TerminalStyle::bold();

/// Prints any error, as JSON for programs or as text for people.
pub(crate) fn print_error(error: &CliError, for_program: bool) {
    if for_program {
        let faults = match error {
            CliError::InvalidFiles(diagnostics) => {
                diagnostics.iter().map(|one| json!(wire::DiagnosticView::from(one))).collect()
            }
            CliError::Rejected(rejection) | CliError::MissingInput { rejection, .. } => {
                vec![json!({
                    "code": rejection.code(),
                    "message": rejection.to_string(),
                    "violations": rejection.violations(),
                })]
            }
            other => vec![json!({ "message": format_with_cause(other) })],
        };
        output::print_json(&json!({ "errors": faults }));
        return;
    }
    if let CliError::InvalidFiles(diagnostics) = error {
        for diagnostic in diagnostics {
            output::print_message(&format_fault(diagnostic, &diagnostic.source.name));
            output::print_message("");
        }
    }
    output::print_message(&format!("{BAD}error{BAD:#}: {}", format_with_cause(error)));
}

/// Formats an error. If a database failed, the cause is included, because only the cause tells what
/// to do.
fn format_with_cause(error: &CliError) -> String {
    let (CliError::Store(store)
    | CliError::Engine(EngineError::Store(store))
    | CliError::Memory(MemoryError::Store(store))) = error
    else {
        return error.to_string();
    };
    match std::error::Error::source(store) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Formats a diagnostic with an excerpt of the file, under the name by which the user knows the
/// file.
pub(crate) fn format_fault(diagnostic: &Diagnostic, name: &str) -> String {
    let Diagnostic { source, span, hint, .. } = diagnostic;
    SourceExcerpt {
        is_warning: diagnostic.severity == DiagnosticSeverity::Warning,
        title: &diagnostic.message,
        code: Some(&diagnostic.code),
        source: Some((name, &source.text)),
        spans: vec![(*span, None)],
        hint: hint.as_deref(),
        ..SourceExcerpt::default()
    }
    .render()
}

/// Prints that a reply was accepted, and which repairs were made.
pub(crate) fn print_accepted(contract: &Contract, accepted: &AcceptedValue, unchecked: &[&str]) {
    output::print_message(&format!("{GOOD}accepted{GOOD:#} by {}", format_contract_id(contract)));
    for repair in accepted.repairs() {
        let TextSpan { start, end } = repair.span;
        let (kind, class) = (repair.kind.as_str(), repair.class.as_str());
        let times = if repair.count == 1 { String::new() } else { format!(" ×{}", repair.count) };
        output::print_message(&format!(
            "  repaired: {kind}{times} {DIM}({class}, bytes {start} to {end}){DIM:#}"
        ));
    }
    for pointer in accepted.defaults() {
        output::print_message(&format!("  default filled in: {pointer}"));
    }
    print_unchecked_rules(unchecked);
}

/// Prints every violation of a reply, each with an excerpt.
pub(crate) fn print_refused(
    contract: &Contract,
    violations: &[Violation],
    (name, reply): (&str, &[u8]),
    unchecked: &[&str],
) {
    // Without text there is nothing to quote.
    let text = std::str::from_utf8(reply).unwrap_or_default();
    for violation in violations {
        let shown = violation.span.filter(|_| !text.trim().is_empty());
        let excerpt = SourceExcerpt {
            title: &violation.message,
            code: Some(&violation.code.to_string()),
            source: Some((name, text)),
            spans: shown.map(|span| (span, None)).into_iter().collect(),
            hint: violation.hint.as_deref(),
            ..SourceExcerpt::default()
        };
        output::print_message(&excerpt.render());
        output::print_message("");
    }
    let count = count_violations(violations);
    let noun = if count == 1 { "violation" } else { "violations" };
    output::print_message(&format!(
        "{BAD}refused{BAD:#} by {}: {count} {noun}",
        format_contract_id(contract)
    ));
    print_unchecked_rules(unchecked);
}

/// Prints every violation of a submitted reply, one per line.
pub(crate) fn print_violations(violations: &[Violation]) {
    output::print_message(&format!("{BAD}refused{BAD:#}:"));
    for violation in violations {
        output::print_message(&format!("  {violation}"));
        if let Some(hint) = &violation.hint {
            output::print_message(&format!("    {DIM}{hint}{DIM:#}"));
        }
    }
}

/// Formats a refused reply with its violations as labels; violations without a location follow
/// below.
pub(crate) fn format_annotated_reply(text: &str, violations: &[Violation]) -> String {
    let count = count_violations(violations);
    let title = format!("{count} {}", if count == 1 { "violation" } else { "violations" });
    let (placed, unplaced): (Vec<_>, Vec<_>) =
        violations.iter().partition(|one| one.span.is_some() && !text.trim().is_empty());
    let spans = placed.iter().filter_map(|one| Some((one.span?, Some(one.message.as_str()))));
    SourceExcerpt {
        title: &title,
        source: Some(("the reply", text)),
        spans: spans.collect(),
        notes: unplaced.iter().map(ToString::to_string).collect(),
        ..SourceExcerpt::default()
    }
    .render()
}

/// Returns the color of a status.
pub(crate) fn status_style(status: ExecutionStatus) -> TerminalStyle {
    match status {
        ExecutionStatus::Completed => GOOD,
        ExecutionStatus::Failed => BAD,
        ExecutionStatus::Running => TerminalStyle::colour(AnsiColor::Cyan),
        ExecutionStatus::Waiting => TerminalStyle::colour(AnsiColor::Yellow),
        ExecutionStatus::Halted => TerminalStyle::colour(AnsiColor::Magenta),
    }
}

/// Formats the status of a run as one line.
pub(crate) fn format_run_status(state: &RunState) -> String {
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

/// Prints why a run makes no progress, if its waits do not explain it.
pub(crate) fn print_idle_reason(run: &str, rest: &IdleReason) {
    match rest {
        IdleReason::NeedsReply => output::print_message(&format!(
            "It needs a model, but none is configured. Name one with --model, or reply yourself: `countersign next {run}`, `countersign submit {run} FILE`."
        )),
        IdleReason::WaitingForChild(child) => {
            output::print_message(&format!(
                "It waits for run {child}: `countersign status {child}`."
            ));
        }
        IdleReason::WaitingUntil(at) => {
            output::print_message(&format!(
                "It continues at {at}: `countersign run --resume {run}`."
            ));
        }
        IdleReason::LeasedElsewhere | IdleReason::DriverStopped => {
            output::print_message("Another process is working on it.");
        }
        IdleReason::Parked => output::print_message(&format!(
            "It is parked, because workers stopped repeatedly while working on it. Resume it with `countersign resume {run}`."
        )),
        IdleReason::Ended(_) | IdleReason::Halted | IdleReason::WaitingForInput => {}
    }
}

/// Formats an open wait as one or two lines.
pub(crate) fn format_wait(run: &str, wait: &RunWait) -> String {
    let mut line = format!(
        "  {HEADING}{run}/{}{HEADING:#}  {}  {}",
        wait.id,
        wait.kind.as_str(),
        wait.question
    );
    if let Some(shape) = wait_text::describe_answer(wait) {
        line.push_str(&format!("\n    {shape}"));
    }
    if !wait.who.is_empty() {
        line.push_str(&format!("\n    for {}", format_assignees(&wait.who)));
    }
    if let Some(deadline) = wait.deadline {
        line.push_str(&format!("\n    until {deadline}"));
    }
    line
}

fn print_unchecked_rules(rules: &[&str]) {
    if !rules.is_empty() {
        let rules = rules.join(", ");
        output::print_message(&format!(
            "  not checked, because --state or --run is missing: {rules}"
        ));
    }
}

fn format_contract_id(contract: &Contract) -> String {
    format!("{} {}", contract.id, contract.version)
}
