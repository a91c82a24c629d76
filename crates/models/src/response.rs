//! What came back: the text as it was written, and all that is known about how it came.

use std::fmt;

use countersign_core::contract::ExportTarget;
use countersign_core::reply::FinishReason;

/// A model's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelResponse {
    /// What the model wrote, byte for byte.
    pub text: String,
    /// Whether it was done or cut off.
    pub finish: FinishReason,
    /// Why it stopped, in the provider's own word.
    pub finish_reason: String,
    /// What was used up; absent where the provider does not say.
    pub usage: Option<TokenUsage>,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// What went over the wire.
    pub exchange: ModelExchange,
    /// What the provider was told of the contract.
    pub constraint: OutputConstraint,
    /// Whether nulls in the reply may mean absence: then `Export::drop_nulls` comes before the door.
    pub drop_nulls: bool,
}

/// What a call used up, in the provider's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// All that was read, cached or not.
    pub input_tokens: u64,
    /// All that was written, thinking included.
    pub output_tokens: u64,
    /// What of the input came out of a cache, where the provider tells.
    pub cached_tokens: Option<u64>,
}

/// The bodies of a request and its response: no headers, and keys blotted out.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ModelExchange {
    /// What was sent.
    pub request: Vec<u8>,
    /// What came, as far as it came.
    pub response: Vec<u8>,
}

/// What a provider was told of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputConstraint {
    /// The schema, in the language of this target.
    Schema(ExportTarget),
    /// That it shall be JSON, and no more.
    JsonMode,
    /// Nothing; whatever the prompt says must do.
    Unconstrained,
}

/// The texts, where they are some: bytes in numbers help nobody.
impl fmt::Debug for ModelExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("request", &String::from_utf8_lossy(&self.request))
            .field("response", &String::from_utf8_lossy(&self.response))
            .finish()
    }
}
