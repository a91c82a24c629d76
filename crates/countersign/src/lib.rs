#![doc = include_str!("../README.md")]

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
    countersign_documents as documents, countersign_memory as memory,
    countersign_runtime as runtime, countersign_store as store,
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
    pub use countersign_store::InMemoryStore;
    #[cfg(feature = "sqlite")]
    pub use countersign_store::SqliteStore;
}
