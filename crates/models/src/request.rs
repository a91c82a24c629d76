//! Requests to a model, independent of any wire format.

use std::sync::Arc;

use countersign_contract::contract::Contract;

/// One request to a model.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// System prompt; empty if there is none.
    pub system: String,
    /// The conversation so far, oldest first; the last message is from the user.
    pub messages: Vec<ChatMessage>,
    /// Contract that the reply must satisfy; sent to providers that accept schemas.
    pub contract: Option<Arc<Contract>>,
    /// Whether the reply must be one JSON object although no single schema describes it: one that
    /// satisfies the contract, or a tool call.
    pub expects_object: bool,
    /// Sampling temperature; `None` means the provider's default.
    pub temperature: Option<f64>,
    /// Maximum length of the reply, in the provider's tokens.
    pub max_tokens: Option<u32>,
    /// The phase that makes the request; scripts use it as a key.
    pub label: Option<String>,
    /// How many calls this run made before; without it, a script counts by itself.
    pub call_index: Option<ModelCallIndex>,
}

/// Number of calls of a run before this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelCallIndex {
    /// Calls in the whole run.
    pub in_run: usize,
    /// Calls with the same label.
    pub under_label: usize,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// Author of the message.
    pub role: ChatRole,
    /// Content of the message.
    pub text: String,
}

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatRole {
    /// The user, or the program that makes the request.
    User,
    /// The model that replies.
    Assistant,
}

impl ModelRequest {
    /// Creates a request with one user message.
    pub fn new(system: impl Into<String>, question: impl Into<String>) -> Self {
        let messages = vec![ChatMessage { role: ChatRole::User, text: question.into() }];
        Self { system: system.into(), messages, ..Self::default() }
    }

    /// Whether the reply must be JSON.
    pub(crate) fn expects_json(&self) -> bool {
        self.expects_object || self.contract.is_some()
    }

    /// Returns the temperature if it is a finite number.
    pub(crate) fn finite_temperature(&self) -> Option<f64> {
        self.temperature.filter(|degrees| degrees.is_finite())
    }

    /// Whether any text of the request mentions JSON; some JSON modes refuse a request that does
    /// not.
    pub(crate) fn mentions_json(&self) -> bool {
        let texts = self.messages.iter().map(|turn| &turn.text).chain([&self.system]);
        texts.into_iter().any(|text| text.to_ascii_lowercase().contains("json"))
    }
}

impl ChatRole {
    /// Returns the role's name in wire formats that call the model `assistant`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}
