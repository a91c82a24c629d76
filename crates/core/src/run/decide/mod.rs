//! Deciding: what an input means for a run. Pure and total: a bad reply is data, a bad input is told
//! back, and nothing here can fail for reasons outside.
//!
//! ```text
//! input ──► Received ──► what it means (a file a kind) ──► phases, gates ──► Stamped
//! ```
//!
//! `Deciding` folds each event as it makes it, so that whatever comes later sees what is true by then.

mod deciding;
mod bounds;
mod given;
mod phases;
mod gates;
mod ways;
mod tickets;
mod models;
mod tools;
mod items;
mod asked;
mod questions;
mod persons;
mod effects;
mod hooks;
mod children;
mod budgets;
mod clock;
mod outcomes;
mod writing;
mod stamps;

use std::collections::BTreeSet;

use super::event::Event;
use super::input::{Incoming, Input};
use super::{Pending, Rejection, State};
use crate::protocol::Protocol;
use bounds::{admit_input, fail_result};
use deciding::Deciding;
use phases::MOST_MOVES;

pub use clock::{next_alarm, next_alarm_after};
pub use models::hand_in;
pub use tools::tool_calls;

/// What an input comes to: the events, and the run after them.
#[derive(Debug)]
pub struct Step {
    /// In order; the first is what came in.
    pub events: Vec<Event>,
    /// The fold of the state before and the events.
    pub state: State,
}

/// Decides what an input means.
///
/// What is recorded is the input within the bounds of `limits`, at a time not before the last one's.
pub fn decide(protocol: &Protocol, state: &State, input: &Input) -> Result<Step, Rejection> {
    decide_within_bounds(protocol, state, input).map(|decided| decided.0)
}

/// Decides, and tells which files were asked for that the input does not name. A decision whose events
/// cannot be recorded is made again as a failure of what came in.
fn decide_within_bounds(
    protocol: &Protocol,
    state: &State,
    input: &Input,
) -> Result<(Step, BTreeSet<String>), Rejection> {
    let input = &*admit_input(state, input)?;
    let over = match deciding(protocol, state, input)?.finish() {
        Ok(decided) => return Ok(decided),
        Err(over) => over,
    };
    let failed = fail_result(&input.what, &over).map(|what| Input { what, ..input.clone() });
    let again = match (&input.what, &failed) {
        (Incoming::ModelReplied(reply), _) => {
            let mut deciding = Deciding::of_run(protocol, state, input)?;
            deciding.refuse_oversize(reply, &over);
            deciding.finish()
        }
        (_, Some(failed)) => deciding(protocol, state, failed)?.finish(),
        (Incoming::Ticked | Incoming::Told { .. }, None) => Err(over.clone()),
        (_, None) => return Err(over.into()),
    };
    match again {
        Ok(decided) => Ok(decided),
        Err(_) => {
            Ok((Deciding::of_run(protocol, state, input)?.fail_oversize(&over), BTreeSet::new()))
        }
    }
}

/// Names in an input the files that gates ask for on the way, as `exists` tells them.
///
/// A path may have places to fill from what the input itself writes, so it is known only while deciding:
/// the input is decided until nothing more is asked for. It has its time already; a rejected one asks
/// for nothing more.
pub fn see_files(
    protocol: &Protocol,
    state: &State,
    input: &mut Input,
    exists: impl Fn(&str) -> bool,
) {
    // Each round names one more file at least, and no decision takes more ways than this.
    for _ in 0..MOST_MOVES {
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

fn deciding<'p>(
    protocol: &'p Protocol,
    state: &'p State,
    input: &'p Input,
) -> Result<Deciding<'p>, Rejection> {
    let pinned = &state.protocol;
    if !pinned.is_empty() && *pinned != protocol.digest {
        let (pinned, given) = (pinned.clone(), protocol.digest.clone());
        return Err(Rejection::OtherProtocol { pinned, given });
    }
    if let Incoming::Start(start) = &input.what
        && start.protocol != protocol.digest
    {
        let (pinned, given) = (start.protocol.clone(), protocol.digest.clone());
        return Err(Rejection::OtherProtocol { pinned, given });
    }
    admissible(state, &input.what)?;
    let mut deciding = match &input.what {
        Incoming::Start(start) => Deciding::of_start(protocol, state, input, start)?,
        _ => Deciding::of_run(protocol, state, input)?,
    };
    match &input.what {
        Incoming::Start(start) => deciding.start(start)?,
        Incoming::ModelReplied(reply) => deciding.replied(reply),
        Incoming::ModelFailed { failure, message, retryable, retry_after, .. } => {
            deciding.model_failed(failure, message, *retryable, *retry_after);
        }
        Incoming::Submitted { text, by } => deciding.submitted(text, by)?,
        Incoming::Answered { wait, value, by } => deciding.answered(wait, value, by)?,
        Incoming::Decided { wait, approve, by, note } => {
            deciding.decided(wait, *approve, by, note.as_ref())?;
        }
        Incoming::Ticked => deciding.ticked()?,
        Incoming::EffectFinished { action, result } => {
            deciding.effect_finished(state, action, result);
        }
        Incoming::EffectFailed { action, failure, message, retryable } => {
            deciding.effect_failed(state, action, failure, message, *retryable);
        }
        Incoming::ToolFinished { action, ok, .. } => deciding.tool_finished(action, *ok),
        Incoming::HookFinished { action, answer } => deciding.hook_finished(state, action, answer),
        Incoming::ChildEnded { action, completed, reason, document } => {
            deciding.child_ended(state, action, *completed, reason.as_deref(), document);
        }
        Incoming::Told { action } => deciding.emit(Event::Told { action: action.clone() }),
        Incoming::Halted { by, reason } => {
            deciding.emit(Event::Halted { by: by.clone(), reason: reason.clone() });
        }
        Incoming::Resumed { by, grants } => deciding.resumed(by, grants),
        Incoming::Cancelled { by, reason } => deciding.cancelled(by, reason.as_deref()),
    }
    Ok(deciding)
}

/// What can be told from the state alone, before anything is recorded.
fn admissible(state: &State, what: &Incoming) -> Result<(), Rejection> {
    let started = state.version > 0;
    match what {
        Incoming::Start(_) if started => return Err(Rejection::AlreadyStarted),
        Incoming::Start(_) => return Ok(()),
        _ if !started => return Err(Rejection::NotStarted),
        _ => {}
    }
    if let Some((_, reason)) = &state.end
        && !matches!(what, Incoming::Told { .. })
    {
        let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        return Err(Rejection::Ended { how: format!("{}{reason}", state.status().as_str()) });
    }
    if let (Some(action), Some(came)) = (what.action(), what.order()) {
        let action = action.to_owned();
        match state.pending.get(&action).map(Pending::kind) {
            None => return Err(Rejection::UnknownOrder { action }),
            Some(kind) if kind != came => {
                return Err(Rejection::WrongOrder { action, kind, came });
            }
            Some(_) => {}
        }
    }
    match what {
        Incoming::Halted { .. } if state.halted.is_some() => Err(Rejection::AlreadyHalted),
        Incoming::Resumed { grants, .. }
            if state.halted.is_none()
                && state.blocked.is_none()
                && grants.is_empty()
                && state.closed.is_empty() =>
        {
            Err(Rejection::NothingToResume { status: state.status().as_str() })
        }
        _ => Ok(()),
    }
}
