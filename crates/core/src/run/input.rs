//! Inputs: what came from outside. Everything `decide` may know beside protocol and state.
//!
//! Stored in the log, so that every decision can be made again: a field may be added, one that is
//! there keeps its meaning.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Timestamp;
use crate::json::Repair;
use crate::reply::FinishReason;

/// Something that came, when, and under which key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInput {
    /// When it came.
    pub time: Timestamp,
    /// The same key twice is one input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Which files of the workspace were there, of those that gates ask for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, bool>,
    /// What came.
    pub what: InputKind,
}

/// What came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum InputKind {
    /// A run is to begin.
    Start(Box<RunStart>),
    /// A model replied, or somebody in its place.
    ModelReplied(Box<ModelReply>),
    /// A model could not be asked.
    ModelFailed {
        /// The order.
        action: String,
        /// What kind of failure, in one word.
        failure: String,
        /// A sentence.
        message: String,
        /// Whether another try may help.
        retryable: bool,
        /// How long the provider asks to wait, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<i64>,
        /// Where the bytes sent and received are kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchange: Option<ExchangeDigests>,
    },
    /// Somebody hands in a reply or a patch where the run asks nobody in particular.
    Submitted {
        /// The text.
        text: String,
        /// Who.
        by: String,
    },
    /// Somebody answered a question or brought a document.
    Answered {
        /// Which wait.
        wait: String,
        /// The answer.
        value: Value,
        /// Who.
        by: String,
    },
    /// Somebody approved or denied.
    Decided {
        /// Which wait.
        wait: String,
        /// Yes or no.
        approve: bool,
        /// Who.
        by: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Time went by.
    Ticked,
    /// An effect was done.
    EffectFinished {
        /// The order.
        action: String,
        /// What came of it.
        result: Value,
    },
    /// An effect could not be done.
    EffectFailed {
        /// The order.
        action: String,
        /// What kind of failure, in one word.
        failure: String,
        /// A sentence.
        message: String,
        /// Whether another try may help.
        retryable: bool,
    },
    /// A tool was used.
    ToolFinished {
        /// The order.
        action: String,
        /// Whether it could do what was asked.
        ok: bool,
        /// What the agent gets to see.
        output: String,
    },
    /// A hook answered.
    HookFinished {
        /// The order.
        action: String,
        /// What.
        answer: HookAnswer,
    },
    /// A child run ended.
    ChildEnded {
        /// The order.
        action: String,
        /// Whether it reached its end.
        completed: bool,
        /// Why not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Its document.
        document: Value,
    },
    /// The parent, or a child, was told what it had to be told.
    Told {
        /// The order.
        action: String,
    },
    /// A person stops the run.
    Halted {
        /// Who.
        by: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person lets it go on.
    Resumed {
        /// Who.
        by: String,
        /// What more may be spent, by budget.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        grants: BTreeMap<String, u64>,
    },
    /// A person ends it.
    Cancelled {
        /// Who.
        by: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// How a run begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunStart {
    /// The digest of its protocol.
    pub protocol: String,
    /// The workflow.
    pub workflow: String,
    /// What is merged into the protocol's first document, or is the whole document where a phase is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Value>,
    /// What it is started with, where its workflow has an `input`; without one, an object to be merged in.
    // The log calls it `given`: `input` is the word for what kind of input this is.
    #[serde(default, rename = "given", skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The phase it begins in, where that is not the first: a fork, or a state file that is taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The model that is asked, whatever agents and index say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The run that waits for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentRun>,
    /// The run it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkOrigin>,
    /// The tickets that the version it was forked from held; only a fork has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tickets: Vec<String>,
    /// Whether it is never remembered, nor reminded, whoever works on it: memory was turned off where it was
    /// started. Deciding does not look at it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unremembered: bool,
}

/// The run that waits for a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentRun {
    /// Its id.
    pub run: String,
    /// The order that started the child.
    pub action: String,
    /// How deep the child stands; a run without parent stands at 0.
    pub depth: u32,
}

/// What a run was forked from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkOrigin {
    /// The run.
    pub run: String,
    /// At which version.
    pub version: u64,
    /// The hash of the last event of that version.
    pub hash: String,
}

/// A model's reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The order.
    pub action: String,
    /// The text, as it came but for `repairs`.
    pub text: String,
    /// Whether the model was cut off.
    #[serde(default)]
    pub finish: FinishReason,
    /// Which model says it replied, or who replied in its place.
    pub by: String,
    /// Tokens and money.
    #[serde(default)]
    pub usage: ReplyUsage,
    /// What the provider was given to hold the reply to: `schema`, `json_mode` or `nothing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// Where the bytes sent and received are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<ExchangeDigests>,
    /// The build of the memory packet that stood in the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// What the driver changed in the text before it was put to the contract. The bytes as they came are in
    /// `exchange`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
}

/// What a call cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplyUsage {
    /// Tokens of the prompt.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens of the reply.
    #[serde(default)]
    pub output_tokens: u64,
    /// Millionths of the currency that prices are given in.
    #[serde(default)]
    pub cost: u64,
}

/// The digests of the bytes sent and received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeDigests {
    /// Of the body that was sent.
    pub request: String,
    /// Of the body that came back.
    pub response: String,
}

/// What a hook answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum HookAnswer {
    /// Go on.
    Ok,
    /// Do not.
    Abort {
        /// Why.
        reason: String,
    },
    /// Change the document.
    Patch {
        /// RFC 6902 operations.
        ops: Value,
    },
    /// Go elsewhere.
    Redirect {
        /// The phase.
        to: String,
    },
}

impl InputKind {
    /// The order this is the result of.
    #[must_use]
    pub fn action(&self) -> Option<&str> {
        match self {
            Self::ModelReplied(reply) => Some(&reply.action),
            Self::ModelFailed { action, .. }
            | Self::EffectFinished { action, .. }
            | Self::EffectFailed { action, .. }
            | Self::ToolFinished { action, .. }
            | Self::HookFinished { action, .. }
            | Self::ChildEnded { action, .. }
            | Self::Told { action } => Some(action),
            _ => None,
        }
    }

    /// The kind of that order.
    #[must_use]
    pub fn action_kind(&self) -> Option<&'static str> {
        match self {
            Self::ModelReplied(_) | Self::ModelFailed { .. } => Some("model"),
            Self::EffectFinished { .. } | Self::EffectFailed { .. } => Some("effect"),
            Self::ToolFinished { .. } => Some("tool"),
            Self::HookFinished { .. } => Some("hook"),
            Self::ChildEnded { .. } => Some("child"),
            Self::Told { .. } => Some("tell"),
            _ => None,
        }
    }
}
