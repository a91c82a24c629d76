//! Evidence sources: SQL databases, folders of documents, and graphs over Bolt.
//!
//! Each implements `countersign_runtime::effect::SourceRetriever` and is chosen by the `kind` that
//! a policy declares. If a source cannot be queried, the call fails with an error that names the
//! source; an empty result means that the source was queried and has no matches. This crate does
//! not judge the evidence.

mod builtin_sources;
mod settings;
mod evidence_builder;
mod query;
mod tls;
mod sqlite;
mod postgres;
mod documents;
mod neo4j;

pub use builtin_sources::BuiltinSources;
pub use settings::EnvLookup;
