//! The HTTP transport that all providers share: one call from the first byte sent to the last byte
//! received.
//!
//! ```text
//! body ──► ProviderEndpoint ──► FrameDecoder ──► ProviderDialect ──► ResponseAccumulator
//!                 │ (not 200)                           │                    │
//!                 ▼                                     ▼                    ▼
//!          error_response ───────────────────────► ModelErrorKind      ModelResponse
//! ```

mod http_chat_model;
mod http_embedder;
mod dialect;
mod frame_decoder;
mod response_accumulator;
mod http_client;
mod endpoint;
mod reparse;
mod retry_after;
mod redactor;
mod error_response;

pub(crate) use dialect::{PreparedRequest, ProviderDialect};
pub(crate) use endpoint::ProviderEndpoint;
pub(crate) use error_response::parse_stream_error;
pub(crate) use frame_decoder::StreamFraming;
pub(crate) use http_chat_model::HttpChatModel;
pub(crate) use http_client::build_http_client;
pub(crate) use http_embedder::HttpEmbedder;
pub(crate) use redactor::SecretRedactor;
pub use reparse::reparse_texts;
pub(crate) use response_accumulator::ResponseAccumulator;
