//! The contracts that ship with Countersign: schemas, rules, and the Rust types that match them.
//!
//! Each contract consists of two files, `contracts/<id>.yaml` and `schemas/<id>.schema.json`;
//! [`shipped`] embeds their text. Types and schemas agree in both directions: a value that
//! validates parses into its type and serializes back to an equal value (as long as its whole
//! numbers fit into 64 bits), and a value of a type validates if it respects the bounds that the
//! type's documentation states. The rules of a contract go beyond both. This crate only holds data
//! and types; `countersign-contract` parses, validates and evaluates rules.

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

/// A JSON object whose keys the schema does not define.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;

/// A map from a name to a non-negative whole number, such as section name to token count.
pub type NamedCounts = std::collections::BTreeMap<String, u64>;

// The example of the README is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctest;
