//! Deciding: what an input means for a run. Pure and total: a bad reply is data, a bad input is told
//! back, and nothing here can fail for reasons outside.
//!
//! ```text
//! input ──► Received ──► what it means (a file a kind) ──► phases, gates ──► Stamped
//! ```
//!
//! `RunDecision` folds each event as it makes it, so that whatever comes later sees what is true by then.

mod run_decision;
mod size_limits;
mod start_input;
mod phases;
mod transitions;
mod transition_changes;
mod ticket_changes;
mod models;
mod tools;
mod for_each_items;
mod question_wait;
mod questions;
mod approvals;
mod effects;
mod hooks;
mod children;
mod budget_checks;
mod timers;
mod settle_failure;
mod document_update;
mod engine_fields;

use std::collections::BTreeSet;

use super::event::RunEvent;
use super::input::{InputKind, RunInput};
use super::{InputRejection, PendingAction, RunState};
use crate::protocol::Protocol;
use phases::MAX_MOVES;
use run_decision::RunDecision;
use size_limits::{admit_input, fail_result};

pub use models::manual_patch_contract;
pub use timers::{next_alarm, next_alarm_after};
pub use tools::tool_calls_contract;

/// What an input comes to: the events, and the run after them.
#[derive(Debug)]
pub struct DecisionOutcome {
    /// In order; the first is what came in.
    pub events: Vec<RunEvent>,
    /// The fold of the state before and the events.
    pub state: RunState,
}

/// Decides what an input means.
///
/// What is recorded is the input within the bounds of `limits`, at a time not before the last one's.
pub fn decide(
    protocol: &Protocol,
    state: &RunState,
    input: &RunInput,
) -> Result<DecisionOutcome, InputRejection> {
    decide_within_bounds(protocol, state, input).map(|decided| decided.0)
}

/// Decides, and tells which files were asked for that the input does not name. A decision whose events
/// cannot be recorded is made again as a failure of what came in.
fn decide_within_bounds(
    protocol: &Protocol,
    state: &RunState,
    input: &RunInput,
) -> Result<(DecisionOutcome, BTreeSet<String>), InputRejection> {
    let input = &*admit_input(state, input)?;
    let over = match decide_input(protocol, state, input)?.finish() {
        Ok(decided) => return Ok(decided),
        Err(over) => over,
    };
    let failed = fail_result(&input.what, &over).map(|what| RunInput { what, ..input.clone() });
    let again = match (&input.what, &failed) {
        (InputKind::ModelReplied(reply), _) => {
            let mut decision = RunDecision::for_run(protocol, state, input)?;
            let next = decision.refuse_oversize(reply, &over);
            decision.run_continuations(next);
            decision.finish()
        }
        (_, Some(failed)) => decide_input(protocol, state, failed)?.finish(),
        (InputKind::Ticked | InputKind::Told { .. }, None) => Err(over.clone()),
        (_, None) => return Err(over.into()),
    };
    match again {
        Ok(decided) => Ok(decided),
        Err(_) => Ok((
            RunDecision::for_run(protocol, state, input)?.fail_oversize(&over),
            BTreeSet::new(),
        )),
    }
}

/// Names in an input the files that gates ask for on the way, as `exists` tells them.
///
/// A path may have places to fill from what the input itself writes, so it is known only while deciding:
/// the input is decided until nothing more is asked for. It has its time already; a rejected one asks
/// for nothing more.
pub fn record_file_presence(
    protocol: &Protocol,
    state: &RunState,
    input: &mut RunInput,
    exists: impl Fn(&str) -> bool,
) {
    // Each round names one more file at least, and no decision takes more ways than this.
    for _ in 0..MAX_MOVES {
        let Ok((_, unseen)) = decide_within_bounds(protocol, state, input) else { return };
        if unseen.is_empty() {
            return;
        }
        input.files.extend(unseen.into_iter().map(|path| {
            let there = exists(&path);
            (path, there)
        }));
    }
}

fn decide_input<'p>(
    protocol: &'p Protocol,
    state: &'p RunState,
    input: &'p RunInput,
) -> Result<RunDecision<'p>, InputRejection> {
    let pinned = &state.protocol;
    if !pinned.is_empty() && *pinned != protocol.digest {
        let (pinned, given) = (pinned.clone(), protocol.digest.clone());
        return Err(InputRejection::OtherProtocol { pinned, actual: given });
    }
    if let InputKind::Start(start) = &input.what
        && start.protocol != protocol.digest
    {
        let (pinned, given) = (start.protocol.clone(), protocol.digest.clone());
        return Err(InputRejection::OtherProtocol { pinned, actual: given });
    }
    check_admissible(state, &input.what)?;
    let mut decision = match &input.what {
        InputKind::Start(start) => RunDecision::for_start(protocol, state, input, start)?,
        _ => RunDecision::for_run(protocol, state, input)?,
    };
    let next = match &input.what {
        InputKind::Start(start) => decision.start_run(start)?,
        InputKind::ModelReplied(reply) => decision.handle_model_reply(reply),
        InputKind::ModelFailed { failure, message, retryable, retry_after, .. } => {
            decision.handle_model_failed(failure, message, *retryable, *retry_after)
        }
        InputKind::Submitted { text, by } => decision.handle_manual_patch(text, by)?,
        InputKind::Answered { wait, value, by } => decision.handle_answer(wait, value, by)?,
        InputKind::Decided { wait, approve, by, note } => {
            decision.handle_approval(wait, *approve, by, note.as_ref())?
        }
        InputKind::Ticked => decision.handle_tick()?,
        InputKind::EffectFinished { action, result } => {
            decision.handle_effect_finished(state, action, result)
        }
        InputKind::EffectFailed { action, failure, message, retryable } => {
            decision.handle_effect_failed(state, action, failure, message, *retryable)
        }
        InputKind::ToolFinished { action, ok, .. } => decision.handle_tool_finished(action, *ok),
        InputKind::HookFinished { action, answer } => {
            decision.handle_hook_finished(state, action, answer)
        }
        InputKind::ChildEnded { action, completed, reason, document } => {
            decision.handle_child_ended(state, action, *completed, reason.as_deref(), document)
        }
        InputKind::Told { action } => {
            decision.emit(RunEvent::Told { action: action.clone() });
            None
        }
        InputKind::Halted { by, reason } => {
            decision.emit(RunEvent::Halted { by: by.clone(), reason: reason.clone() });
            None
        }
        InputKind::Resumed { by, grants } => decision.handle_resume(by, grants),
        InputKind::Cancelled { by, reason } => decision.handle_cancel(by, reason.as_deref()),
    };
    decision.run_continuations(next);
    Ok(decision)
}

/// What can be told from the state alone, before anything is recorded.
fn check_admissible(state: &RunState, what: &InputKind) -> Result<(), InputRejection> {
    let started = state.version > 0;
    match what {
        InputKind::Start(_) if started => return Err(InputRejection::AlreadyStarted),
        InputKind::Start(_) => return Ok(()),
        _ if !started => return Err(InputRejection::NotStarted),
        _ => {}
    }
    if let Some((_, reason)) = &state.end
        && !matches!(what, InputKind::Told { .. })
    {
        let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        return Err(InputRejection::Ended { how: format!("{}{reason}", state.status().as_str()) });
    }
    if let (Some(action), Some(came)) = (what.action(), what.action_kind()) {
        let action = action.to_owned();
        match state.pending.get(&action).map(PendingAction::kind) {
            None => return Err(InputRejection::UnknownOrder { action }),
            Some(kind) if kind != came => {
                return Err(InputRejection::WrongOrder { action, kind, received: came });
            }
            Some(_) => {}
        }
    }
    match what {
        InputKind::Halted { .. } if state.halted.is_some() => Err(InputRejection::AlreadyHalted),
        InputKind::Resumed { grants, .. }
            if state.halted.is_none()
                && state.blocked.is_none()
                && grants.is_empty()
                && state.closed.is_empty() =>
        {
            Err(InputRejection::NothingToResume { status: state.status().as_str() })
        }
        _ => Ok(()),
    }
}
