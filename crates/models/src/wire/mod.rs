//! What every wire client shares: one call from the first byte out to the last byte in.
//!
//! ```text
//! body ──► Client ──► Line ──► response ──► Frames ──► Dialect::hear ──► Heard ──► Answer
//!                        │ (not 200)                  │
//!                        └──► status ──► Fault ◄──────┘
//! ```

mod client;
mod embeddings;
mod dialect;
mod frames;
mod heard;
mod http;
mod line;
mod reread;
mod retry_after;
mod secrets;
mod status;

pub(crate) use client::Client;
pub(crate) use dialect::{Dialect, Prepared};
pub(crate) use embeddings::Embeddings;
pub(crate) use frames::Framing;
pub(crate) use heard::Heard;
pub(crate) use http::http_client;
pub(crate) use line::Line;
pub use reread::reread_texts;
pub(crate) use secrets::Secrets;
pub(crate) use status::failed;
