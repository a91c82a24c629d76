//! Sources that can be asked for evidence: SQL databases, folders of documents, graphs over Bolt.
//!
//! Each stands behind `countersign_runtime::effect::Source` and is chosen by the `kind` that a
//! policy declares. A source that cannot be asked is an error with its name; an empty answer means
//! that it was asked and has nothing. Nothing here decides what the evidence is good for.

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
pub use documents::{PdfReader, read_pdf_from_stdin};
pub use settings::EnvLookup;
