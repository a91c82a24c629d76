//! Events: what is now true. A run is the fold of its events, and nothing else changes it.
//!
//! Stored for ever: a field may be added, one that is there keeps its meaning, and every past
//! version stays readable (`FORMAT` counts them).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::effect_call::{EffectCall, ToolCall};
use super::state::{BlockReason, ClosedGate, Continuation, RunEndKind};
use super::wait::{RunWait, WaitResolution};
use super::{ForkOrigin, ParentRun, RunInput, Timestamp};
use crate::json::Repair;
use crate::patch::Patch;
use crate::reply::Violation;

/// The version of the format that is written.
pub const LOG_FORMAT: u32 = 1;

/// A fact of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// Something came in. The first event of every version.
    Received {
        /// What.
        input: Box<RunInput>,
    },
    /// The run exists.
    Started {
        /// The digest of its protocol.
        protocol: String,
        /// Its workflow.
        workflow: String,
        /// Its document.
        document: Value,
        /// The model that is asked, whatever agents and index say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The run that waits for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<ParentRun>,
        /// What it was forked from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fork: Option<ForkOrigin>,
        /// The tickets it begins with: those that the version it was forked from held.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tickets: Vec<String>,
    },
    /// A phase was entered.
    PhaseEntered {
        /// Which.
        phase: String,
    },
    /// A way was taken.
    WayTaken {
        /// Its position among the workflow's transitions; `Empty` where no transition led there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        way: Option<usize>,
        /// From where.
        from: String,
        /// Where to.
        to: String,
        /// What opened it.
        because: String,
    },
    /// Tickets were given: a phase's work was accepted, or a way was taken.
    TicketsGiven {
        /// Which.
        tickets: Vec<String>,
    },
    /// Tickets were taken back: the work that gave them, or that they rest on, begins anew.
    TicketsTakenBack {
        /// Which.
        tickets: Vec<String>,
    },
    /// No way was open.
    GatesClosed {
        /// Each gate, and why.
        gates: Vec<ClosedGate>,
        /// When they are asked again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        again_at: Option<Timestamp>,
    },
    /// A model is to be asked.
    ModelAsked {
        /// The order.
        action: String,
        /// Which try of this step.
        attempt: u32,
        /// Not before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
    },
    /// A provider failed.
    ProviderFailed {
        /// What kind of failure.
        failure: String,
        /// A sentence.
        message: String,
    },
    /// A reply was refused.
    ReplyRefused {
        /// Which try of this step; 0 where a person handed it in.
        attempt: u32,
        /// Everything wrong with it.
        violations: Vec<Violation>,
        /// What the model is told; absent where it is not asked again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<String>,
    },
    /// A reply was accepted.
    ReplyAccepted {
        /// Which try of this step; 0 where a person handed it in.
        attempt: u32,
        /// What was mended on the way.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        repairs: Vec<Repair>,
        /// How many repairs more there were than the list keeps.
        #[serde(default, skip_serializing_if = "is_zero")]
        more_repairs: usize,
        /// Where defaults were filled in.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        defaults: Vec<String>,
        /// How many defaults more there were than the list keeps.
        #[serde(default, skip_serializing_if = "is_zero")]
        more_defaults: usize,
    },
    /// The document changed.
    DocumentChanged {
        /// How.
        patch: Patch,
    },
    /// The author of the protocol has the log say this; nothing else changes.
    Announced {
        /// Its name, in capitals.
        name: String,
        /// What it says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// The engine's own places in the document changed.
    Stamped {
        /// Place and value.
        places: Vec<(String, Value)>,
    },
    /// Tokens, money, or a budget of the author's were spent.
    Spent {
        /// From which.
        budget: String,
        /// How much.
        amount: u64,
    },
    /// A wait was opened.
    WaitOpened {
        /// It.
        wait: Box<RunWait>,
    },
    /// A wait ended.
    WaitClosed {
        /// Which.
        wait: String,
        /// How.
        closing: WaitResolution,
    },
    /// The run cannot go on until somebody helps.
    Blocked {
        /// By what.
        blocked: BlockReason,
    },
    /// What comes next was put off: the run is halted or blocked.
    Held {
        /// It.
        next: Continuation,
    },
    /// An effect is to be done.
    EffectAsked {
        /// The order.
        action: String,
        /// Which try.
        attempt: u32,
        /// What.
        effect: EffectCall,
        /// Not before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
        /// The item that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<Value>,
    },
    /// An effect was done.
    EffectDone {
        /// The order.
        action: String,
    },
    /// An effect failed.
    EffectFailed {
        /// The order.
        action: String,
        /// What kind of failure.
        failure: String,
        /// A sentence.
        message: String,
    },
    /// A tool is to be used.
    ToolAsked {
        /// The order.
        action: String,
        /// What for.
        call: ToolCall,
    },
    /// A tool was used.
    ToolUsed {
        /// The order.
        action: String,
        /// Whether it could do what was asked.
        ok: bool,
    },
    /// A hook is to be run.
    HookAsked {
        /// The order.
        action: String,
        /// Its id.
        hook: String,
        /// The way that is held until it answers; `Empty` where a phase was entered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        way: Option<usize>,
    },
    /// A hook answered.
    HookAnswered {
        /// The order.
        action: String,
        /// In words.
        answer: String,
    },
    /// A child run is to be started.
    ChildAsked {
        /// The order.
        action: String,
        /// Its id.
        run: String,
        /// Its workflow.
        workflow: String,
        /// What is merged into its first document.
        document: Value,
        /// How deep it stands.
        depth: u32,
        /// What tells its item from the others of the phase.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// The item that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<Value>,
    },
    /// An item of a phase that does the same for each of several failed for good.
    ItemFailed {
        /// It.
        item: Value,
        /// What tells its item from the others of the phase.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// What happened, in a sentence.
        what: String,
        /// Whether it is tried again when somebody says so; else the phase goes on without it.
        again: bool,
    },
    /// A child run ended.
    ChildEnded {
        /// The order.
        action: String,
        /// Whether it reached its end.
        completed: bool,
    },
    /// Another run is to be told something.
    TellAsked {
        /// The order.
        action: String,
        /// Whom.
        run: String,
        /// What.
        tell: RunNotification,
    },
    /// It was told.
    Told {
        /// The order.
        action: String,
    },
    /// A person stopped the run.
    Halted {
        /// Who.
        by: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person let it go on.
    Resumed {
        /// Who.
        by: String,
    },
    /// A person helped: what blocked the run does so no more.
    Unblocked {
        /// Who.
        by: String,
    },
    /// More of a budget was granted.
    Granted {
        /// Of which.
        budget: String,
        /// How much more.
        amount: u64,
    },
    /// The run is over.
    Ended {
        /// How.
        end: RunEndKind,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What one run tells another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "snake_case")]
pub enum RunNotification {
    /// The parent: its child has ended.
    ChildEnded {
        /// The parent's order.
        action: String,
    },
    /// A child: it is not needed any more.
    Cancel {
        /// Why.
        reason: String,
    },
}

impl RunEvent {
    /// The word that the log has for it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Received { .. } => "received",
            Self::Started { .. } => "started",
            Self::PhaseEntered { .. } => "phase_entered",
            Self::WayTaken { .. } => "way_taken",
            Self::TicketsGiven { .. } => "tickets_given",
            Self::TicketsTakenBack { .. } => "tickets_taken_back",
            Self::GatesClosed { .. } => "gates_closed",
            Self::ModelAsked { .. } => "model_asked",
            Self::ProviderFailed { .. } => "provider_failed",
            Self::ReplyRefused { .. } => "reply_refused",
            Self::ReplyAccepted { .. } => "reply_accepted",
            Self::DocumentChanged { .. } => "document_changed",
            Self::Announced { .. } => "announced",
            Self::Stamped { .. } => "stamped",
            Self::Spent { .. } => "spent",
            Self::WaitOpened { .. } => "wait_opened",
            Self::WaitClosed { .. } => "wait_closed",
            Self::Blocked { .. } => "blocked",
            Self::Held { .. } => "held",
            Self::EffectAsked { .. } => "effect_asked",
            Self::EffectDone { .. } => "effect_done",
            Self::EffectFailed { .. } => "effect_failed",
            Self::ToolAsked { .. } => "tool_asked",
            Self::ToolUsed { .. } => "tool_used",
            Self::HookAsked { .. } => "hook_asked",
            Self::HookAnswered { .. } => "hook_answered",
            Self::ChildAsked { .. } => "child_asked",
            Self::ChildEnded { .. } => "child_ended",
            Self::ItemFailed { .. } => "item_failed",
            Self::TellAsked { .. } => "tell_asked",
            Self::Told { .. } => "told",
            Self::Halted { .. } => "halted",
            Self::Resumed { .. } => "resumed",
            Self::Unblocked { .. } => "unblocked",
            Self::Granted { .. } => "granted",
            Self::Ended { .. } => "ended",
        }
    }
}
