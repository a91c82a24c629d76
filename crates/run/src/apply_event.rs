//! The fold: applies one event to a run state. Live runs, recovery and replay share it.

use std::sync::Arc;

use countersign_contract::json;
use countersign_contract::patch::PatchError;
use countersign_protocol::PresentationFormat;
use serde_json::{Map, Value};
use thiserror::Error;

use super::event::RunEvent;
use super::input::{InputKind, RunStart};
use super::pending_action::PendingAction;
use super::run_title::{clean_title, collect_input_text, excerpt_title};
use super::state::{
    ApprovalDecision, BlockReason, LastReply, ModelStep, PromptMessage, PromptRole, RunState,
    ToolUse,
};
use super::wait::{ApprovalVote, RunWait, WaitDelegation, WaitKind, WaitResolution};
use super::{FailedItem, ItemProgress, RunInput};

/// The actor recorded when a deadline passes without an answer.
pub(super) const DEADLINE_ACTOR: &str = "the deadline";

/// The log contains something that no decision can have written.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CorruptLogError {
    /// A recorded patch does not apply to the document.
    #[error("event {seq}: its patch cannot be applied to the document: {source}")]
    Patch {
        /// Number of the event in the run, from 1.
        seq: u64,
        /// Why the patch does not apply.
        source: PatchError,
    },
    /// An event refers to an action or a wait that does not exist.
    #[error("event {seq}: `{kind}` names `{what}`, which does not exist")]
    UnknownReference {
        /// Number of the event in the run, from 1.
        seq: u64,
        /// Kind of the event, as [`RunEvent::kind`] returns it.
        kind: &'static str,
        /// The id that the event refers to.
        what: String,
    },
    /// An event does not carry the next number of the run.
    #[error("expected event {expected}, found event {found}")]
    OutOfOrder {
        /// The number that should come next.
        expected: u64,
        /// The number that the log has.
        found: u64,
    },
    /// The text of an entry cannot be parsed, or the entry belongs to another run or a newer
    /// format.
    #[error("event {seq} cannot be read: {message}")]
    Unreadable {
        /// Number of the first event of the entry.
        seq: u64,
        /// Why the entry cannot be read.
        message: String,
    },
    /// The hash of an entry does not follow from the hash before it.
    #[error(
        "version {version} does not continue the hash chain: expected hash {expected}, found {found}"
    )]
    HashMismatch {
        /// Version of the run that the entry records.
        version: u64,
        /// The hash computed from the previous hash and the text.
        expected: String,
        /// The hash stored with the entry.
        found: String,
    },
    /// A column stored with an entry contradicts the body of the entry.
    #[error("version {version}: its row says {what} {row_value}, but its body says {body_value}")]
    RowMismatch {
        /// Version that the body gives.
        version: u64,
        /// Name of the column: `version`, `last event` or `time`.
        what: &'static str,
        /// The value in the column.
        row_value: u64,
        /// The value in the body.
        body_value: u64,
    },
}

/// Applies one event to the state.
#[expect(clippy::too_many_lines, reason = "one arm an event: the whole fold on one page")]
pub fn apply(state: &mut RunState, event: &RunEvent) -> Result<(), CorruptLogError> {
    state.seq += 1;
    let seq = state.seq;
    let unknown = |what: &str| CorruptLogError::UnknownReference {
        seq,
        kind: event.kind(),
        what: what.to_owned(),
    };
    match event {
        RunEvent::InputReceived { input } => {
            state.version += 1;
            state.updated_at = input.time;
            record_author(state, input);
            if let Some(action) = input.payload.action() {
                state.pending.remove(action).ok_or_else(|| unknown(action))?;
                state.approved_calls.remove(action);
            }
            if let InputKind::Start(start) = &input.payload {
                state.title = start_title(start);
                state.started_by.clone_from(&start.by);
                state.continues.clone_from(&start.continues);
                state.input_text = start.input.as_ref().map(collect_input_text).unwrap_or_default();
            }
            if let InputKind::ModelReplied(reply) = &input.payload {
                state.usage.add(&reply.usage);
            }
            if let InputKind::ModelReplied(reply) = &input.payload
                && let Some(step) = &mut state.step
            {
                step.provider_failures = 0;
                step.packet_build.clone_from(&reply.packet_build);
                step.messages
                    .push(PromptMessage { role: PromptRole::Assistant, text: reply.text.clone() });
            }
            if let InputKind::ToolFinished { action, ok, output } = &input.payload {
                let tools = state.step.iter_mut().flat_map(|step| &mut step.tools);
                if let Some(used) = tools.into_iter().find(|used| used.action == *action) {
                    used.outcome = Some((*ok, output.clone()));
                }
            }
        }
        RunEvent::Started {
            protocol,
            workflow,
            document,
            model,
            parent,
            fork,
            tickets,
            channels,
        } => {
            state.created_at = state.updated_at;
            state.protocol.clone_from(protocol);
            state.workflow.clone_from(workflow);
            state.document = Arc::new(document.clone());
            state.model.clone_from(model);
            state.parent.clone_from(parent);
            state.fork.clone_from(fork);
            state.tickets = tickets.iter().cloned().collect();
            state.channels.clone_from(channels);
        }
        RunEvent::TitleChanged { title } => state.title.clone_from(title),
        RunEvent::PhaseEntered { phase } => {
            state.phase.clone_from(phase);
            state.entered_at = state.updated_at;
            state.item_progress = ItemProgress::default();
            state.step = None;
            state.closed_gates.clear();
            state.retry_at = None;
            state.blocked = None;
            state.continuation = None;
            state.decisions.clear();
            drop_pending_actions(state);
            spend(state, &format!("loops@{phase}"), 1);
        }
        RunEvent::TransitionTaken { .. } | RunEvent::EventEmitted { .. } => {}
        RunEvent::ApprovalGiven { wait, by, note } => {
            let approval = state.waits.get_mut(wait).and_then(|wait| wait.approval.as_mut());
            let approval = approval.ok_or_else(|| unknown(wait))?;
            approval.votes.push(ApprovalVote { by: by.clone(), note: note.clone() });
            state.approvers.insert(by.clone());
        }
        RunEvent::WaitDelegated { wait, by, to, note } => {
            let approval = state.waits.get_mut(wait).and_then(|wait| wait.approval.as_mut());
            let approval = approval.ok_or_else(|| unknown(wait))?;
            let (by, to, note) = (by.clone(), to.clone(), note.clone());
            approval.delegations.push(WaitDelegation { by, to, note });
        }
        RunEvent::WaitEscalated { wait } => {
            let open = state.waits.get_mut(wait).ok_or_else(|| unknown(wait))?;
            let approval = open.approval.as_mut().ok_or_else(|| unknown(wait))?;
            approval.escalate_at = None;
            open.who.append(&mut approval.escalate_to);
        }
        RunEvent::TicketsIssued { tickets } => state.tickets.extend(tickets.iter().cloned()),
        RunEvent::TicketsRevoked { tickets } => {
            state.tickets.retain(|ticket| !tickets.contains(ticket));
        }
        RunEvent::GatesClosed { gates, retry_at: again_at } => {
            state.closed_gates.clone_from(gates);
            state.retry_at = *again_at;
        }
        RunEvent::ModelRequested { action, attempt, not_before } => {
            let step = state.step.get_or_insert_with(ModelStep::default);
            step.attempt = *attempt;
            if !step.tools.is_empty() {
                let text = format_tool_results(&std::mem::take(&mut step.tools));
                step.messages.push(PromptMessage { role: PromptRole::User, text });
            }
            state.model_calls += 1;
            spend(state, &format!("calls@{}", state.phase), 1);
            state.pending.insert(action.clone(), PendingAction::Model { not_before: *not_before });
        }
        RunEvent::ProviderFailed { .. } => {
            state.step.get_or_insert_with(ModelStep::default).provider_failures += 1;
        }
        RunEvent::ReplyRefused { violations, feedback, tool_call, .. } => {
            // A patch submitted by hand belongs to no step.
            if let Some(step) = &mut state.step {
                if *tool_call {
                    step.tool_rounds += 1;
                } else {
                    step.violations.clone_from(violations);
                }
                if let Some(feedback) = feedback {
                    step.messages
                        .push(PromptMessage { role: PromptRole::User, text: feedback.clone() });
                }
            }
        }
        RunEvent::ReplyAccepted { attempt, repairs, more_repairs, .. } => {
            let (phase, repairs) = (state.phase.clone(), repairs.len() + more_repairs);
            state.last_reply = Some(LastReply { phase, attempt: *attempt, repairs });
            state.step = None;
            if let Some(BlockReason::Incident { .. }) = state.blocked.take() {
                state.item_progress.reset_failed();
            }
            state.continuation = None;
        }
        RunEvent::DocumentChanged { patch } => {
            let document = Arc::make_mut(&mut state.document);
            patch.apply(document).map_err(|source| CorruptLogError::Patch { seq, source })?;
        }
        RunEvent::EngineFieldsUpdated { fields } => {
            let document = Arc::make_mut(&mut state.document);
            for (at, value) in fields {
                set_at_pointer(document, at, value);
            }
        }
        RunEvent::BudgetSpent { budget, amount } => {
            spend(state, budget, *amount);
            spend(state, &format!("{budget}@{}", state.phase), *amount);
        }
        RunEvent::WaitOpened { wait } => {
            state.waits_opened += 1;
            if matches!(wait.kind, WaitKind::Question | WaitKind::Document) {
                spend(state, "questions", 1);
                spend(state, &format!("questions@{}", state.phase), 1);
            }
            if let (Some(action), Some(subject)) = (&wait.action, &wait.subject) {
                state.held_calls.insert(action.clone(), subject.digest.clone());
            }
            state.waits.insert(wait.id.clone(), (**wait).clone());
        }
        RunEvent::WaitClosed { wait, resolution: closing } => {
            let closed = state.waits.remove(wait).ok_or_else(|| unknown(wait))?;
            let decided = match closing {
                WaitResolution::Approved { by, note } => Some((true, by.as_str(), note.clone())),
                WaitResolution::Denied { by, note } => Some((false, by.as_str(), note.clone())),
                WaitResolution::Expired => Some((false, DEADLINE_ACTOR, None)),
                WaitResolution::Answered { .. }
                | WaitResolution::Superseded
                | WaitResolution::Dropped => None,
            };
            if let Some((approve, by, note)) = decided {
                if approve {
                    remember_approved_values(state, &closed);
                }
                let subject = closed.subject.map(|subject| subject.digest);
                let votes = closed.approval.map_or_else(Vec::new, |approval| approval.votes);
                if approve && closed.kind == WaitKind::Approval {
                    state.approvers.insert(by.to_owned());
                    state.approvers.extend(votes.iter().map(|vote| vote.by.clone()));
                }
                if approve && let Some(action) = &closed.action {
                    let digest = state.held_calls.remove(action).ok_or_else(|| unknown(action))?;
                    state.approved_calls.insert(action.clone(), digest);
                }
                let by = join_names(votes.iter().map(|vote| vote.by.as_str()).chain([by]));
                if let Some(transition) = closed.transition {
                    let decision = ApprovalDecision { approve, by, note, subject, seq };
                    state.decisions.insert(transition, decision);
                }
            }
        }
        RunEvent::Blocked { reason: blocked } => {
            state.blocked = Some(blocked.clone());
            state.closed_gates.clear();
            state.retry_at = None;
            // Resuming starts the work again, so the run no longer waits for actions requested
            // before.
            if matches!(blocked, BlockReason::Incident { .. } | BlockReason::MissingTicket { .. }) {
                drop_pending_actions(state);
            }
        }
        RunEvent::ContinuationDeferred { continuation } => {
            state.continuation = Some(continuation.clone());
        }
        RunEvent::EffectRequested { action, attempt, effect, not_before, item, approved_call } => {
            let (attempt, effect, not_before) = (*attempt, effect.clone(), *not_before);
            let order = PendingAction::Effect { attempt, effect, not_before, item: item.clone() };
            state.pending.insert(action.clone(), order);
            if let Some(digest) = approved_call {
                state.approved_calls.insert(action.clone(), digest.clone());
            }
        }
        RunEvent::CallDenied { action, reason } => {
            state.pending.remove(action).ok_or_else(|| unknown(action))?;
            state.held_calls.remove(action).ok_or_else(|| unknown(action))?;
            let tools = state.step.iter_mut().flat_map(|step| &mut step.tools);
            if let Some(used) = tools.into_iter().find(|used| used.action == *action) {
                used.outcome = Some((false, reason.clone()));
            }
        }
        RunEvent::ToolRequested { action, call } => {
            let step = state.step.get_or_insert_with(ModelStep::default);
            if step.tools.iter().all(|used| used.outcome.is_some()) {
                step.tools.clear();
                step.tool_rounds += 1;
            }
            let (action, call) = (action.clone(), call.clone());
            step.tools.push(ToolUse { action: action.clone(), call: call.clone(), outcome: None });
            state.pending.insert(action, PendingAction::Tool { call });
        }
        RunEvent::McpToolsRequested { action, server, attempt, not_before } => {
            let (server, attempt, not_before) = (server.clone(), *attempt, *not_before);
            let order = PendingAction::ListMcpTools { server, attempt, not_before };
            state.pending.insert(action.clone(), order);
        }
        RunEvent::McpToolsPinned { server, pinned, .. } => {
            state.mcp_tools.insert(server.clone(), Arc::clone(pinned));
        }
        RunEvent::HookRequested { action, hook, transition } => {
            if transition.is_some() {
                state.closed_gates.clear();
                state.retry_at = None;
            }
            let order = PendingAction::Hook { hook: hook.clone(), transition: *transition };
            state.pending.insert(action.clone(), order);
        }
        RunEvent::ChildRequested { action, run, workflow, document, depth, key, item } => {
            state.item_progress.started.extend(key.clone());
            let (run, workflow, document) = (run.clone(), workflow.clone(), document.clone());
            let (depth, key, item) = (*depth, key.clone(), item.clone());
            let order = PendingAction::Child { run, workflow, document, depth, key, item };
            state.pending.insert(action.clone(), order);
        }
        RunEvent::ItemFailed { item, key, message: what, retryable: again } => {
            state.item_progress.started.extend(key.clone());
            if *again {
                let (item, key, what) = (item.clone(), key.clone(), what.clone());
                state.item_progress.failed.push(FailedItem { item, key, message: what });
            } else {
                state.item_progress.skipped += 1;
            }
        }
        RunEvent::NotificationRequested { action, run, notification: tell } => {
            let order = PendingAction::Notify { run: run.clone(), notification: tell.clone() };
            state.pending.insert(action.clone(), order);
        }
        RunEvent::DeadlineNear { wait, channels } => {
            let open = state.waits.get_mut(wait).ok_or_else(|| unknown(wait))?;
            open.reminders.retain(|channel, _| !channels.contains(channel));
        }
        RunEvent::DeliveryRequested { action, attempt, delivery, not_before } => {
            let (attempt, delivery, not_before) = (*attempt, delivery.clone(), *not_before);
            let order = PendingAction::Delivery { attempt, delivery, not_before };
            state.pending.insert(action.clone(), order);
        }
        RunEvent::DeliveryFinished { .. }
        | RunEvent::DeliveryFailed { .. }
        | RunEvent::EffectFinished { .. }
        | RunEvent::EffectFailed { .. }
        | RunEvent::ToolFinished { .. }
        | RunEvent::McpToolsUnavailable { .. }
        | RunEvent::HookFinished { .. }
        | RunEvent::ChildEnded { .. }
        | RunEvent::Notified { .. } => {}
        RunEvent::Halted { by, reason } => state.halted = Some((by.clone(), reason.clone())),
        RunEvent::Resumed { .. } => {
            state.halted = None;
            // After a denial, approval may be requested again.
            state.decisions.retain(|_, decision| decision.approve);
            if state.blocked.is_none() {
                state.continuation = None;
            }
        }
        RunEvent::ModelSelected { model } => state.model = Some(model.clone()),
        RunEvent::Unblocked { .. } => {
            state.continuation = None;
            match state.blocked.take() {
                // Every attempt was refused, so the step starts over.
                Some(BlockReason::Refused) => state.step = None,
                Some(BlockReason::Incident { .. }) => state.item_progress.reset_failed(),
                Some(BlockReason::Budget { .. } | BlockReason::MissingTicket { .. }) | None => {}
            }
        }
        RunEvent::BudgetGranted { budget, amount } => {
            let granted = state.granted.entry(budget.clone()).or_default();
            *granted = granted.saturating_add(*amount);
        }
        RunEvent::Ended { end, reason } => {
            state.end = Some((*end, reason.clone()));
            drop_pending_actions(state);
            state.item_progress = ItemProgress::default();
            state.step = None;
            state.ended_at = Some(state.updated_at);
            state.closed_gates.clear();
            state.retry_at = None;
            state.blocked = None;
            state.continuation = None;
            state.halted = None;
        }
    }
    Ok(())
}

/// Applies a document change whose result is already known. The caller applied the patch to a copy,
/// so it need not be applied again.
pub(super) fn apply_known_document(state: &mut RunState, document: Value) {
    state.seq += 1;
    state.document = Arc::new(document);
}

/// The title that a run starts with: that of the run it comes from, else an excerpt of its input.
fn start_title(start: &RunStart) -> String {
    if let Some(title) = &start.title {
        return clean_title(title);
    }
    let mut excerpts = start.input.iter().chain(&start.document).map(excerpt_title);
    excerpts.find(|title| !title.is_empty()).unwrap_or_default()
}

/// Records under which names a person acted, for approvals by somebody else.
fn record_author(state: &mut RunState, input: &RunInput) {
    let sender = match &input.payload {
        InputKind::Start(start) => start.sender.as_ref(),
        _ => input.sender.as_ref(),
    };
    let principal = sender.and_then(|sender| sender.principal.as_deref());
    let names = input.payload.author().into_iter().chain(principal).map(str::to_owned);
    match &input.payload {
        InputKind::Start(start) => {
            state.starters.extend(names);
            state.authors.extend(start.prior_authors.iter().cloned());
        }
        // A reply with a sender was written by a person in place of the model.
        InputKind::ModelReplied(_) if sender.is_none() => {}
        InputKind::ModelReplied(_) | InputKind::ManualPatch { .. } | InputKind::Answered { .. } => {
            state.authors.extend(names);
        }
        InputKind::ApprovalDecided { approve: true, .. } => {
            state.approvers.extend(principal.map(str::to_owned));
        }
        _ => {}
    }
}

/// Records the approved values that a later approval shows as a difference.
fn remember_approved_values(state: &mut RunState, wait: &RunWait) {
    let compared =
        wait.presented.iter().filter(|part| part.format == Some(PresentationFormat::Difference));
    for part in compared {
        if let Some(value) = state.document.pointer(&part.pointer) {
            state.approved_values.insert(part.pointer.clone(), value.clone());
        }
    }
}

/// Joins names for a sentence, each once.
fn join_names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut joined: Vec<&str> = Vec::new();
    for name in names {
        if !joined.contains(&name) {
            joined.push(name);
        }
    }
    joined.join(", ")
}

/// Discards pending actions; their results are rejected from now on. Messages to other runs and to
/// channels stay pending.
fn drop_pending_actions(state: &mut RunState) {
    state.pending.retain(|_, order| order.is_message());
    state.held_calls.clear();
    state.approved_calls.clear();
}

/// Renders the results of the requested tools as the next message to the model.
fn format_tool_results(tools: &[ToolUse]) -> String {
    let mut text = String::new();
    for used in tools {
        let (ok, output) =
            used.outcome.as_ref().map_or((false, ""), |(ok, out)| (*ok, out.as_str()));
        let how = if ok { "gave" } else { "could not be used" };
        let call = used.call.to_model_json();
        text.push_str(&format!("{call} {how}:\n{}\n\n", output.trim_end()));
    }
    text.push_str("Go on.");
    text
}

fn spend(state: &mut RunState, budget: &str, amount: u64) {
    match state.spent.get_mut(budget) {
        Some(spent) => *spent = spent.saturating_add(amount),
        None => {
            state.spent.insert(budget.to_owned(), amount);
        }
    }
}

/// Sets an engine-owned field, creating missing parent objects.
pub(super) fn set_at_pointer(document: &mut Value, at: &str, value: &Value) {
    let mut target = document;
    for segment in json::split_pointer(at) {
        if !target.is_object() {
            *target = Value::Object(Map::new());
        }
        let Value::Object(members) = target else { return };
        target = members.entry(segment.into_owned()).or_insert(Value::Null);
    }
    target.clone_from(value);
}
