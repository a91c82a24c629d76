//! What a run is at one version: the fold of its events so far. Only `apply` changes it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::effect_call::{EffectCall, ToolCall};
use super::wait::RunWait;
use super::{ExecutionStatus, ForkOrigin, ItemProgress, ParentRun, RunNotification, Timestamp};
use crate::reply::Violation;

/// A run at one version. Snapshots are this, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// The run's id.
    pub run: String,
    /// How many inputs it has taken.
    pub version: u64,
    /// How many events it has.
    pub seq: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When the last input came.
    pub updated_at: Timestamp,
    /// The digest of its protocol.
    pub protocol: String,
    /// Its workflow.
    pub workflow: String,
    /// The model that is asked, whatever agents and index say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The run that waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentRun>,
    /// What it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkOrigin>,
    /// The document.
    pub document: Arc<Value>,
    /// The phase it stands in.
    pub phase: String,
    /// Since when.
    pub entered_at: Timestamp,
    /// What came of the items of this phase.
    #[serde(default, skip_serializing_if = "ItemProgress::is_empty")]
    pub round: ItemProgress,
    /// The model's step that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<ModelStep>,
    /// Orders that are out, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pending: BTreeMap<String, PendingAction>,
    /// Open waits, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub waits: BTreeMap<String, RunWait>,
    /// How many waits there have been; the next one's number is one more.
    #[serde(default)]
    pub waits_opened: u64,
    /// Why no way was open, when the gates were last asked in this phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<ClosedGate>,
    /// When the gates are asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_at: Option<Timestamp>,
    /// What the run cannot get past without help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<BlockReason>,
    /// What comes next once somebody has helped, or has let the run go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Continuation>,
    /// Decisions on manual gates in this phase, by position of the way.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub decisions: BTreeMap<usize, ApprovalDecision>,
    /// The tickets it holds: what phases and ways gave it, and nothing took back since.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tickets: BTreeSet<String>,
    /// What was spent, by budget: of the run under its name, of a phase under `name@phase`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spent: BTreeMap<String, u64>,
    /// What was granted beyond the limits, by budget.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub granted: BTreeMap<String, u64>,
    /// How the last accepted reply came to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reply: Option<LastReply>,
    /// How many times models were asked.
    #[serde(default)]
    pub calls: u64,
    /// Who stopped it, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halted: Option<(String, Option<String>)>,
    /// How it ended, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<(RunEndKind, Option<String>)>,
}

/// A model's step: asked, refused, asked again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelStep {
    /// Which try is out, or was the last.
    pub attempt: u32,
    /// Rounds of tool use so far.
    #[serde(default)]
    pub tool_rounds: u32,
    /// Failures of the provider in a row.
    #[serde(default)]
    pub provider_failures: u32,
    /// What was said after the first question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<PromptMessage>,
    /// What was wrong with the last reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
    /// Tools used in this round, in the order they were asked for, and what they gave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolUse>,
    /// The build of the memory packet that the last reply was written with: what the model asks its
    /// tools for may come from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
}

/// One thing said between a model and us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptMessage {
    /// Who.
    pub role: PromptRole,
    /// What.
    pub text: String,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptRole {
    /// Us.
    User,
    /// The model.
    Assistant,
}

/// A tool that was asked for, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The order.
    pub action: String,
    /// What was asked.
    pub call: ToolCall,
    /// Whether it could be done, and what the agent gets to see; `Empty` until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<(bool, String)>,
}

/// An order that is out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum PendingAction {
    /// Ask the model of this phase.
    Model {
        /// Not before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
    },
    /// Do this outside.
    Effect {
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
    /// Use a tool.
    Tool {
        /// What for.
        call: ToolCall,
    },
    /// Run a hook.
    Hook {
        /// Its id.
        hook: String,
        /// The way that is held until it answers; `Empty` where a phase was entered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        way: Option<usize>,
    },
    /// Start a child run.
    Child {
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
    /// Tell another run something.
    Tell {
        /// Whom.
        run: String,
        /// What.
        tell: RunNotification,
    },
}

impl PendingAction {
    /// The word for it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Model { .. } => "model",
            Self::Effect { .. } => "effect",
            Self::Tool { .. } => "tool",
            Self::Hook { .. } => "hook",
            Self::Child { .. } => "child",
            Self::Tell { .. } => "tell",
        }
    }

    /// The moment before which it is not to be done.
    #[must_use]
    pub fn not_before(&self) -> Option<Timestamp> {
        match self {
            Self::Model { not_before } | Self::Effect { not_before, .. } => *not_before,
            _ => None,
        }
    }
}

/// A gate that was closed, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedGate {
    /// The position of its way among the workflow's transitions.
    pub way: usize,
    /// Where the way leads.
    pub to: String,
    /// Why it is closed, in a sentence.
    pub reason: String,
    /// How often it was asked again.
    #[serde(default)]
    pub attempts: u32,
    /// When it is asked again; each gate keeps its own schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_at: Option<Timestamp>,
}

/// What comes next in a run that stands still: going on repeats nothing that was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "next", rename_all = "snake_case")]
pub enum Continuation {
    /// The hook of the phase that was entered, then its work.
    Enter,
    /// The work of the phase begins.
    Work,
    /// The model is asked.
    Ask {
        /// Which try of this step.
        attempt: u32,
    },
    /// The model gets the tools it asked for.
    Tools {
        /// What for.
        calls: Vec<ToolCall>,
    },
    /// These questions are asked, by their ids.
    Questions {
        /// Which.
        ids: Vec<String>,
        /// Those that are asked for each of several items, with their items.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<QuestionItem>,
    },
    /// The effect of the phase is had for these items.
    Items {
        /// Which.
        items: Vec<Value>,
    },
    /// What follows when every try of the model's step was refused.
    Refused {
        /// What happened, in a sentence.
        what: String,
    },
    /// The work is done, and the gates are asked.
    Leave,
    /// A way is taken.
    Take {
        /// Its position among the workflow's transitions.
        way: usize,
        /// What opened it.
        because: String,
    },
    /// A phase is entered.
    Go {
        /// The way that leads there; `Empty` where no transition does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        way: Option<usize>,
        /// Which phase.
        to: String,
        /// Why.
        because: String,
    },
}

/// A question that is asked for each of several items, and one of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionItem {
    /// The question's id in the file.
    pub question: String,
    /// The item.
    pub item: Value,
}

/// What a run cannot get past without help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum BlockReason {
    /// A budget is spent.
    Budget {
        /// Which: `name`, or `name@phase`.
        budget: String,
        /// Its limit.
        limit: u64,
    },
    /// Every try of the model's step was refused.
    Refused,
    /// The phase that comes next needs a ticket that the run does not hold.
    NoTicket {
        /// Which phase.
        phase: String,
        /// Which ticket.
        ticket: String,
    },
    /// An effect, a child, a hook or a deadline went wrong for good.
    Trouble {
        /// What, in a sentence.
        what: String,
    },
}

/// A decision on a manual gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalDecision {
    /// Yes or no.
    pub approve: bool,
    /// Who.
    pub by: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How an accepted reply came to be, so that gates can tell a clean one from a laboured one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastReply {
    /// The phase it was given in.
    pub phase: String,
    /// On which try; 0 where a person handed it in.
    pub attempt: u32,
    /// How many repairs it took.
    pub repairs: usize,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEndKind {
    /// It reached its end.
    Completed,
    /// It cannot go on.
    Failed,
    /// A person ended it.
    Cancelled,
}

impl RunState {
    /// A run before its first event.
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
            model: None,
            parent: None,
            fork: None,
            document: Arc::new(Value::Null),
            phase: String::new(),
            entered_at: Timestamp::default(),
            round: ItemProgress::default(),
            step: None,
            pending: BTreeMap::new(),
            waits: BTreeMap::new(),
            waits_opened: 0,
            closed: Vec::new(),
            again_at: None,
            blocked: None,
            held: None,
            decisions: BTreeMap::new(),
            tickets: BTreeSet::new(),
            spent: BTreeMap::new(),
            granted: BTreeMap::new(),
            last_reply: None,
            calls: 0,
            halted: None,
            end: None,
        }
    }

    /// Where it stands. A fold needs no event for it: it follows from the rest.
    #[must_use]
    pub fn status(&self) -> ExecutionStatus {
        let out = self.pending.values().any(|order| !matches!(order, PendingAction::Tell { .. }));
        match &self.end {
            Some((RunEndKind::Completed, _)) => ExecutionStatus::Completed,
            Some((RunEndKind::Failed | RunEndKind::Cancelled, _)) => ExecutionStatus::Failed,
            None if self.halted.is_some() => ExecutionStatus::Halted,
            None if out && self.waits.is_empty() => ExecutionStatus::Running,
            None => ExecutionStatus::Waiting,
        }
    }

    /// Moments at which something happens by itself; the phase's own time-out comes on top.
    pub(super) fn alarms(&self) -> impl Iterator<Item = Timestamp> {
        let deadlines = self.waits.values().filter_map(|wait| wait.deadline);
        let orders = self.pending.values().filter_map(PendingAction::not_before);
        let still = self.end.is_some() || self.halted.is_some();
        deadlines.chain(orders).chain(self.again_at).filter(move |_| !still)
    }

    /// Orders that may be carried out at a moment. A halted run only tells.
    pub fn ready_actions(&self, now: Timestamp) -> impl Iterator<Item = (&String, &PendingAction)> {
        self.pending.iter().filter(move |(_, order)| {
            let tell = matches!(order, PendingAction::Tell { .. });
            let due = order.not_before().is_none_or(|at| at <= now);
            due && (self.halted.is_none() || tell)
        })
    }

    /// What was spent of a budget.
    #[must_use]
    pub fn amount_spent(&self, budget: &str) -> u64 {
        self.spent.get(budget).copied().unwrap_or(0)
    }
}
