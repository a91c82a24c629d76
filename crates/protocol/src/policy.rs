//! What the owner of a protocol allows its runs: programs, hosts, sources, files, prices and
//! limits.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    BudgetLimits, CallApproval, CallApprovalCondition, DurationMillis, FilePolicy,
    McpServerDefinition,
};

/// The policy of a protocol. Everything that is not listed is forbidden.
#[derive(Debug, Default)]
pub struct ProtocolPolicy {
    /// Programs that runs may start, by name.
    pub programs: BTreeMap<String, ProgramDefinition>,
    /// Hosts that runs may call: `api.example.org`, `127.0.0.1:8080`.
    pub hosts: Vec<String>,
    /// Sources that runs may query, by name.
    pub sources: BTreeMap<String, RetrievalSource>,
    /// MCP servers whose tools agents may use, by name.
    pub mcp: BTreeMap<String, McpServerDefinition>,
    /// Hidden files that runs may reach.
    pub files: FilePolicy,
    /// Which calls need an approval. The first entry that applies to a call decides.
    pub approvals: Vec<CallApproval>,
    /// Price of a million tokens by model, in millionths of the currency: input, output.
    pub prices: BTreeMap<String, (u64, u64)>,
    /// Budget limits of a whole run.
    pub budget: BudgetLimits,
}

impl ProtocolPolicy {
    /// Whether calls of this name may need an approval, whatever their arguments are.
    #[must_use]
    pub fn has_approvals_of(&self, name: &str) -> bool {
        let first = self.approvals.iter().find(|rule| rule.matches(name));
        first.is_some_and(|rule| !matches!(rule.when, CallApprovalCondition::Never))
    }
}

/// A program that runs may start: without a shell, with an empty environment and a time limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramDefinition {
    /// The executable and its first arguments.
    pub command: Vec<String>,
    /// Time limit of one execution.
    pub timeout: DurationMillis,
    /// Names of the environment variables that are passed on.
    pub environment: Vec<String>,
}

/// A source that runs can query. Settings beyond the kind are interpreted by the source itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RetrievalSource {
    /// `files`, or a kind that the runtime provides.
    pub kind: String,
    /// The whole declaration as the author wrote it.
    pub settings: Value,
}
