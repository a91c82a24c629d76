//! The state of a run at one version: the fold of its events so far. Only [`apply`](super::apply)
//! changes it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_contract::reply::Violation;
use countersign_protocol::ChannelSubscription;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::apply_event::DEADLINE_ACTOR;
use super::compute_call_digest;
use super::effect_call::ToolCall;
use super::mcp_tools::PinnedMcpTools;
use super::pending_action::PendingAction;
use super::wait::RunWait;
use super::{
    ContinuedRun, ExecutionStatus, ForkOrigin, ItemProgress, ParentRun, ReplyUsage, Timestamp,
};

/// The state of a run at one version. A snapshot is this value as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// Id of the run.
    pub run: String,
    /// Number of inputs that the run has accepted.
    pub version: u64,
    /// Number of events in the log.
    pub seq: u64,
    /// When the run was started.
    pub created_at: Timestamp,
    /// When the last accepted input arrived.
    pub updated_at: Timestamp,
    /// Digest of the protocol that the run is pinned to.
    pub protocol: String,
    /// Id of the workflow.
    pub workflow: String,
    /// The title of the run in lists: one line, empty if nothing gives one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Texts of the input that the run was started with, for search; bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub input_text: String,
    /// Model to use instead of the one that agents and the index name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The run that waits for this one; absent if nothing started it as a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentRun>,
    /// The run and version that this run was forked from; absent if it is not a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkOrigin>,
    /// The run whose conversation this one continues; absent if it begins one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<ContinuedRun>,
    /// The channels that the run is subscribed to, by name; fixed when it starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelSubscription>,
    /// The run's document.
    pub document: Arc<Value>,
    /// Id of the current phase.
    pub phase: String,
    /// When the current phase was entered.
    pub entered_at: Timestamp,
    /// Progress of the current phase through its items.
    #[serde(default, skip_serializing_if = "ItemProgress::is_empty")]
    pub item_progress: ItemProgress,
    /// The model step in progress; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<ModelStep>,
    /// Requested actions without a result, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pending: BTreeMap<String, PendingAction>,
    /// Open waits, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub waits: BTreeMap<String, RunWait>,
    /// Number of waits opened so far; the next wait gets the next number.
    #[serde(default)]
    pub waits_opened: u64,
    /// Gates that were closed at the last evaluation in this phase, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed_gates: Vec<ClosedGate>,
    /// When the gates are evaluated again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// What blocks the run until a person helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<BlockReason>,
    /// The step that follows once the run is unblocked or resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuation: Option<Continuation>,
    /// Decisions on manual gates in this phase, by position of the transition.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub decisions: BTreeMap<usize, ApprovalDecision>,
    /// The user who started the run; absent if nobody is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<String>,
    /// Names of whoever started the run, for approvals by somebody else.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub starters: BTreeSet<String>,
    /// Names of everybody who wrote a reply, a patch or an answer.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub authors: BTreeSet<String>,
    /// Names of everybody who approved something.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub approvers: BTreeSet<String>,
    /// Values that were approved last and are shown as a difference, by pointer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub approved_values: BTreeMap<String, Value>,
    /// Digests of the calls that wait for an approval, by action. They are pending, and nobody
    /// executes them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub held_calls: BTreeMap<String, String>,
    /// Digests of the pending calls that were approved, by action.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub approved_calls: BTreeMap<String, String>,
    /// Tools of MCP servers that agents may use, by server, as they were first listed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp_tools: BTreeMap<String, Arc<PinnedMcpTools>>,
    /// Tickets that the run holds: issued by phases and transitions, and not revoked since.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tickets: BTreeSet<String>,
    /// Amounts spent: under `name` for the run, under `name@phase` for a phase.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spent: BTreeMap<String, u64>,
    /// Amounts granted beyond the limits, by budget.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub granted: BTreeMap<String, u64>,
    /// Tokens and cost of all replies so far.
    #[serde(default, skip_serializing_if = "ReplyUsage::is_zero")]
    pub usage: ReplyUsage,
    /// How the last accepted reply was obtained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reply: Option<LastReply>,
    /// Number of model calls requested so far.
    #[serde(default)]
    pub model_calls: u64,
    /// Who halted the run, and the stated reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halted: Option<(String, Option<String>)>,
    /// How the run ended, and the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<(RunEndKind, Option<String>)>,
    /// When the run ended; absent while it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

/// A model step: the call, refusals and retries until a reply is accepted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelStep {
    /// Number of the current or last attempt, from 1.
    pub attempt: u32,
    /// Rounds of tool use in this step so far.
    #[serde(default)]
    pub tool_rounds: u32,
    /// Consecutive provider failures; a reply resets it to 0.
    #[serde(default)]
    pub provider_failures: u32,
    /// Messages exchanged after the first prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<PromptMessage>,
    /// Violations found in the last reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
    /// Tools called in this round with their results, in the order in which the model requested
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolUse>,
    /// Id of the memory packet build that the last reply was based on. The model's tool calls may
    /// contain content of that packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_build: Option<String>,
}

/// One message in the conversation with a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptMessage {
    /// Who wrote the message.
    pub role: PromptRole,
    /// The text of the message.
    pub text: String,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptRole {
    /// The engine, on behalf of the protocol.
    User,
    /// The model that is called.
    Assistant,
}

/// A requested tool call and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// Id of the action.
    pub action: String,
    /// The call that the model requested.
    pub call: ToolCall,
    /// Whether the tool succeeded, and the text that the agent sees; `None` until the result
    /// arrives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<(bool, String)>,
}

/// A closed gate and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedGate {
    /// Position of its transition among the workflow's transitions.
    pub transition: usize,
    /// Id of the phase that the transition leads to.
    pub to: String,
    /// Why the gate is closed, in a sentence.
    pub reason: String,
    /// Number of times the gate was evaluated again.
    #[serde(default)]
    pub attempts: u32,
    /// When the gate is evaluated again; each gate has its own schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
}

/// The next step of a halted or blocked run. It is stored so that continuing repeats no finished
/// work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Continuation {
    /// Run the entry hook of the current phase, then start its work.
    BeginPhase,
    /// Start the work of the current phase.
    BeginWork,
    /// Call the model.
    RequestModel {
        /// Number of the attempt in this step, from 1.
        attempt: u32,
    },
    /// Execute the tool calls that the model requested.
    RequestTools {
        /// The calls, in the order in which the model requested them.
        calls: Vec<ToolCall>,
    },
    /// Ask these questions.
    AskQuestions {
        /// Ids of the questions that are asked once.
        ids: Vec<String>,
        /// Questions that are asked per item, each with its item.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<QuestionItem>,
    },
    /// Execute the phase's effect for these items.
    RequestEffects {
        /// Values of the items.
        items: Vec<Value>,
    },
    /// Apply the failure handler of a model step whose attempts were all refused.
    HandleRefusal {
        /// What happened, in a sentence.
        message: String,
    },
    /// The work is done: evaluate the gates.
    ChooseTransition,
    /// Take a transition.
    TakeTransition {
        /// Position among the workflow's transitions.
        transition: usize,
        /// Why the transition is open, for people.
        reason: String,
    },
    /// Enter a phase.
    MoveToPhase {
        /// Position of the transition that leads there; `None` if the run moves without a
        /// transition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transition: Option<usize>,
        /// Id of the phase to enter.
        to: String,
        /// Why the run moves there, for people.
        reason: String,
    },
}

/// A question that is asked per item, and one of its items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionItem {
    /// Id of the question in the protocol file.
    pub question: String,
    /// Value of the item.
    pub item: Value,
}

/// What blocks a run until a person helps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BlockReason {
    /// A budget is spent.
    Budget {
        /// Name of the budget: `name`, or `name@phase`.
        budget: String,
        /// Limit of the budget, in its unit.
        limit: u64,
    },
    /// Every attempt of the model step was refused.
    Refused,
    /// The next phase needs a ticket that the run does not hold.
    MissingTicket {
        /// Id of the phase.
        phase: String,
        /// Name of the missing ticket.
        ticket: String,
    },
    /// An incident: an effect, a child run, a hook or a deadline failed permanently.
    Incident {
        /// What happened, in a sentence.
        message: String,
    },
}

impl BlockReason {
    /// The kind of obstacle in one word, as expressions read it in `run.blocked`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Budget { .. } => "budget",
            Self::Refused => "refused",
            Self::MissingTicket { .. } => "ticket",
            Self::Incident { .. } => "incident",
        }
    }
}

/// A decision on a manual gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalDecision {
    /// Whether the transition is approved.
    pub approve: bool,
    /// Who decided it.
    pub by: String,
    /// The stated reason; absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Digest of the subject that was decided on. The decision holds only for this subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Number of the event that records the decision; the last decision has the highest.
    pub seq: u64,
}

impl ApprovalDecision {
    /// How the decision ended the wait.
    #[must_use]
    pub fn outcome(&self) -> DecisionOutcomeKind {
        if self.approve {
            DecisionOutcomeKind::Approved
        } else if self.by == DEADLINE_ACTOR {
            DecisionOutcomeKind::Expired
        } else {
            DecisionOutcomeKind::Denied
        }
    }
}

/// How an approval wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionOutcomeKind {
    /// A person approved.
    Approved,
    /// A person denied.
    Denied,
    /// Nobody decided before the deadline.
    Expired,
}

impl DecisionOutcomeKind {
    /// The name in expressions and protocol files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
        }
    }
}

/// How an accepted reply was obtained, so that gates can distinguish a clean reply from a repaired
/// or retried one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastReply {
    /// Id of the phase that the reply was accepted in.
    pub phase: String,
    /// Number of the accepted attempt, from 1; 0 for a reply that a person submitted.
    pub attempt: u32,
    /// Number of repairs made to the reply.
    pub repairs: usize,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEndKind {
    /// The run reached the end of its workflow.
    Completed,
    /// The run cannot continue.
    Failed,
    /// A person or the parent run cancelled it.
    Cancelled,
}

impl RunState {
    /// Creates the state of a run before its first event.
    #[must_use]
    pub fn new(run: impl Into<String>) -> Self {
        Self {
            run: run.into(),
            version: 0,
            seq: 0,
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
            protocol: String::new(),
            workflow: String::new(),
            title: String::new(),
            input_text: String::new(),
            model: None,
            parent: None,
            fork: None,
            continues: None,
            channels: Vec::new(),
            document: Arc::new(Value::Null),
            phase: String::new(),
            entered_at: Timestamp::default(),
            item_progress: ItemProgress::default(),
            step: None,
            pending: BTreeMap::new(),
            waits: BTreeMap::new(),
            waits_opened: 0,
            closed_gates: Vec::new(),
            retry_at: None,
            blocked: None,
            continuation: None,
            decisions: BTreeMap::new(),
            started_by: None,
            starters: BTreeSet::new(),
            authors: BTreeSet::new(),
            approvers: BTreeSet::new(),
            approved_values: BTreeMap::new(),
            held_calls: BTreeMap::new(),
            approved_calls: BTreeMap::new(),
            mcp_tools: BTreeMap::new(),
            tickets: BTreeSet::new(),
            spent: BTreeMap::new(),
            granted: BTreeMap::new(),
            usage: ReplyUsage::default(),
            last_reply: None,
            model_calls: 0,
            halted: None,
            end: None,
            ended_at: None,
        }
    }

    /// The run's status, derived from the other fields; no event records it.
    #[must_use]
    pub fn status(&self) -> ExecutionStatus {
        let out = self.pending.values().any(|order| !order.is_message());
        match &self.end {
            Some((RunEndKind::Completed, _)) => ExecutionStatus::Completed,
            Some((RunEndKind::Failed | RunEndKind::Cancelled, _)) => ExecutionStatus::Failed,
            None if self.halted.is_some() => ExecutionStatus::Halted,
            None if out && self.waits.is_empty() => ExecutionStatus::Running,
            None => ExecutionStatus::Waiting,
        }
    }

    /// Times at which the run continues by itself. The phase's time-out is not among them.
    pub(super) fn alarms(&self) -> impl Iterator<Item = Timestamp> {
        let deadlines = self.waits.values().filter_map(|wait| wait.deadline);
        let escalations =
            self.waits.values().filter_map(|wait| wait.approval.as_ref()?.escalate_at);
        let reminders = self.waits.values().flat_map(|wait| wait.reminders.values().copied());
        let (messages, orders): (Vec<&PendingAction>, Vec<&PendingAction>) =
            self.pending.values().partition(|action| action.is_message());
        let still = self.end.is_some() || self.halted.is_some();
        let orders = orders.into_iter().filter_map(PendingAction::not_before);
        let own = deadlines.chain(escalations).chain(reminders).chain(orders).chain(self.retry_at);
        let messages = messages.into_iter().filter_map(PendingAction::not_before);
        own.filter(move |_| !still).chain(messages)
    }

    /// Actions that may be executed at `now`. A halted run only sends messages: to other runs and
    /// to channels.
    pub fn ready_actions(&self, now: Timestamp) -> impl Iterator<Item = (&String, &PendingAction)> {
        let ready = self.pending.iter().filter(move |(_, order)| {
            let tell = order.is_message();
            let due = order.not_before().is_none_or(|at| at <= now);
            due && (self.halted.is_none() || tell)
        });
        ready.filter(|(id, _)| !self.is_held(id))
    }

    /// Whether an action waits for an approval.
    #[must_use]
    pub fn is_held(&self, action: &str) -> bool {
        self.held_calls.contains_key(action)
    }

    /// Whether a pending call may be made: it needs no approval, or exactly its arguments were
    /// approved.
    #[must_use]
    pub fn check_call_approved(&self, action: &str) -> bool {
        let digest = self.pending.get(action).and_then(compute_call_digest);
        let approved = self.approved_calls.get(action);
        !self.is_held(action) && approved.is_none_or(|approved| digest.as_ref() == Some(approved))
    }

    /// Names of everybody who started the run or wrote in it.
    #[must_use]
    pub fn list_participants(&self) -> BTreeSet<String> {
        self.starters.union(&self.authors).cloned().collect()
    }

    /// The last decision on a manual gate in the current phase.
    #[must_use]
    pub fn last_decision(&self) -> Option<&ApprovalDecision> {
        self.decisions.values().max_by_key(|decision| decision.seq)
    }

    /// Amount spent from a budget, in its unit; 0 if nothing was spent.
    #[must_use]
    pub fn amount_spent(&self, budget: &str) -> u64 {
        self.spent.get(budget).copied().unwrap_or(0)
    }
}
