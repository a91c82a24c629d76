//! Decides what an input means for a run: [`decide`] takes the pinned protocol, the run's state and
//! an input, and returns the events to record and the state after them.
//!
//! `decide` is pure and total. It reads no clock, file or network; a bad reply becomes events, and
//! a bad input is rejected with an [`InputRejection`] that changes nothing.
//!
//! ```text
//! RunInput
//!    │   size_limits: apply the size limits, correct the time
//!    ▼
//! decide_input: reject inputs that do not fit the state, emit `Received`, dispatch by kind
//!    │
//!    ▼
//! handler of the kind ──► Option<Continuation> ◄────────────┐
//!                                  │                        │
//!                                  ▼                        │
//!                    RunDecision::run_continuations ──► next handler
//!                                  │ None: the run waits or has ended
//!                                  ▼
//!                    engine_fields: emit `Stamped`, return the `DecisionOutcome`
//! ```
//!
//! Every handler emits its events and returns the next [`Continuation`](super::Continuation).
//! `None` means that the run waits for something outside, or has ended. No handler runs a
//! continuation itself: the loop in `run_decision` does, and it keeps the continuation of a halted
//! run for later. `RunDecision` applies each event to its state as it emits it, so every later step
//! sees the current state.
//!
//! A model's reply passes through these files:
//!
//! 1. `size_limits` measures the input. A reply that is too large becomes a failed model call.
//! 2. `models` charges the usage to the budgets, admits the text under the contract of the phase
//!    and emits `ReplyAccepted`, or emits `ReplyRefused` and calls the model again. `tools` handles
//!    a reply that requests tools.
//! 3. `document_update` turns the accepted value into a patch within the authority of the phase.
//! 4. `ticket_changes` issues the tickets of the phase and returns `Continuation::Leave`.
//! 5. `transitions` evaluates the gates and picks the first open transition. `hooks` requests the
//!    exit hook if the phase has one; the run then waits for its answer.
//! 6. `phases` moves the run to the next phase (`transition_changes` has the changes of the
//!    transition) and starts its work: `models`, `questions`, `effects` or `children`.
//! 7. `engine_fields` updates the engine-owned fields of the document and ends the decision.
//!
//! The other handlers: `approvals` for approve, deny, resume and cancel; `timers` for deadlines and
//! timeouts; `deliveries` for what channels are told; `start_input` for the document and input of a new run. `budget_checks` runs before
//! an action, a question or a move: it returns `ControlFlow<Option<Continuation>>`, and `Break`
//! carries what the run does instead. `settle_failure` applies the failure handlers of the protocol.

mod run_decision;
mod size_limits;
mod start_input;
mod phases;
mod transitions;
mod transition_changes;
mod ticket_changes;
mod models;
mod tools;
mod mcp_tools;
mod for_each_items;
mod question_wait;
mod questions;
mod approval_subject;
mod approvals;
mod call_approvals;
mod deciders;
mod effects;
mod hooks;
mod children;
mod budget_checks;
mod timers;
mod deliveries;
mod settle_failure;
mod document_update;
mod engine_fields;

use std::collections::BTreeSet;

use countersign_protocol::Protocol;

use super::event::RunEvent;
use super::input::{InputKind, RunInput};
use super::{InputRejection, PendingAction, RunState};
use phases::MAX_MOVES;
use run_decision::RunDecision;
use size_limits::{admit_input, fail_result};

pub(crate) use approval_subject::{compute_subject_digest, find_transition};
pub use call_approvals::compute_call_digest;
pub use deciders::check_assignee;
pub use models::manual_patch_contract;
pub use timers::{next_alarm, next_alarm_after};
pub use tools::{mcp_tool_calls_contract, tool_calls_contract};

/// Result of [`decide`]: the events to record, and the state of the run after them.
#[derive(Debug)]
pub struct DecisionOutcome {
    /// The events in the order in which they apply; the first one records the input.
    pub events: Vec<RunEvent>,
    /// The state before the decision, with all events applied.
    pub state: RunState,
}

/// Decides what an input means for a run.
///
/// The recorded input is within the bounds of `limits`, and its time is not before the time of the
/// run's last input.
pub fn decide(
    protocol: &Protocol,
    state: &RunState,
    input: &RunInput,
) -> Result<DecisionOutcome, InputRejection> {
    tracing::trace!(
        phase = state.phase,
        version = state.version,
        "checking that the run can take the input"
    );
    decide_within_bounds(protocol, state, input).map(|decided| decided.0)
}

/// Files that a decision depends on, and that its input tells nothing of.
#[derive(Debug, Default, PartialEq)]
struct MissingFileFacts {
    /// Paths of files that gates check.
    unchecked: BTreeSet<String>,
    /// Paths of files that subjects of approvals include.
    undigested: BTreeSet<String>,
}

/// Looks at files of the workspace on behalf of a decision.
pub trait FileProbe {
    /// Whether there is a file or a folder at a path.
    fn exists(&self, path: &str) -> bool;

    /// SHA-256 of a file; `None` if there is no such file, or it is too large to be signed.
    fn digest(&self, path: &str) -> Option<String>;
}

/// Decides an input, and also returns the facts about files that the input does not have.
///
/// If an event exceeds a size limit, the decision is repeated: an oversize reply is refused, any
/// other result of an action is treated as a failure of that action. If that exceeds a limit too,
/// the run fails.
fn decide_within_bounds(
    protocol: &Protocol,
    state: &RunState,
    input: &RunInput,
) -> Result<(DecisionOutcome, MissingFileFacts), InputRejection> {
    let input = &*admit_input(state, input)?;
    let over = match decide_input(protocol, state, input)?.finish() {
        Ok(decided) => return Ok(decided),
        Err(over) => over,
    };
    let failed =
        fail_result(&input.payload, &over).map(|what| RunInput { payload: what, ..input.clone() });
    let again = match (&input.payload, &failed) {
        (InputKind::ModelReplied(reply), _) => {
            let mut decision = RunDecision::for_run(protocol, state, input)?;
            let next = decision.refuse_oversize(reply, &over);
            decision.run_continuations(next);
            decision.finish()
        }
        (_, Some(failed)) => decide_input(protocol, state, failed)?.finish(),
        (
            InputKind::Ticked
            | InputKind::Notified { .. }
            | InputKind::DeliveryFinished { .. }
            | InputKind::DeliveryFailed { .. },
            None,
        ) => Err(over.clone()),
        (_, None) => return Err(over.into()),
    };
    match again {
        Ok(decided) => Ok(decided),
        Err(_) => Ok((
            RunDecision::for_run(protocol, state, input)?.fail_oversize(&over),
            MissingFileFacts::default(),
        )),
    }
}

/// Records in an input the facts about files that its decision depends on: which files exist that
/// gates check, and the digests of the files that approvals show.
///
/// A path may be a template that reads what the input itself writes, so it is known only during the
/// decision. The function therefore decides the input repeatedly until no fact is missing.
/// The caller must have set the time of the input. If the input is rejected, no more facts are
/// recorded.
pub fn record_file_facts(
    protocol: &Protocol,
    state: &RunState,
    input: &mut RunInput,
    probe: &impl FileProbe,
) {
    // Each round adds at least one fact, and no decision takes more transitions than this.
    for _ in 0..MAX_MOVES {
        let Ok((_, missing)) = decide_within_bounds(protocol, state, input) else { return };
        if missing == MissingFileFacts::default() {
            return;
        }
        for path in missing.unchecked {
            let there = probe.exists(&path);
            input.files.insert(path, there);
        }
        for path in missing.undigested {
            let digest = probe.digest(&path);
            input.file_digests.insert(path, digest);
        }
    }
}

/// Checks an input against the protocol and the state, runs the handler of its kind, and then all
/// continuations that follow.
fn decide_input<'p>(
    protocol: &'p Protocol,
    state: &'p RunState,
    input: &'p RunInput,
) -> Result<RunDecision<'p>, InputRejection> {
    let pinned = &state.protocol;
    if !pinned.is_empty() && *pinned != protocol.digest {
        let (pinned, actual) = (pinned.clone(), protocol.digest.clone());
        return Err(InputRejection::ProtocolMismatch { pinned, actual });
    }
    if let InputKind::Start(start) = &input.payload
        && start.protocol != protocol.digest
    {
        let (pinned, actual) = (start.protocol.clone(), protocol.digest.clone());
        return Err(InputRejection::ProtocolMismatch { pinned, actual });
    }
    check_admissible(state, &input.payload)?;
    let mut decision = match &input.payload {
        InputKind::Start(start) => RunDecision::for_start(protocol, state, input, start)?,
        _ => RunDecision::for_run(protocol, state, input)?,
    };
    let next = match &input.payload {
        InputKind::Start(start) => decision.start_run(start)?,
        InputKind::ModelReplied(reply) => decision.handle_model_reply(reply),
        InputKind::ModelFailed { failure, message, retryable, retry_after, .. } => {
            decision.handle_model_failed(failure, message, *retryable, *retry_after)
        }
        InputKind::ManualPatch { text, by } => decision.handle_manual_patch(text, by)?,
        InputKind::Answered { wait, value, by } => decision.handle_answer(wait, value, by)?,
        InputKind::ApprovalDecided { wait, approve, by, note, subject } => {
            decision.handle_approval(wait, *approve, by, note.as_ref(), subject.as_ref())?
        }
        InputKind::Delegated { wait, to, by, note } => {
            decision.handle_delegation(wait, to, by, note.as_ref())?
        }
        InputKind::Ticked => decision.handle_tick()?,
        InputKind::EffectFinished { action, result } => {
            decision.handle_effect_finished(state, action, result)
        }
        InputKind::EffectFailed { action, failure, message, retryable } => {
            decision.handle_effect_failed(state, action, failure, message, *retryable)
        }
        InputKind::ToolFinished { action, ok, .. } => decision.handle_tool_finished(action, *ok),
        InputKind::McpToolsListed { action, tools, changes } => {
            decision.handle_mcp_tools_listed(state, action, tools, changes.as_ref())
        }
        InputKind::McpToolsUnavailable { action, failure, message, retryable } => {
            decision.handle_mcp_tools_unavailable(state, action, failure, message, *retryable)
        }
        InputKind::HookFinished { action, answer } => {
            decision.handle_hook_finished(state, action, answer)
        }
        InputKind::ChildEnded { action, completed, reason, document } => {
            decision.handle_child_ended(state, action, *completed, reason.as_deref(), document)
        }
        InputKind::Notified { action } => {
            decision.emit(RunEvent::Notified { action: action.clone() });
            None
        }
        InputKind::DeliveryFinished { action } => {
            decision.emit(RunEvent::DeliveryFinished { action: action.clone() });
            None
        }
        InputKind::DeliveryFailed { action, failure, message, retry_in } => {
            decision.handle_delivery_failed(action, failure, message, *retry_in);
            None
        }
        InputKind::Halted { by, reason } => {
            decision.emit(RunEvent::Halted { by: by.clone(), reason: reason.clone() });
            None
        }
        InputKind::Resumed { by, grants } => decision.handle_resume(by, grants),
        InputKind::ModelSelected { model, by } => decision.handle_model_selected(model, by),
        InputKind::Cancelled { by, reason } => decision.handle_cancel(by, reason.as_deref()),
    };
    decision.run_continuations(next);
    Ok(decision)
}

/// Rejects inputs that do not fit the state, before any event is emitted.
fn check_admissible(state: &RunState, input: &InputKind) -> Result<(), InputRejection> {
    let started = state.version > 0;
    match input {
        InputKind::Start(_) if started => return Err(InputRejection::AlreadyStarted),
        InputKind::Start(_) => return Ok(()),
        _ if !started => return Err(InputRejection::NotStarted),
        _ => {}
    }
    if let Some((_, reason)) = &state.end
        && !matches!(
            input,
            InputKind::Notified { .. }
                | InputKind::DeliveryFinished { .. }
                | InputKind::DeliveryFailed { .. }
        )
    {
        let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        return Err(InputRejection::Ended { end: format!("{}{reason}", state.status().as_str()) });
    }
    if let (Some(action), Some(received)) = (input.action(), input.action_kind()) {
        let action = action.to_owned();
        match state.pending.get(&action).map(PendingAction::kind) {
            None => return Err(InputRejection::UnknownAction { action }),
            Some(kind) if kind != received => {
                return Err(InputRejection::WrongActionKind { action, kind, received });
            }
            Some(_) if state.is_held(&action) => {
                return Err(InputRejection::CallHeld { action });
            }
            Some(_) => {}
        }
    }
    match input {
        InputKind::Halted { .. } if state.halted.is_some() => Err(InputRejection::AlreadyHalted),
        InputKind::Resumed { grants, .. }
            if state.halted.is_none()
                && state.blocked.is_none()
                && grants.is_empty()
                && state.closed_gates.is_empty() =>
        {
            Err(InputRejection::NothingToResume { status: state.status().as_str() })
        }
        _ => Ok(()),
    }
}
