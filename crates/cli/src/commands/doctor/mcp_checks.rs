//! The checks of `countersign doctor` of MCP servers: whether those that the protocol declares
//! answer. A server is used only if the protocol is trusted.

use std::path::Path;
use std::sync::Arc;

use countersign_protocol::{McpServerDefinition, Protocol};
use countersign_runtime::effect::EffectError;
use countersign_runtime::mcp::{McpConnection, McpServerIdentity};
use countersign_runtime::trust::ActionGuard;
use countersign_view::protocol_catalog::load_shipped_permissions;
use serde_json::json;

use super::doctor_report::DoctorReport;
use crate::context::block_on;
use crate::settings::locate_trust_file;

/// What to do about a server that does not answer.
const WAY_OUT: &str = "Start the server, or correct `policy.mcp` in the index.";

/// Checks every MCP server that a protocol declares.
pub(super) fn check_mcp_servers(
    report: &mut DoctorReport,
    protocol: &Arc<Protocol>,
    workspace: &Path,
) {
    let servers = &protocol.policy.mcp;
    if servers.is_empty() {
        return;
    }
    let guard = ActionGuard::new(workspace.to_owned(), load_shipped_permissions);
    let guard = match locate_trust_file() {
        Some(file) => guard.with_trust_file(file),
        None => guard,
    };
    let names: Vec<&str> = servers.keys().map(String::as_str).collect();
    if !guard.is_trusted(protocol).unwrap_or(false) {
        let text = format!(
            "{}; not started, because the protocol is not trusted here: `countersign trust`",
            names.join(", ")
        );
        report.add("MCP servers", text, json!(names));
        return;
    }
    for (name, definition) in servers {
        let answered = block_on(async { Ok(identify_server(name, definition, workspace).await) });
        match answered {
            Ok(Ok((server, count))) => {
                let text = format!(
                    "{name} answers: {} ({count} tools, MCP {})",
                    server.name, server.protocol
                );
                let value = json!({ "name": name, "server": server.name, "protocol": server.protocol, "tools": count });
                report.add_passed("MCP server", text, value);
            }
            Ok(Err(error)) => report.add_problem("MCP server", error.message, WAY_OUT),
            Err(error) => report.add_problem("MCP server", error.to_string(), WAY_OUT),
        }
    }
}

/// Connects to a server; returns who it is, and how many tools agents may use.
async fn identify_server(
    name: &str,
    definition: &McpServerDefinition,
    workspace: &Path,
) -> Result<(McpServerIdentity, usize), EffectError> {
    let mut connection = McpConnection::connect(name, definition, workspace).await?;
    let count = connection.list_tools().await?.len();
    Ok((connection.identify(), count))
}
