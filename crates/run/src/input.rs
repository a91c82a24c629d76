//! Inputs: what reaches a run from outside. Beside the protocol and the state, an input is all that
//! [`decide`](super::decide()) sees.
//!
//! Inputs are stored in the log so that every decision can be repeated. Fields may be added, and
//! existing fields keep their meaning.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::json::Repair;
use countersign_contract::reply::FinishReason;
use countersign_protocol::{Assignee, ChannelSubscription};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Timestamp;
use super::mcp_tools::{McpToolChanges, McpToolDefinition};

/// An input with its time and its idempotency key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInput {
    /// When the input arrived.
    pub time: Timestamp,
    /// Idempotency key: inputs with the same key count as one. Absent if the caller gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// How the door that took the input knows its sender; absent if no person sent it, or the
    /// caller did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<InputSender>,
    /// Whether each workspace file that gates check for exists, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, bool>,
    /// SHA-256 of each workspace file that an approval shows, by path; null if there is no such
    /// file, or it is too large to be signed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub file_digests: BTreeMap<String, Option<String>>,
    /// What the input is.
    pub payload: InputKind,
}

/// An input with its sender, before it has a time.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributedInput {
    /// What the input is.
    pub payload: InputKind,
    /// How the door that took the input knows its sender; `None` if no person sent it.
    pub sender: Option<InputSender>,
}

impl From<InputKind> for AttributedInput {
    fn from(payload: InputKind) -> Self {
        Self { payload, sender: None }
    }
}

/// How the door that took an input knows its sender. The name itself is the `by` of the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputSender {
    /// What the name is based on.
    pub identity: IdentitySource,
    /// The authenticated user, if the input carries another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// Groups that the sender is a member of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Roles that the sender has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
}

impl InputSender {
    /// The sender as assignees, to compare with `who`: the user, the groups and the roles.
    #[must_use]
    pub fn to_assignees(&self, user: &str) -> Vec<Assignee> {
        let groups = self.groups.iter().cloned().map(Assignee::Group);
        let roles = self.roles.iter().cloned().map(Assignee::Role);
        std::iter::once(Assignee::User(user.to_owned())).chain(groups).chain(roles).collect()
    }
}

/// What the name of a sender is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentitySource {
    /// The API key of the request.
    Key,
    /// The operating system's user.
    System,
    /// A name that the sender claims, such as `--as`.
    Claim,
}

/// The kinds of input, each with its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum InputKind {
    /// Starts the run.
    Start(Box<RunStart>),
    /// A model replied, or a person or script in its place.
    ModelReplied(Box<ModelReply>),
    /// A model call failed.
    ModelFailed {
        /// Id of the action.
        action: String,
        /// Kind of the failure, in one word.
        failure: String,
        /// What happened, in a sentence.
        message: String,
        /// Whether a retry may help.
        retryable: bool,
        /// Delay that the provider asks for, in milliseconds; absent if it asks for none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<i64>,
        /// Digests of the request and the response; absent if nothing was exchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchange: Option<ExchangeDigests>,
    },
    /// A person submitted a patch in a phase without pending work, or a reply in place of a model
    /// that was refused or cannot be called.
    ManualPatch {
        /// The submitted text.
        text: String,
        /// Who submitted it.
        by: String,
    },
    /// A person answered a question or provided a document.
    Answered {
        /// Id of the wait.
        wait: String,
        /// The answer, checked against the shape of the wait.
        value: Value,
        /// Who answered it.
        by: String,
    },
    /// A person approved or denied a request.
    ApprovalDecided {
        /// Id of the wait.
        wait: String,
        /// Whether the request is approved.
        approve: bool,
        /// Who decided it.
        by: String,
        /// The stated reason; absent if none was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// Digest of the subject that the person saw. Required to approve a wait that has a
        /// subject.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<String>,
    },
    /// A person who may decide an approval hands the decision to another.
    Delegated {
        /// Id of the wait.
        wait: String,
        /// User who may decide from now on.
        to: String,
        /// Who hands it over.
        by: String,
        /// The stated reason; absent if none was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Time passed: deadlines, time-outs and retries that are due take effect.
    Ticked,
    /// An effect was executed.
    EffectFinished {
        /// Id of the action.
        action: String,
        /// The result of the effect.
        result: Value,
    },
    /// An effect failed.
    EffectFailed {
        /// Id of the action.
        action: String,
        /// Kind of the failure, in one word.
        failure: String,
        /// What happened, in a sentence.
        message: String,
        /// Whether a retry may help.
        retryable: bool,
    },
    /// A tool call finished.
    ToolFinished {
        /// Id of the action.
        action: String,
        /// Whether the tool succeeded.
        ok: bool,
        /// The text that the agent sees.
        output: String,
    },
    /// The runtime listed the tools of an MCP server.
    McpToolsListed {
        /// Id of the action.
        action: String,
        /// The tools that the policy allows, as the server lists them.
        tools: Vec<McpToolDefinition>,
        /// How they differ from those that an earlier run of the protocol pinned; absent if they
        /// are the same, or there is no earlier run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changes: Option<McpToolChanges>,
    },
    /// The tools of an MCP server could not be listed.
    McpToolsUnavailable {
        /// Id of the action.
        action: String,
        /// Kind of the failure, in one word.
        failure: String,
        /// What happened, in a sentence.
        message: String,
        /// Whether a retry may help.
        retryable: bool,
    },
    /// A hook answered.
    HookFinished {
        /// Id of the action.
        action: String,
        /// The hook's answer.
        answer: HookAnswer,
    },
    /// A child run ended.
    ChildEnded {
        /// Id of the action that started the child.
        action: String,
        /// Whether the child completed.
        completed: bool,
        /// Why the child did not complete; absent if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The child's final document.
        document: Value,
    },
    /// A notification reached the parent or child run that it was for.
    Notified {
        /// Id of the action.
        action: String,
    },
    /// A channel accepted a delivery.
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
        /// Pause before the next attempt, in milliseconds, at most one day; absent if the delivery
        /// is given up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_in: Option<i64>,
    },
    /// A person halts the run.
    Halted {
        /// Who halts it.
        by: String,
        /// The stated reason; absent if none was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person resumes the run.
    Resumed {
        /// Who resumes it.
        by: String,
        /// Additional amounts by budget, each in the unit of its budget.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        grants: BTreeMap<String, u64>,
    },
    /// A person selects the model that every agent of the run uses from now on.
    ModelSelected {
        /// Name of the model.
        model: String,
        /// Who selects it.
        by: String,
    },
    /// A person cancels the run.
    Cancelled {
        /// Who cancels it.
        by: String,
        /// The stated reason; absent if none was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// What a run is started with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunStart {
    /// Digest of the protocol that the run is pinned to.
    pub protocol: String,
    /// Id of the workflow.
    pub workflow: String,
    /// Merged into the protocol's initial document. If `phase` is set, it is the whole document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Value>,
    /// The workflow's input. If the workflow declares no `input`, an object to merge into the
    /// document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The phase to start in, for a fork or an imported state file; the first phase if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Why the run starts halted, and does nothing until somebody resumes it; absent unless it takes
    /// over a halted state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halted: Option<String>,
    /// Model to use instead of the one that agents and the index name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// How the door that started the run knows who that is; absent if it did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<InputSender>,
    /// The run that waits for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentRun>,
    /// The run and version that this run is forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkOrigin>,
    /// Title to start with, that of the original for a fork; absent for an excerpt of the input. A
    /// `title` of the workflow replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Tickets held at the version that the run is forked from; empty unless the run is a fork.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tickets: Vec<String>,
    /// Names of the people who took part in the run that this one comes from: the original of a
    /// fork, or the parent of a child. They count as authors.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub prior_authors: BTreeSet<String>,
    /// Whether memory is off for this run, whichever process works on it: the run is neither
    /// recorded in memory nor given memory in its prompts. Set when the run is started with memory
    /// turned off. `decide` ignores it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub memory_disabled: bool,
    /// The channels that the settings of the place where the run is started subscribe to every run.
    /// The engine sets them; what the protocol subscribes to is added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelSubscription>,
}

/// The parent that waits for a child run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentRun {
    /// Id of the parent run.
    pub run: String,
    /// Id of the parent's action that started the child.
    pub action: String,
    /// Nesting depth of the child; a run without a parent has depth 0.
    pub depth: u32,
}

/// The run and version that a fork starts from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkOrigin {
    /// Id of the original run.
    pub run: String,
    /// Version of the original run at which the fork starts.
    pub version: u64,
    /// Hash of the log entry of that version.
    pub hash: String,
}

/// A model's reply, or a reply given in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// Id of the action.
    pub action: String,
    /// The text as it was received, except for the changes listed in `repairs`.
    pub text: String,
    /// Why the model stopped, and so whether the reply was cut off.
    #[serde(default)]
    pub finish: FinishReason,
    /// The model that replied, as the provider names it, or the person or script that replied in
    /// its place.
    pub by: String,
    /// Tokens and cost of the call.
    #[serde(default)]
    pub usage: ReplyUsage,
    /// How the provider was asked to constrain the reply: `schema`, `json_mode` or `nothing`.
    /// Absent if no provider was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_format: Option<String>,
    /// Digests of the request and the response; absent if no provider was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<ExchangeDigests>,
    /// Id of the memory packet build that the prompt contained; absent if it contained none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_build: Option<String>,
    /// Changes that the driver made to the text before the contract check. `exchange` refers to the
    /// original bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
}

/// What a model call cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplyUsage {
    /// Number of tokens in the prompt.
    #[serde(default)]
    pub input_tokens: u64,
    /// Number of tokens in the reply.
    #[serde(default)]
    pub output_tokens: u64,
    /// Cost in millionths of the currency that prices are given in.
    #[serde(default)]
    pub cost: u64,
}

impl ReplyUsage {
    /// Whether nothing was used.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the usage of another call; the sums stop at the largest number.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost = self.cost.saturating_add(other.cost);
    }
}

/// Digests of the bytes that were sent to and received from a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeDigests {
    /// Digest of the request body.
    pub request: String,
    /// Digest of the response body.
    pub response: String,
}

/// A hook's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum HookAnswer {
    /// Continue without a change.
    Ok,
    /// Do not continue.
    Abort {
        /// Why the hook aborts, in a sentence.
        reason: String,
    },
    /// Change the document and continue.
    Patch {
        /// RFC 6902 operations to apply.
        ops: Value,
    },
    /// Continue in another phase.
    Redirect {
        /// Id of the phase.
        to: String,
    },
}

impl InputKind {
    /// Id of the action that this input is the result of; `None` for other inputs.
    #[must_use]
    pub fn action(&self) -> Option<&str> {
        match self {
            Self::ModelReplied(reply) => Some(&reply.action),
            Self::ModelFailed { action, .. }
            | Self::EffectFinished { action, .. }
            | Self::EffectFailed { action, .. }
            | Self::ToolFinished { action, .. }
            | Self::McpToolsListed { action, .. }
            | Self::McpToolsUnavailable { action, .. }
            | Self::HookFinished { action, .. }
            | Self::ChildEnded { action, .. }
            | Self::DeliveryFinished { action }
            | Self::DeliveryFailed { action, .. }
            | Self::Notified { action } => Some(action),
            _ => None,
        }
    }

    /// The same decision on another subject; other inputs stay as they are.
    #[must_use]
    pub fn with_subject(mut self, named: String) -> Self {
        if let Self::ApprovalDecided { subject, .. } = &mut self {
            *subject = Some(named);
        }
        self
    }

    /// The same input, with its sender.
    #[must_use]
    pub fn from_sender(self, sender: InputSender) -> AttributedInput {
        AttributedInput { payload: self, sender: Some(sender) }
    }

    /// The name of the person who sent the input; `None` for inputs that no person sends.
    #[must_use]
    pub fn author(&self) -> Option<&str> {
        match self {
            Self::Start(start) => start.by.as_deref(),
            Self::ModelReplied(reply) => Some(&reply.by),
            Self::ManualPatch { by, .. }
            | Self::Answered { by, .. }
            | Self::ApprovalDecided { by, .. }
            | Self::Delegated { by, .. }
            | Self::Halted { by, .. }
            | Self::Resumed { by, .. }
            | Self::ModelSelected { by, .. }
            | Self::Cancelled { by, .. } => Some(by),
            _ => None,
        }
    }

    /// The name of this kind of input in the log.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Start(_) => "start",
            Self::ModelReplied(_) => "model_replied",
            Self::ModelFailed { .. } => "model_failed",
            Self::ManualPatch { .. } => "manual_patch",
            Self::Answered { .. } => "answered",
            Self::ApprovalDecided { .. } => "approval_decided",
            Self::Delegated { .. } => "delegated",
            Self::Ticked => "ticked",
            Self::EffectFinished { .. } => "effect_finished",
            Self::EffectFailed { .. } => "effect_failed",
            Self::ToolFinished { .. } => "tool_finished",
            Self::McpToolsListed { .. } => "mcp_tools_listed",
            Self::McpToolsUnavailable { .. } => "mcp_tools_unavailable",
            Self::HookFinished { .. } => "hook_finished",
            Self::ChildEnded { .. } => "child_ended",
            Self::Notified { .. } => "notified",
            Self::DeliveryFinished { .. } => "delivery_finished",
            Self::DeliveryFailed { .. } => "delivery_failed",
            Self::Halted { .. } => "halted",
            Self::Resumed { .. } => "resumed",
            Self::ModelSelected { .. } => "model_selected",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    /// Kind of the action that this input is the result of, as
    /// [`PendingAction::kind`](super::PendingAction::kind) returns it.
    #[must_use]
    pub fn action_kind(&self) -> Option<&'static str> {
        match self {
            Self::ModelReplied(_) | Self::ModelFailed { .. } => Some("model"),
            Self::EffectFinished { .. } | Self::EffectFailed { .. } => Some("effect"),
            Self::ToolFinished { .. } => Some("tool"),
            Self::McpToolsListed { .. } | Self::McpToolsUnavailable { .. } => {
                Some("list_mcp_tools")
            }
            Self::HookFinished { .. } => Some("hook"),
            Self::ChildEnded { .. } => Some("child"),
            Self::Notified { .. } => Some("notify"),
            Self::DeliveryFinished { .. } | Self::DeliveryFailed { .. } => Some("delivery"),
            _ => None,
        }
    }
}
