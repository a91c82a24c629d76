//! Clients for language models: a prompt goes out, text comes back, and every byte of both is kept.
//!
//! Four wire formats ([`ModelProvider`]), replies from a file ([`ScriptedModel`]) and people
//! ([`HumanModel`]) implement one trait, [`ChatModel`]. This crate knows no runs, makes no decision
//! about a reply and does not retry: an error says whether and when a retry makes sense
//! ([`ModelError`]), and the caller schedules it.
//!
//! ```
//! use countersign_models::{ModelSettings, ModelSpec, connect_model};
//!
//! let spec: ModelSpec = "ollama:llama3.2".parse().unwrap();
//! let model = connect_model(&spec, &ModelSettings::default()).unwrap();
//! assert_eq!(model.name(), "ollama:llama3.2");
//!
//! let error = "opnai:gpt-5".parse::<ModelSpec>().unwrap_err();
//! assert!(error.to_string().starts_with("no provider `opnai`; did you mean `openai`?"));
//! ```

mod request;
mod response;
mod error;
mod chat_model;
mod embedder;
mod model_spec;
mod provider_key;
mod settings;
mod config_error;
mod connect;
mod providers;
mod wire;
mod script;
mod human;
mod function_model;
mod backoff;
mod price;
mod traced_call;

pub use backoff::ExponentialBackoff;
pub use chat_model::{ChatModel, ModelFuture};
pub use config_error::ModelConfigError;
pub use connect::{connect_embedder, connect_model};
pub use embedder::Embedder;
pub use error::{ModelError, ModelErrorKind, ResponseDefect, TimeoutStage};
pub use function_model::FunctionModel;
pub use human::HumanModel;
pub use model_spec::{ModelProvider, ModelSpec, ModelSpecError};
pub use price::{TokenPrice, compute_cost};
pub use provider_key::{ProviderKey, ProviderKeys};
pub use request::{ChatMessage, ChatRole, ModelCallIndex, ModelRequest};
pub use response::{ModelExchange, ModelResponse, OutputConstraint, TokenUsage};
pub use script::{SCRIPT_SCHEMA, ScriptExamples, ScriptedModel};
pub use settings::{ModelSettings, ModelTimeouts, ProviderAddresses, SchemaDelivery};
pub use traced_call::complete_in_span;
pub use wire::reparse_texts;

// The example of the README is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctest;
