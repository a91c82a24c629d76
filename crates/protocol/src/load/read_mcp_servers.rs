//! Reads the MCP servers of the policy.

use std::collections::BTreeMap;

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::protocol_file::ProtocolFile;
use super::read_duration::read_duration;
use super::read_policy::{DEFAULT_TIMEOUT, read_policy_section};
use super::symbol_table::SymbolTable;
use crate::{McpServerDefinition, McpTransport};

/// Reads the MCP servers whose tools agents may use.
pub(super) fn read_mcp_servers(
    index: Option<&ProtocolFile>,
    faults: &LoadDiagnostics,
) -> SymbolTable<McpServerDefinition> {
    read_policy_section("MCP server", "mcp", index, |member| {
        let timeout = match member.get("timeout") {
            Some(timeout) => read_duration(&timeout, faults)?,
            None => DEFAULT_TIMEOUT,
        };
        let transport = read_transport(member, faults)?;
        let tools = member.get("tools").map(|tools| tools.texts());
        Some(McpServerDefinition { transport, timeout, tools })
    })
}

fn read_transport(member: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<McpTransport> {
    match (member.get("command"), member.get("url")) {
        (Some(command), None) => {
            report_misplaced(member, "headers", "url", faults);
            let command = command.texts();
            if command.first().is_some_and(|file| file.trim().is_empty()) {
                faults.push(member.diagnose("min_length", "the file of a `command` is blank"));
                return None;
            }
            let environment = member.get("environment").map(|it| it.texts()).unwrap_or_default();
            Some(McpTransport::Program { command, environment })
        }
        (None, Some(url)) => {
            report_misplaced(member, "environment", "command", faults);
            let headers = member.get("headers");
            let headers: BTreeMap<String, String> = headers
                .iter()
                .flat_map(FileNode::entries)
                .filter_map(|(name, variable)| Some((name.to_owned(), variable.text()?.to_owned())))
                .collect();
            Some(McpTransport::Http { url: read_url(&url, faults)?, headers })
        }
        (found, _) => {
            let message = match found {
                None => "an MCP server needs a `command` or a `url`",
                Some(_) => "an MCP server has either a `command` or a `url`, and this one has both",
            };
            let hint = "write `command: [PROGRAM, ARGUMENT, …]` for a program, or `url: https://…`";
            let fault = member.diagnose("required", message);
            faults.push(fault.with_hint(Some(hint.to_owned())));
            None
        }
    }
}

/// Reports a key that only the other kind of server has.
fn report_misplaced(member: &FileNode<'_>, key: &str, owner: &str, faults: &LoadDiagnostics) {
    if let Some(node) = member.get(key) {
        let message = format!("`{key}` belongs to a server with a `{owner}`");
        faults.push(node.diagnose("misplaced_key", message));
    }
}

/// Reads the address of a server. It must not contain credentials, because the protocol and the log
/// show it.
fn read_url(url: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<String> {
    let text = url.text()?;
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let authority = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let hidden = |one: char| one.is_whitespace() || one.is_control();
    let (message, hint) = match authority {
        Some(authority) if authority.contains('@') => (
            "the address of an MCP server must not contain credentials".to_owned(),
            "put them into an environment variable, and name it under `headers`",
        ),
        Some(authority) if !authority.is_empty() && !text.contains(hidden) => {
            return Some(text.to_owned());
        }
        _ => (
            format!("`{text}` is not a web address"),
            "begin with `https://` or `http://`, followed by a host",
        ),
    };
    faults.push(url.diagnose("invalid_host", message).with_hint(Some(hint.to_owned())));
    None
}
