//! What the owner of a protocol allows its runs: programs, hosts, sources, prices, limits.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{BudgetLimits, DurationMillis, FilePolicy};

/// The policy of a protocol. What is not here is not allowed.
#[derive(Debug, Default)]
pub struct ProtocolPolicy {
    /// Programs by name.
    pub programs: BTreeMap<String, ProgramDefinition>,
    /// Hosts that may be called: `api.example.org`, `127.0.0.1:8080`.
    pub hosts: Vec<String>,
    /// Where things are looked up, by name.
    pub sources: BTreeMap<String, RetrievalSource>,
    /// Hidden files that runs may reach.
    pub files: FilePolicy,
    /// What a million tokens cost, by model, in millionths of the currency: in, out.
    pub prices: BTreeMap<String, (u64, u64)>,
    /// Limits of a whole run.
    pub budget: BudgetLimits,
}

/// A program that runs may start: no shell, an empty environment, a time limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramDefinition {
    /// The file and its first arguments.
    pub command: Vec<String>,
    /// How long it may take.
    pub timeout: DurationMillis,
    /// Environment variables that are passed on, by name.
    pub environment: Vec<String>,
}

/// A source that things are looked up in. What it needs beyond its kind is its own business.
#[derive(Debug, Clone, PartialEq)]
pub struct RetrievalSource {
    /// `files`, or a kind that the runtime knows.
    pub kind: String,
    /// Everything the author said of it.
    pub settings: Value,
}
