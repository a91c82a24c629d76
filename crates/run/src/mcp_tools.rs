//! Tools of MCP servers as a run knows them: listed once by the runtime, recorded in the log, and
//! used from there. What a server lists later is compared with them.

use std::collections::BTreeMap;

use countersign_contract::json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A tool as an MCP server lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpToolDefinition {
    /// Name of the tool, unique in its server.
    pub name: String,
    /// What the tool does, in the words of the server; empty if it says nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
}

impl McpToolDefinition {
    /// Digest of name, description and schema. Another digest under the same name is another tool.
    #[must_use]
    pub fn digest(&self) -> String {
        json::digest_json(&json!([self.name, self.description, self.input_schema]))
    }
}

/// The tools of an MCP server that a run may use, as they were listed when the run first needed
/// them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedMcpTools {
    /// Digest of all tools.
    pub digest: String,
    /// The tools, sorted by name.
    pub tools: Vec<McpToolDefinition>,
}

impl PinnedMcpTools {
    /// Pins these tools, which are sorted by name.
    #[must_use]
    pub fn new(tools: Vec<McpToolDefinition>) -> Self {
        let digests: Vec<String> = tools.iter().map(McpToolDefinition::digest).collect();
        Self { digest: json::digest_json(&json!(digests)), tools }
    }

    /// Finds a tool by its name.
    #[must_use]
    pub fn find_tool(&self, name: &str) -> Option<&McpToolDefinition> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

/// A listed tool that no agent can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnusableMcpTool {
    /// Name of the tool, shortened.
    pub name: String,
    /// Why it cannot be used, in a sentence.
    pub reason: String,
}

/// How the tools of a server differ from those that an earlier run of the protocol pinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpToolChanges {
    /// Id of the earlier run.
    pub run: String,
    /// Names of tools that the earlier run did not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// Names of tools that the server no longer lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Names of tools whose description or input schema differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

impl McpToolChanges {
    /// Compares the tools that an earlier run pinned with what the server lists now; `None` if they
    /// are the same.
    #[must_use]
    pub fn compare(
        run: &str,
        before: &[McpToolDefinition],
        now: &[McpToolDefinition],
    ) -> Option<Self> {
        let by_name = |tools: &[McpToolDefinition]| -> BTreeMap<String, String> {
            tools.iter().map(|tool| (tool.name.clone(), tool.digest())).collect()
        };
        let (before, now) = (by_name(before), by_name(now));
        let missing_in = |one: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
            one.keys().filter(|name| !other.contains_key(*name)).cloned().collect::<Vec<_>>()
        };
        let is_changed =
            |name: &String, digest: &String| now.get(name).is_some_and(|found| found != digest);
        let kept = before.iter().filter(|(name, digest)| is_changed(name, digest));
        let found = Self {
            run: run.to_owned(),
            added: missing_in(&now, &before),
            removed: missing_in(&before, &now),
            changed: kept.map(|(name, _)| name.clone()).collect(),
        };
        (before != now).then_some(found)
    }

    /// The same changes without added tools that no agent can use; `None` if none are left.
    #[must_use]
    pub(crate) fn without_added(&self, unusable: &[UnusableMcpTool]) -> Option<Self> {
        let mut changes = self.clone();
        changes.added.retain(|name| unusable.iter().all(|tool| tool.name != *name));
        let is_empty =
            changes.added.is_empty() && changes.removed.is_empty() && changes.changed.is_empty();
        (!is_empty).then_some(changes)
    }

    /// Describes the changes in a few words.
    #[must_use]
    pub fn describe(&self) -> String {
        let part = |verb: &str, names: &[String]| {
            (!names.is_empty()).then(|| format!("{verb}: {}", format_tool_names(names)))
        };
        let parts = [
            part("added", &self.added),
            part("removed", &self.removed),
            part("changed", &self.changed),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

/// Formats names in backticks; a long list is shortened.
pub(crate) fn format_tool_names(names: &[String]) -> String {
    const MOST: usize = countersign_contract::limits::MAX_LISTED_NAMES;
    let shown: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> McpToolDefinition {
        let input_schema = json!({ "type": "object" });
        McpToolDefinition { name: name.into(), description: description.into(), input_schema }
    }

    #[test]
    fn changes_name_what_was_added_removed_and_changed() {
        let before = [tool("a", ""), tool("b", "old"), tool("c", "")];
        let now = [tool("b", "new"), tool("c", ""), tool("d", "")];
        let changes = McpToolChanges::compare("r1", &before, &now).unwrap();
        assert_eq!(changes.describe(), "added: `d`; removed: `a`; changed: `b`");
        assert_eq!(McpToolChanges::compare("r1", &before, &before), None);
    }

    #[test]
    fn the_order_of_keys_in_a_schema_does_not_change_a_tool() {
        let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let one = McpToolDefinition {
            input_schema: schema(r#"{"type":"object","required":["a"]}"#),
            ..tool("a", "x")
        };
        let other = McpToolDefinition {
            input_schema: schema(r#"{"required":["a"],"type":"object"}"#),
            ..tool("a", "x")
        };
        assert_eq!(one.digest(), other.digest());
        assert_ne!(one.digest(), tool("a", "x").digest());
    }
}
