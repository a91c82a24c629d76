//! Events: the facts of a run. A run is the fold of its events, and nothing else changes it.
//!
//! Events are stored permanently. Fields may be added, existing fields keep their meaning, and
//! every past version of the format stays readable ([`LOG_FORMAT`] counts them).

use std::sync::Arc;

use countersign_contract::json::Repair;
use countersign_contract::patch::Patch;
use countersign_contract::reply::Violation;
use countersign_protocol::ChannelSubscription;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::delivery::RunDelivery;
use super::effect_call::{EffectCall, ToolCall};
use super::mcp_tools::{McpToolChanges, PinnedMcpTools, UnusableMcpTool};
use super::state::{BlockReason, ClosedGate, Continuation, RunEndKind};
use super::wait::{RunWait, WaitResolution};
use super::{ForkOrigin, ParentRun, RunInput, Timestamp};

/// The version of the log format that this build writes.
pub const LOG_FORMAT: u32 = 1;

/// One fact in the log of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The run received an input. This is the first event of every version.
    InputReceived {
        /// The input, as it was decided.
        input: Box<RunInput>,
    },
    /// The run was started.
    Started {
        /// Digest of the protocol that the run is pinned to.
        protocol: String,
        /// Id of the workflow.
        workflow: String,
        /// The initial document.
        document: Value,
        /// Model to use instead of the one that agents and the index name; absent if not
        /// overridden.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The run that waits for this one; absent if nothing started it as a child.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<ParentRun>,
        /// The run and version that this run was forked from; absent if it is not a fork.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fork: Option<ForkOrigin>,
        /// Tickets that the run starts with: those held at the version it was forked from.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tickets: Vec<String>,
        /// The channels that the run is subscribed to, by the protocol and by the place where it
        /// was started.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        channels: Vec<ChannelSubscription>,
    },
    /// The workflow's `title` gave the run another title.
    TitleChanged {
        /// The new title: one bounded line.
        title: String,
    },
    /// The run entered a phase.
    PhaseEntered {
        /// Id of the phase.
        phase: String,
    },
    /// The run took a transition.
    TransitionTaken {
        /// Position among the workflow's transitions; `None` if the run moved without a transition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transition: Option<usize>,
        /// Id of the phase that the run left.
        from: String,
        /// Id of the phase that the run enters.
        to: String,
        /// Why the transition was open, for people.
        reason: String,
        /// Digest of the approved subject; absent if the transition needs no approval.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approved_subject: Option<String>,
    },
    /// A person approved, and more approvals are needed.
    ApprovalGiven {
        /// Id of the wait.
        wait: String,
        /// The person who approved.
        by: String,
        /// The stated reason; absent if none was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A person who may decide handed the decision to another.
    WaitDelegated {
        /// Id of the wait.
        wait: String,
        /// Who handed it over.
        by: String,
        /// User who may decide from now on.
        to: String,
        /// The stated reason; absent if none was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Nobody decided in time, and more people may decide.
    WaitEscalated {
        /// Id of the wait.
        wait: String,
    },
    /// Tickets were issued: a phase's work was accepted, or a transition was taken.
    TicketsIssued {
        /// Names of the issued tickets.
        tickets: Vec<String>,
    },
    /// Tickets were revoked: the work that issued them, or that they depend on, starts over.
    TicketsRevoked {
        /// Names of the revoked tickets.
        tickets: Vec<String>,
    },
    /// No transition was open.
    GatesClosed {
        /// Each closed gate with its reason.
        gates: Vec<ClosedGate>,
        /// When the gates are evaluated again; absent if no gate has a retry left.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_at: Option<Timestamp>,
    },
    /// The engine requested a model call.
    ModelRequested {
        /// Id of the action.
        action: String,
        /// Number of the attempt in this step, from 1.
        attempt: u32,
        /// Earliest time of the call; absent if it may start at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
    },
    /// The provider failed to answer a model call.
    ProviderFailed {
        /// Kind of the failure, in one word.
        failure: String,
        /// What happened, in a sentence.
        message: String,
    },
    /// A reply was refused.
    ReplyRefused {
        /// Number of the attempt in this step, from 1; 0 for a reply that a person submitted.
        attempt: u32,
        /// Every violation that was found in the reply.
        violations: Vec<Violation>,
        /// The retry message to the model; absent if there is no retry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
        /// Whether the reply called a tool with a wrong argument: that counts as a round of tool
        /// use, and not as an attempt. The default is `false`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        tool_call: bool,
    },
    /// A reply was accepted.
    ReplyAccepted {
        /// Number of the attempt in this step, from 1; 0 for a reply that a person submitted.
        attempt: u32,
        /// Repairs made while reading the reply; the list is bounded.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        repairs: Vec<Repair>,
        /// Number of further repairs that the list does not contain.
        #[serde(default, skip_serializing_if = "is_zero")]
        more_repairs: usize,
        /// Pointers at which defaults were filled in; the list is bounded.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        defaults: Vec<String>,
        /// Number of further defaults that the list does not contain.
        #[serde(default, skip_serializing_if = "is_zero")]
        more_defaults: usize,
    },
    /// The document changed.
    DocumentChanged {
        /// The change as an RFC 6902 patch.
        patch: Patch,
    },
    /// The author's own event, emitted by a change of the protocol. It changes nothing else.
    EventEmitted {
        /// Name of the event, in capitals.
        name: String,
        /// Payload of the event; absent if the author gives none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// The engine updated its own fields in the document.
    EngineFieldsUpdated {
        /// Pointer and new value of each field.
        fields: Vec<(String, Value)>,
    },
    /// Tokens, money, or a budget of the author's were spent.
    BudgetSpent {
        /// Name of the budget.
        budget: String,
        /// Amount in the unit of the budget.
        amount: u64,
    },
    /// A wait was opened.
    WaitOpened {
        /// The wait, with its id.
        wait: Box<RunWait>,
    },
    /// A wait was closed.
    WaitClosed {
        /// Id of the wait.
        wait: String,
        /// How the wait was closed.
        resolution: WaitResolution,
    },
    /// The run cannot continue without help.
    Blocked {
        /// What blocks the run.
        reason: BlockReason,
    },
    /// The next step was deferred because the run is halted or blocked.
    ContinuationDeferred {
        /// The step that follows once the run continues.
        continuation: Continuation,
    },
    /// The engine requested an effect.
    EffectRequested {
        /// Id of the action.
        action: String,
        /// Number of the attempt, from 1.
        attempt: u32,
        /// The effect to execute.
        effect: EffectCall,
        /// Earliest time of execution; absent if it may start at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
        /// The item that the effect is for; absent in a phase without `each`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<Value>,
        /// Digest of the approved call that this attempt repeats; absent if nobody approved it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approved_call: Option<String>,
    },
    /// A held call was denied, or nobody approved it in time; it is not made.
    CallDenied {
        /// Id of the action.
        action: String,
        /// Who denied it and why, in a sentence.
        reason: String,
    },
    /// An effect was executed.
    EffectFinished {
        /// Id of the action.
        action: String,
    },
    /// An effect failed.
    EffectFailed {
        /// Id of the action.
        action: String,
        /// Kind of the failure, in one word.
        failure: String,
        /// What happened, in a sentence.
        message: String,
    },
    /// The engine requested a tool call.
    ToolRequested {
        /// Id of the action.
        action: String,
        /// The call to execute.
        call: ToolCall,
    },
    /// A tool call finished.
    ToolFinished {
        /// Id of the action.
        action: String,
        /// Whether the tool succeeded.
        ok: bool,
    },
    /// The engine requested the tools of an MCP server.
    McpToolsRequested {
        /// Id of the action.
        action: String,
        /// Name of the server in the policy.
        server: String,
        /// Number of the attempt, from 1.
        attempt: u32,
        /// Earliest time of the request; absent if it may start at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
    },
    /// The tools of an MCP server were pinned for the rest of the run.
    McpToolsPinned {
        /// Id of the action.
        action: String,
        /// Name of the server in the policy.
        server: String,
        /// The tools that agents can use, with their digest.
        pinned: Arc<PinnedMcpTools>,
        /// Listed tools that no agent can use.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unusable: Vec<UnusableMcpTool>,
        /// How the tools differ from those that an earlier run of the protocol pinned; absent if
        /// they are the same, or there is no earlier run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changes: Option<McpToolChanges>,
    },
    /// The tools of an MCP server could not be listed.
    McpToolsUnavailable {
        /// Id of the action.
        action: String,
        /// Name of the server in the policy.
        server: String,
        /// Kind of the failure, in one word.
        failure: String,
        /// What happened, in a sentence.
        message: String,
    },
    /// The engine requested a hook.
    HookRequested {
        /// Id of the action.
        action: String,
        /// Id of the hook in the protocol.
        hook: String,
        /// Position of the transition that waits for the answer; `None` for a hook on entering a
        /// phase.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transition: Option<usize>,
    },
    /// A hook answered.
    HookFinished {
        /// Id of the action.
        action: String,
        /// The answer, in words.
        answer: String,
    },
    /// The engine requested a child run.
    ChildRequested {
        /// Id of the action.
        action: String,
        /// Id of the child run.
        run: String,
        /// Id of the child's workflow.
        workflow: String,
        /// What is merged into the child's initial document.
        document: Value,
        /// Nesting depth of the child; a run without a parent has depth 0.
        depth: u32,
        /// Key that distinguishes the child's item from the other items of the phase; absent
        /// without a fan-out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// The item that the child is for; absent without a fan-out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<Value>,
    },
    /// One item of a phase with `each` failed permanently.
    ItemFailed {
        /// The item that failed.
        item: Value,
        /// Key that distinguishes the item from the other items of the phase; absent if it has no
        /// child run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// What happened, in a sentence.
        message: String,
        /// Whether a person can have the item retried; if not, the phase continues without it.
        retryable: bool,
    },
    /// A child run ended.
    ChildEnded {
        /// Id of the action that started the child.
        action: String,
        /// Whether the child completed; if not, it failed or was cancelled.
        completed: bool,
    },
    /// The engine requested a notification to another run.
    NotificationRequested {
        /// Id of the action.
        action: String,
        /// Id of the run to notify.
        run: String,
        /// The content of the notification.
        notification: RunNotification,
    },
    /// The other run received the notification.
    Notified {
        /// Id of the action.
        action: String,
    },
    /// The deadline of a wait is near, and channels are told so.
    DeadlineNear {
        /// Id of the wait.
        wait: String,
        /// Names of the channels that are told.
        channels: Vec<String>,
    },
    /// The engine requested a delivery to a channel.
    DeliveryRequested {
        /// Id of the action.
        action: String,
        /// Number of the attempt, from 1.
        attempt: u32,
        /// What is delivered, and to which channel.
        delivery: Box<RunDelivery>,
        /// Earliest time of the attempt; absent if it may start at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
    },
    /// The channel accepted a delivery.
    DeliveryFinished {
        /// Id of the action.
        action: String,
    },
    /// An attempt to deliver failed.
    DeliveryFailed {
        /// Id of the action.
        action: String,
        /// Kind of the failure, in one word.
        failure: String,
        /// What happened, in a sentence.
        message: String,
        /// When the next attempt starts; absent if the delivery is given up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_at: Option<Timestamp>,
    },
    /// A person halted the run.
    Halted {
        /// Who halted it.
        by: String,
        /// The stated reason; absent if none was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person resumed a halted run.
    Resumed {
        /// Who resumed it.
        by: String,
    },
    /// A person selected the model that every agent of the run uses from now on.
    ModelSelected {
        /// Name of the model.
        model: String,
    },
    /// A person helped, and the reason that blocked the run is cleared.
    Unblocked {
        /// Who unblocked the run.
        by: String,
    },
    /// A person raised a budget.
    BudgetGranted {
        /// Name of the budget: `name`, or `name@phase`.
        budget: String,
        /// The additional amount, in the unit of the budget.
        amount: u64,
    },
    /// The run ended.
    Ended {
        /// How the run ended.
        end: RunEndKind,
        /// Why the run ended, in a sentence; absent if there is nothing to add.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A message from one run to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunNotification {
    /// To the parent: its child has ended.
    ChildEnded {
        /// Id of the parent's action that started the child.
        action: String,
    },
    /// To a child: the parent no longer needs it.
    Cancel {
        /// Why the child is cancelled, in a sentence.
        reason: String,
    },
}

impl RunEvent {
    /// The name of this event in the log.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InputReceived { .. } => "input_received",
            Self::Started { .. } => "started",
            Self::TitleChanged { .. } => "title_changed",
            Self::PhaseEntered { .. } => "phase_entered",
            Self::TransitionTaken { .. } => "transition_taken",
            Self::ApprovalGiven { .. } => "approval_given",
            Self::WaitDelegated { .. } => "wait_delegated",
            Self::WaitEscalated { .. } => "wait_escalated",
            Self::TicketsIssued { .. } => "tickets_issued",
            Self::TicketsRevoked { .. } => "tickets_revoked",
            Self::GatesClosed { .. } => "gates_closed",
            Self::ModelRequested { .. } => "model_requested",
            Self::ProviderFailed { .. } => "provider_failed",
            Self::ReplyRefused { .. } => "reply_refused",
            Self::ReplyAccepted { .. } => "reply_accepted",
            Self::DocumentChanged { .. } => "document_changed",
            Self::EventEmitted { .. } => "event_emitted",
            Self::EngineFieldsUpdated { .. } => "engine_fields_updated",
            Self::BudgetSpent { .. } => "budget_spent",
            Self::WaitOpened { .. } => "wait_opened",
            Self::WaitClosed { .. } => "wait_closed",
            Self::Blocked { .. } => "blocked",
            Self::ContinuationDeferred { .. } => "continuation_deferred",
            Self::EffectRequested { .. } => "effect_requested",
            Self::CallDenied { .. } => "call_denied",
            Self::EffectFinished { .. } => "effect_finished",
            Self::EffectFailed { .. } => "effect_failed",
            Self::ToolRequested { .. } => "tool_requested",
            Self::ToolFinished { .. } => "tool_finished",
            Self::McpToolsRequested { .. } => "mcp_tools_requested",
            Self::McpToolsPinned { .. } => "mcp_tools_pinned",
            Self::McpToolsUnavailable { .. } => "mcp_tools_unavailable",
            Self::HookRequested { .. } => "hook_requested",
            Self::HookFinished { .. } => "hook_finished",
            Self::ChildRequested { .. } => "child_requested",
            Self::ChildEnded { .. } => "child_ended",
            Self::ItemFailed { .. } => "item_failed",
            Self::NotificationRequested { .. } => "notification_requested",
            Self::Notified { .. } => "notified",
            Self::DeadlineNear { .. } => "deadline_near",
            Self::DeliveryRequested { .. } => "delivery_requested",
            Self::DeliveryFinished { .. } => "delivery_finished",
            Self::DeliveryFailed { .. } => "delivery_failed",
            Self::Halted { .. } => "halted",
            Self::Resumed { .. } => "resumed",
            Self::ModelSelected { .. } => "model_selected",
            Self::Unblocked { .. } => "unblocked",
            Self::BudgetGranted { .. } => "budget_granted",
            Self::Ended { .. } => "ended",
        }
    }
}
