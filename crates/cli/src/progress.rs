//! What a person sees while a run works: a line for what became true, after it was kept.

use std::sync::Mutex;

use countersign_core::json::Repair;
use countersign_core::reply::show;
use countersign_core::run::{Event, State};
use countersign_runtime::watch::Watch;

use crate::output;
use crate::show::{BAD, DIM, GOOD, HEADING};
use countersign_server::show::{effect_told, tool_told};

/// Tells progress on standard error.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// How many characters a model has written since the last line, to be told on a terminal.
    written: Mutex<usize>,
}

impl Watch for Progress {
    fn committed(&self, state: &State, events: &[Event]) {
        if let Ok(mut written) = self.written.lock() {
            if *written > 0 {
                output::passing("");
            }
            *written = 0;
        }
        for event in events {
            for line in lines(event, state) {
                output::talk(&line);
            }
        }
    }

    fn writing(&self, _: &State, _: &str, text: &str) {
        if let Ok(mut written) = self.written.lock() {
            *written += text.chars().count();
            output::passing(&format!("  … the model is writing, {written} characters"));
        }
    }

    fn warned(&self, run: &str, message: &str) {
        output::talk(&format!("  {BAD}warning{BAD:#}: run {run}: {message}"));
    }
}

/// An event in lines for people; none where it says nothing to them.
pub(crate) fn lines(event: &Event, state: &State) -> Vec<String> {
    let one = |line: String| vec![line];
    match event {
        Event::Started { workflow, .. } => {
            one(format!("run {HEADING}{}{HEADING:#} of workflow {workflow}", state.run))
        }
        Event::PhaseEntered { phase } => one(format!("{HEADING}{phase}{HEADING:#}")),
        Event::WayTaken { to, because, .. } => {
            one(format!("  {GOOD}→{GOOD:#} {to} {DIM}because {because}{DIM:#}"))
        }
        Event::ModelAsked { attempt: 1, not_before: None, .. } => {
            one("  a model is asked".to_owned())
        }
        Event::ModelAsked { not_before: Some(at), .. } => {
            one(format!("  a model is asked again at {at}"))
        }
        Event::ModelAsked { attempt, .. } => one(format!("  it is asked again, try {attempt}")),
        Event::ReplyRefused { violations, .. } => {
            let mut told = vec![format!("  {BAD}refused{BAD:#}")];
            told.extend(violations.iter().map(|violation| format!("    {violation}")));
            told
        }
        Event::ReplyAccepted { attempt, repairs, more_repairs, .. } => {
            let tries = if *attempt > 1 { format!(" on try {attempt}") } else { String::new() };
            let mended = if repairs.is_empty() {
                String::new()
            } else {
                format!(", repaired: {}", count_kinds(repairs, *more_repairs))
            };
            one(format!("  {GOOD}accepted{GOOD:#}{tries}{mended}"))
        }
        Event::DocumentChanged { patch } => patch
            .ops
            .iter()
            .map(|op| format!("    {DIM}{} {}{DIM:#}", op.verb(), op.path()))
            .collect(),
        Event::TicketsGiven { tickets } => {
            one(format!("  {DIM}ticket given: {}{DIM:#}", tickets.join(", ")))
        }
        Event::TicketsTakenBack { tickets } => {
            one(format!("  {DIM}ticket taken back: {}{DIM:#}", tickets.join(", ")))
        }
        Event::Announced { name, data } => {
            let data = data.as_ref().map_or_else(String::new, |data| format!(" {}", show(data)));
            one(format!("  {HEADING}{name}{HEADING:#}{data}"))
        }
        Event::ProviderFailed { message, .. } => {
            one(format!("  {BAD}the provider failed{BAD:#}: {message}"))
        }
        Event::GatesClosed { gates, again_at } => {
            let mut told: Vec<String> = gates
                .iter()
                .map(|gate| format!("  {DIM}closed → {}: {}{DIM:#}", gate.to, gate.reason))
                .collect();
            told.extend(again_at.map(|at| format!("  {DIM}asked again at {at}{DIM:#}")));
            told
        }
        Event::WaitOpened { wait } => {
            one(format!("  waits ({}): {}", wait.kind.as_str(), wait.question))
        }
        Event::EffectAsked { effect, .. } => one(format!("  does: {}", effect_told(effect))),
        Event::EffectFailed { message, .. } => one(format!("  {BAD}failed{BAD:#}: {message}")),
        Event::ToolAsked { call, .. } => one(format!("  uses a tool: {}", tool_told(call))),
        Event::ToolUsed { ok: false, .. } => one(format!("  {BAD}the tool could not{BAD:#}")),
        Event::HookAsked { hook, .. } => one(format!("  runs hook {hook}")),
        Event::HookAnswered { answer, .. } if answer != "ok" => {
            one(format!("  the hook says: {answer}"))
        }
        Event::ChildAsked { run, workflow, .. } => {
            one(format!("  starts run {run} of workflow {workflow}"))
        }
        Event::Halted { by, .. } => one(format!("  halted by {by}")),
        Event::Resumed { by } => one(format!("  resumed by {by}")),
        Event::Granted { budget, amount } => one(format!("  granted: {amount} more of {budget}")),
        Event::Ended { reason, .. } => {
            let why = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            one(format!("{HEADING}{}{HEADING:#}{why}", state.status().as_str()))
        }
        _ => Vec::new(),
    }
}

/// The kinds of repairs with how many there were of each, in the order of the text.
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
