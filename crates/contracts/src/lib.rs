//! The contracts that ship with Countersign: schemas, rules, and the Rust types that agree with
//! them.
//!
//! Each contract is two files, `contracts/<id>.yaml` and `schemas/<id>.schema.json`; [`shipped`]
//! holds their text. The types say the same as the schemas: a value that validates parses into its
//! type and comes back equal (as long as its whole numbers fit into 64 bits), and a value of a type
//! validates when it keeps the bounds its documentation names. The rules of a contract are beyond
//! both. Nothing here decides: parsing, validating and ruling are the business of
//! `countersign-core`.

pub mod shipped;
mod registry;
pub mod intake;
pub mod registry_record;
pub mod protocol;
pub mod delivery;
pub mod answer;
pub mod memory;
mod nullable;

pub use nullable::Nullable;
pub use registry::load_shipped_contracts;

/// A JSON object whose keys no schema fixes.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;

/// Whole numbers by name, such as tokens by section.
pub type NamedCounts = std::collections::BTreeMap<String, u64>;
