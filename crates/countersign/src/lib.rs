//! Language models propose, contracts decide.
//!
//! A model's reply changes nothing until it is parsed, validated, ruled on, turned into a patch
//! within its authority, and recorded. This crate is the library; the program `countersign` is the
//! package `countersign-cli`.
//!
//! Check a reply against a contract:
//!
//! ```
//! use countersign::prelude::*;
//!
//! let contract = load_inline_contract(
//!     "id: verdict\nversion: 1.0.0\nschema: { required: [score], properties: { score: { maximum: 100 } } }",
//! )
//! .unwrap();
//! let verdict =
//!     contract.admit(r#"{"score": 101}"#, FinishReason::Stop, &RuleContext::default());
//! assert_eq!(verdict.violations()[0].to_string(), "/score: expected at most 100, found 101 [maximum]");
//! ```
//!
//! The examples of this crate show the rest: a typed contract, a protocol in process with a model of
//! your own, an answered question, memory, the server's router in your application, and a store of
//! your own.
//!
//! | module | contents | feature |
//! |---|---|---|
//! | [`contract`] | contracts, admission, expressions, patches | always |
//! | [`schema_tools`] | compatibility, samples, export for providers | always |
//! | [`protocol`] | protocol folders: loading and checking | always |
//! | [`run`] | inputs, events, `decide`, `apply`, `verify` | always |
//! | [`shipped_contracts`], [`shipped_protocols`] | what ships with Countersign | always |
//! | `models` | clients of model providers | `models` |
//! | `runtime`, `store`, `memory` | the engine, its stores and memory | `runtime` (default) |
//! | `sources` | databases, documents and graphs | `sources` |
//! | `server`, `view` | HTTP, MCP and the web page | `server` |
//!
//! `postgres` adds the PostgreSQL store and memory to `store` and `memory`, and `suite` the tests
//! that every store must pass.

pub use countersign_contract as contract;
pub use countersign_protocol as protocol;
pub use countersign_run as run;
pub use countersign_schema_tools as schema_tools;
pub use countersign_shipped_contracts as shipped_contracts;
pub use countersign_shipped_protocols as shipped_protocols;

#[cfg(feature = "models")]
pub use countersign_models as models;

#[cfg(feature = "runtime")]
pub use {
    countersign_memory as memory, countersign_runtime as runtime, countersign_store as store,
};

#[cfg(feature = "sources")]
pub use countersign_sources as sources;

#[cfg(feature = "server")]
pub use {countersign_server as server, countersign_view as view};

/// The names that most programs need.
pub mod prelude {
    pub use countersign_contract::contract::{Contract, load_contract_value, load_inline_contract};
    pub use countersign_contract::patch::{Authority, Patch};
    pub use countersign_contract::reply::{AdmissionVerdict, FinishReason, RuleContext, Violation};
    pub use countersign_contract::source::DiagnosticList;
    pub use countersign_protocol::{Protocol, ProtocolBundle};
    pub use countersign_run::{ExecutionStatus, InputKind, RunEvent, RunState};
    pub use countersign_shipped_contracts::load_shipped_contracts;

    #[cfg(feature = "models")]
    pub use countersign_models::{ChatModel, FunctionModel, ModelRequest};

    #[cfg(feature = "runtime")]
    pub use countersign_runtime::driver::IdleReason;
    #[cfg(feature = "runtime")]
    pub use countersign_runtime::{Runtime, RuntimeBuilder};
    #[cfg(feature = "runtime")]
    pub use countersign_store::{InMemoryStore, SqliteStore};
}
