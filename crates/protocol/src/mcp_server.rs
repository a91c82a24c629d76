//! MCP servers whose tools agents may use, and how agents select tools.

use std::collections::BTreeMap;

use super::DurationMillis;

/// A declared MCP server: how it is reached, and which of its tools agents may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerDefinition {
    /// How the server is reached.
    pub transport: McpTransport,
    /// Time limit of one request: connecting, listing tools, or one call. The default is one
    /// minute.
    pub timeout: DurationMillis,
    /// Names of the tools that agents may use; `None` allows every tool that the server lists.
    pub tools: Option<Vec<String>>,
}

/// How an MCP server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// A program that speaks on its standard input and output.
    Program {
        /// The executable and its first arguments.
        command: Vec<String>,
        /// Names of the environment variables that are passed on.
        environment: Vec<String>,
    },
    /// A server that speaks streamable HTTP.
    Http {
        /// The absolute address, with `http` or `https`.
        url: String,
        /// Headers that are sent: name, and the environment variable that holds the value.
        headers: BTreeMap<String, String>,
    },
}

impl McpServerDefinition {
    /// Whether the policy allows agents to use a tool of this server.
    #[must_use]
    pub fn allows_tool(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == name))
    }
}

/// An entry of an agent's tool list: `SERVER.TOOL`, or `SERVER.*` for every tool of the server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct McpToolSelector {
    /// Name of the server in the policy.
    pub server: String,
    /// Name of the tool; `None` selects every tool that the policy allows.
    pub tool: Option<String>,
}

impl std::fmt::Display for McpToolSelector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.server, self.tool.as_deref().unwrap_or("*"))
    }
}

impl McpToolSelector {
    /// Parses an entry; `None` if it has no dot or an empty part.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (server, tool) = text.split_once('.')?;
        let tool = (tool != "*").then(|| tool.to_owned());
        let is_empty = server.is_empty() || tool.as_ref().is_some_and(String::is_empty);
        (!is_empty).then(|| Self { server: server.to_owned(), tool })
    }

    /// Whether the entry selects a tool.
    #[must_use]
    pub fn selects(&self, server: &str, tool: &str) -> bool {
        self.server == server && self.tool.as_deref().is_none_or(|selected| selected == tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_has_a_server_and_a_tool_or_all() {
        let selector = |server: &str, tool: Option<&str>| {
            Some(McpToolSelector { server: server.to_owned(), tool: tool.map(str::to_owned) })
        };
        assert_eq!(McpToolSelector::parse("fs.read_file"), selector("fs", Some("read_file")));
        assert_eq!(McpToolSelector::parse("fs.a.b/c"), selector("fs", Some("a.b/c")));
        assert_eq!(McpToolSelector::parse("fs.*"), selector("fs", None));
        for text in ["", "read", ".", "fs.", ".read"] {
            assert_eq!(McpToolSelector::parse(text), None, "{text}");
        }
        assert!(selector("fs", None).unwrap().selects("fs", "x"));
        assert!(!selector("fs", None).unwrap().selects("f", "x"));
        assert!(!selector("fs", Some("y")).unwrap().selects("fs", "x"));
    }
}
