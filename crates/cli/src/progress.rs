//! Progress messages while a run executes: one line per event, printed after the commit.

use std::sync::Mutex;

use countersign_contract::json::Repair;
use countersign_contract::reply::format_value;
use countersign_run::{RunEvent, RunState};
use countersign_runtime::run_observer::RunObserver;

use crate::output;
use crate::render::{BAD, DIM, GOOD, HEADING};
use countersign_view::show::{describe_effect, describe_tool_call};

/// Prints progress to standard error.
#[derive(Debug, Default)]
pub(crate) struct ProgressPrinter {
    /// The number of characters that a model has produced since the last line; shown on a terminal.
    written_chars: Mutex<usize>,
}

impl RunObserver for ProgressPrinter {
    fn on_commit(&self, state: &RunState, events: &[RunEvent]) {
        if let Ok(mut written) = self.written_chars.lock() {
            if *written > 0 {
                output::print_transient("");
            }
            *written = 0;
        }
        for event in events {
            for line in format_event(event, state) {
                output::print_message(&line);
            }
        }
    }

    fn on_model_text(&self, _: &RunState, _: &str, text: &str) {
        if let Ok(mut written) = self.written_chars.lock() {
            *written += text.chars().count();
            output::print_transient(&format!("  … the model is writing, {written} characters"));
        }
    }

    fn on_warning(&self, run: &str, message: &str) {
        output::print_message(&format!("  {BAD}warning{BAD:#}: run {run}: {message}"));
    }
}

/// Formats an event as lines for people; empty if the event is not relevant to them.
pub(crate) fn format_event(event: &RunEvent, state: &RunState) -> Vec<String> {
    let one = |line: String| vec![line];
    match event {
        RunEvent::Started { workflow, .. } => {
            one(format!("run {HEADING}{}{HEADING:#} of workflow {workflow}", state.run))
        }
        RunEvent::PhaseEntered { phase } => one(format!("{HEADING}{phase}{HEADING:#}")),
        RunEvent::TransitionTaken { to, reason: because, .. } => {
            one(format!("  {GOOD}→{GOOD:#} {to} {DIM}because {because}{DIM:#}"))
        }
        RunEvent::ModelRequested { attempt: 1, not_before: None, .. } => {
            one("  asking a model".to_owned())
        }
        RunEvent::ModelRequested { not_before: Some(at), .. } => one(format!("  retrying at {at}")),
        RunEvent::ModelRequested { attempt, .. } => one(format!("  retrying (attempt {attempt})")),
        RunEvent::ReplyRefused { violations, .. } => {
            let mut lines = vec![format!("  {BAD}refused{BAD:#}")];
            lines.extend(violations.iter().map(|violation| format!("    {violation}")));
            lines
        }
        RunEvent::ReplyAccepted { attempt, repairs, more_repairs, .. } => {
            let tries = if *attempt > 1 { format!(" on attempt {attempt}") } else { String::new() };
            let mended = if repairs.is_empty() {
                String::new()
            } else {
                format!(", repaired: {}", count_kinds(repairs, *more_repairs))
            };
            one(format!("  {GOOD}accepted{GOOD:#}{tries}{mended}"))
        }
        RunEvent::DocumentChanged { patch } => patch
            .ops
            .iter()
            .map(|op| format!("    {DIM}{} {}{DIM:#}", op.verb(), op.path()))
            .collect(),
        RunEvent::TicketsIssued { tickets } => {
            one(format!("  {DIM}ticket issued: {}{DIM:#}", tickets.join(", ")))
        }
        RunEvent::TicketsRevoked { tickets } => {
            one(format!("  {DIM}ticket revoked: {}{DIM:#}", tickets.join(", ")))
        }
        RunEvent::EventEmitted { name, data } => {
            let data =
                data.as_ref().map_or_else(String::new, |data| format!(" {}", format_value(data)));
            one(format!("  {HEADING}{name}{HEADING:#}{data}"))
        }
        RunEvent::ProviderFailed { message, .. } => {
            one(format!("  {BAD}the provider failed{BAD:#}: {message}"))
        }
        RunEvent::GatesClosed { gates, retry_at: again_at } => {
            let mut lines: Vec<String> = gates
                .iter()
                .map(|gate| format!("  {DIM}closed → {}: {}{DIM:#}", gate.to, gate.reason))
                .collect();
            lines.extend(again_at.map(|at| format!("  {DIM}checking again at {at}{DIM:#}")));
            lines
        }
        RunEvent::WaitOpened { wait } => {
            one(format!("  waiting ({}): {}", wait.kind.as_str(), wait.question))
        }
        RunEvent::EffectRequested { effect, .. } => {
            one(format!("  effect: {}", describe_effect(effect)))
        }
        RunEvent::EffectFailed { message, .. } => one(format!("  {BAD}failed{BAD:#}: {message}")),
        RunEvent::ToolRequested { call, .. } => {
            one(format!("  tool call: {}", describe_tool_call(call)))
        }
        RunEvent::ToolFinished { ok: false, .. } => {
            one(format!("  {BAD}the tool call failed{BAD:#}"))
        }
        RunEvent::HookRequested { hook, .. } => one(format!("  running hook {hook}")),
        RunEvent::HookFinished { answer, .. } if answer != "ok" => {
            one(format!("  hook result: {answer}"))
        }
        RunEvent::ChildRequested { run, workflow, .. } => {
            one(format!("  starting run {run} of workflow {workflow}"))
        }
        RunEvent::Halted { by, .. } => one(format!("  halted by {by}")),
        RunEvent::Resumed { by } => one(format!("  resumed by {by}")),
        RunEvent::ModelSelected { model } => one(format!("  continuing with model {model}")),
        RunEvent::BudgetGranted { budget, amount } => {
            one(format!("  granted: {amount} more of {budget}"))
        }
        RunEvent::Ended { reason, .. } => {
            let why = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            one(format!("{HEADING}{}{HEADING:#}{why}", state.status().as_str()))
        }
        RunEvent::CallDenied { reason, .. } => one(format!("  {BAD}not made{BAD:#}: {reason}")),
        _ => format_service_event(event),
    }
}

/// Formats an event of an MCP server or a channel; empty for all others.
fn format_service_event(event: &RunEvent) -> Vec<String> {
    let one = |line: String| vec![line];
    match event {
        RunEvent::McpToolsRequested { server, .. } => {
            one(format!("  listing the tools of MCP server {server}"))
        }
        RunEvent::McpToolsPinned { server, pinned, unusable, changes, .. } => {
            let mut lines = vec![format!("  MCP server {server}: {} tools", pinned.tools.len())];
            lines.extend(unusable.iter().map(|tool| {
                format!("  {BAD}unusable{BAD:#}: {server}.{}: {}", tool.name, tool.reason)
            }));
            lines.extend(changes.iter().map(|changes| {
                let what = changes.describe();
                format!("  {BAD}changed{BAD:#} since run {}: {what}", changes.run)
            }));
            lines
        }
        RunEvent::McpToolsUnavailable { message, .. } => {
            one(format!("  {BAD}failed{BAD:#}: {message}"))
        }
        RunEvent::DeliveryRequested { delivery, attempt: 1, .. } => one(format!(
            "  {DIM}delivering {} to channel {}{DIM:#}",
            delivery.event.as_str(),
            delivery.channel
        )),
        RunEvent::DeliveryFailed { message, retry_at: None, .. } => {
            one(format!("  {BAD}delivery given up{BAD:#}: {message}"))
        }
        RunEvent::DeliveryFailed { message, .. } => {
            one(format!("  {DIM}delivery failed, retrying later: {message}{DIM:#}"))
        }
        _ => Vec::new(),
    }
}

/// Lists the kinds of repairs with their counts, in text order.
fn count_kinds(repairs: &[Repair], more: usize) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for repair in repairs {
        let name = repair.kind.as_str();
        match kinds.iter_mut().find(|(kind, _)| *kind == name) {
            Some((_, count)) => *count += repair.count,
            None => kinds.push((name, repair.count)),
        }
    }
    let show = |&(kind, count): &(&str, usize)| match count {
        1 => kind.to_owned(),
        _ => format!("{kind} ×{count}"),
    };
    let mut shown: Vec<String> = kinds.iter().map(show).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}
