//! Responses of a model: the exact text, and what is known about the call.

use std::fmt;

use countersign_contract::reply::FinishReason;
use countersign_schema_tools::ExportTarget;

/// A model's response.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelResponse {
    /// The text that the model generated, byte for byte.
    pub text: String,
    /// Whether the model finished or was cut off.
    pub finish: FinishReason,
    /// Why the model stopped, in the provider's own term.
    pub finish_reason: String,
    /// Tokens that the call used; `None` if the provider does not report them.
    pub usage: Option<TokenUsage>,
    /// The model that replied, as the provider names it.
    pub model: String,
    /// The bytes of request and response.
    pub exchange: ModelExchange,
    /// What the provider was told about the contract.
    pub constraint: OutputConstraint,
    /// Whether nulls in the reply may mean absent fields; then call `ExportedContract::drop_nulls`
    /// before admission.
    pub drop_nulls: bool,
}

/// Tokens that a call used, as the provider counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// All input tokens, cached or not.
    pub input_tokens: u64,
    /// All output tokens, including reasoning.
    pub output_tokens: u64,
    /// Input tokens that came from a cache; `None` if the provider does not report them.
    pub cached_tokens: Option<u64>,
}

/// The bodies of a request and its response, without headers and with keys redacted.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ModelExchange {
    /// Body of the request.
    pub request: Vec<u8>,
    /// Body of the response, as far as it was received.
    pub response: Vec<u8>,
}

/// What a provider was told about the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputConstraint {
    /// The schema, exported for this target.
    Schema(ExportTarget),
    /// That the reply must be JSON, without a schema.
    JsonMode,
    /// Nothing; only the prompt describes the reply.
    Unconstrained,
}

/// Shows the bodies as text, because lists of byte values are not readable.
impl fmt::Debug for ModelExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("request", &String::from_utf8_lossy(&self.request))
            .field("response", &String::from_utf8_lossy(&self.response))
            .finish()
    }
}
