//! Countersign's models: a prompt goes out, text comes back, and every byte of both is kept.
//!
//! Four wire formats ([`Provider`]), replies from a file ([`Script`]) and people ([`Human`]) stand
//! behind one trait, [`Model`]. Nothing here knows runs, decides about a reply, or tries again:
//! a failure says whether and when that makes sense ([`ModelError`]), and the caller schedules it.
//!
//! ```
//! use countersign_models::{ModelSpec, Settings, connect};
//!
//! let spec: ModelSpec = "ollama:llama3.2".parse().unwrap();
//! let model = connect(&spec, &Settings::default()).unwrap();
//! assert_eq!(model.name(), "ollama:llama3.2");
//!
//! let error = "opnai:gpt-5".parse::<ModelSpec>().unwrap_err();
//! assert!(error.to_string().starts_with("no provider `opnai`; did you mean `openai`?"));
//! ```

mod ask;
mod answer;
mod error;
mod model;
mod embedder;
mod spec;
mod key;
mod settings;
mod config_error;
mod connect;
mod providers;
mod wire;
mod script;
mod human;
mod backoff;
mod price;
mod measured;

pub use answer::{Answer, Exchange, Sent, Usage};
pub use ask::{Ask, Position, Role, Turn};
pub use backoff::Backoff;
pub use config_error::ConfigError;
pub use connect::{connect, connect_embedder};
pub use embedder::Embedder;
pub use error::{Fault, Flaw, ModelError, Wait};
pub use human::Human;
pub use key::{Key, Keys};
pub use measured::{listen, measured};
pub use model::{BoxFuture, Model};
pub use price::{Price, cost};
pub use script::{SCRIPT_SCHEMA, Script};
pub use settings::{Addresses, SchemaUse, Settings, Timeouts};
pub use spec::{ModelSpec, ModelSpecError, Provider};
pub use wire::reread_texts;
