//! What a model is asked. Not how that looks on any wire.

use std::sync::Arc;

use countersign_core::contract::Contract;

/// One question to a model.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// What stands above the conversation; empty where there is nothing.
    pub system: String,
    /// The conversation so far, oldest first; a person speaks last.
    pub messages: Vec<ChatMessage>,
    /// What the reply will be held against; told to providers that take schemas.
    pub contract: Option<Arc<Contract>>,
    /// Whether the reply is one JSON object though no single schema tells which: a contract's, or a
    /// call of tools.
    pub expects_object: bool,
    /// How much chance is in the answer; the provider's own default where absent.
    pub temperature: Option<f64>,
    /// The longest answer, in the provider's tokens.
    pub max_tokens: Option<u32>,
    /// The phase that asks; scripts are keyed by it.
    pub label: Option<String>,
    /// How often this run has asked before; without it a script counts by itself.
    pub call_index: Option<ModelCallIndex>,
}

/// How many calls of a run were made before this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelCallIndex {
    /// In the whole run.
    pub in_run: usize,
    /// Under the same label.
    pub under_label: usize,
}

/// One speech of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: ChatRole,
    /// What is said.
    pub text: String,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatRole {
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

impl ModelRequest {
    /// A question without a past.
    pub fn new(system: impl Into<String>, question: impl Into<String>) -> Self {
        let messages = vec![ChatMessage { role: ChatRole::User, text: question.into() }];
        Self { system: system.into(), messages, ..Self::default() }
    }

    /// Whether the reply is to be JSON.
    pub(crate) fn expects_json(&self) -> bool {
        self.expects_object || self.contract.is_some()
    }

    /// The temperature, where it is a number.
    pub(crate) fn finite_temperature(&self) -> Option<f64> {
        self.temperature.filter(|degrees| degrees.is_finite())
    }

    /// Whether anything said here names JSON; some JSON modes refuse a request that does not.
    pub(crate) fn mentions_json(&self) -> bool {
        let texts = self.messages.iter().map(|turn| &turn.text).chain([&self.system]);
        texts.into_iter().any(|text| text.to_ascii_lowercase().contains("json"))
    }
}

impl ChatRole {
    /// The word for it in a dialect that calls the model `assistant`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}
