//! The list of what a protocol may use beyond the files of its workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use countersign_contract::json::digest_json;
use countersign_models::ModelSpec;
use countersign_protocol::{McpServerDefinition, McpTransport, ProgramDefinition, Protocol};
use reqwest::Url;
use serde::Serialize;
use serde_json::{Value, json};

/// Everything that a protocol may use beyond files; a person decides whether to trust it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ProtocolPermissions {
    /// Programs, by their names in the policy.
    pub programs: BTreeMap<String, ProgramPermission>,
    /// Hosts that may be called.
    pub hosts: BTreeSet<String>,
    /// MCP servers, by their names in the policy.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp_servers: BTreeMap<String, McpServerPermission>,
    /// Sources by their names in the policy, with all their settings.
    pub sources: BTreeMap<String, Value>,
    /// Model servers that the protocol names by address; prompts are sent there.
    pub model_servers: BTreeSet<String>,
    /// Patterns of hidden files that runs may access. Such files may be secret, or may be programs
    /// that other users start.
    pub hidden_files: BTreeSet<String>,
}

/// A program as the policy declares it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProgramPermission {
    /// The executable and its first arguments.
    pub command: Vec<String>,
    /// Names of environment variables that are passed on.
    pub environment: Vec<String>,
}

/// An MCP server as the policy declares it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum McpServerPermission {
    /// A program that speaks on its standard input and output.
    Program {
        /// The executable and its first arguments.
        command: Vec<String>,
        /// Names of environment variables that are passed on.
        environment: Vec<String>,
    },
    /// A server that is called over HTTP.
    Http {
        /// The absolute web address.
        url: String,
        /// Names of environment variables whose values are sent in headers.
        environment: Vec<String>,
    },
}

impl McpServerPermission {
    fn from_definition(server: &McpServerDefinition) -> Self {
        match &server.transport {
            McpTransport::Program { command, environment } => {
                Self::Program { command: command.clone(), environment: environment.clone() }
            }
            McpTransport::Http { url, headers } => {
                Self::Http { url: url.clone(), environment: headers.values().cloned().collect() }
            }
        }
    }

    /// Describes the server for people, in one line.
    fn describe(&self) -> String {
        let (text, environment) = match self {
            Self::Program { command, environment } => (describe_command(command), environment),
            Self::Http { url, environment } => (escape_control(url), environment),
        };
        if environment.is_empty() {
            text
        } else {
            format!("{text} (sees {})", environment.join(", "))
        }
    }
}

impl ProtocolPermissions {
    /// Collects the permissions that a protocol needs.
    #[must_use]
    pub fn from_protocol(protocol: &Protocol) -> Self {
        let policy = &protocol.policy;
        let program = |(name, program): (&String, &ProgramDefinition)| {
            let ProgramDefinition { command, environment, .. } = program;
            let (command, environment) = (command.clone(), environment.clone());
            (name.clone(), ProgramPermission { command, environment })
        };
        let named = protocol.agents.values().filter_map(|agent| agent.model.as_deref());
        let models = named.chain(protocol.default_model.as_deref());
        let models = models.map(|model| protocol.resolve_model_name(model));
        Self {
            programs: policy.programs.iter().map(program).collect(),
            hosts: policy.hosts.iter().cloned().collect(),
            mcp_servers: policy
                .mcp
                .iter()
                .map(|(name, server)| (name.clone(), McpServerPermission::from_definition(server)))
                .collect(),
            sources: policy
                .sources
                .iter()
                .map(|(name, source)| (name.clone(), source.settings.clone()))
                .collect(),
            model_servers: models.filter_map(extract_model_server).collect(),
            hidden_files: policy.files.show.iter().map(|one| one.source().to_owned()).collect(),
        }
    }

    /// Returns whether nothing is needed, so that no trust is required.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty()
            && self.hosts.is_empty()
            && self.mcp_servers.is_empty()
            && self.sources.is_empty()
            && self.model_servers.is_empty()
            && self.hidden_files.is_empty()
    }

    /// Returns the commands of programs and MCP servers. No run may change the files that they
    /// name.
    #[must_use]
    pub fn list_commands(&self) -> Vec<Vec<String>> {
        let programs = self.programs.values().map(|program| program.command.clone());
        let servers = self.mcp_servers.values().filter_map(|server| match server {
            McpServerPermission::Program { command, .. } => Some(command.clone()),
            McpServerPermission::Http { .. } => None,
        });
        programs.chain(servers).collect()
    }

    /// Returns the digest that trust is recorded under: it covers the list, the protocol's name,
    /// and the working folder that programs run in.
    #[must_use]
    pub fn trust_digest(&self, protocol: &str, folder: &Path) -> String {
        let folder = folder.to_string_lossy();
        digest_json(&json!({ "protocol": protocol, "folder": folder, "permissions": self }))
    }

    /// Describes the list for people, one entry per line, exactly as the policy has it. Control
    /// characters are escaped, because the list may come from an untrusted author.
    #[must_use]
    pub fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, program) in &self.programs {
            let mut line =
                format!("program {}: {}", escape_control(name), describe_command(&program.command));
            if !program.environment.is_empty() {
                line.push_str(&format!(" (sees {})", program.environment.join(", ")));
            }
            lines.push(line);
        }
        lines.extend(self.hosts.iter().map(|host| format!("host {}", escape_control(host))));
        for (name, server) in &self.mcp_servers {
            lines.push(format!("MCP server {}: {}", escape_control(name), server.describe()));
        }
        for (name, settings) in &self.sources {
            lines.push(format!(
                "source {}: {}",
                escape_control(name),
                escape_control(&settings.to_string())
            ));
        }
        let servers = self.model_servers.iter();
        lines.extend(servers.map(|server| format!("model server {}", escape_control(server))));
        let shown = self.hidden_files.iter();
        lines.extend(shown.map(|pattern| format!("hidden files {}", escape_control(pattern))));
        lines
    }
}

/// Returns what a model uses beyond the default address of its provider and the working folder: the
/// server in its name, without credentials, or a script outside the folder.
#[must_use]
pub fn extract_model_server(model: &str) -> Option<String> {
    let address = match model.parse().ok()? {
        ModelSpec::Remote { address: Some(address), .. } => address,
        ModelSpec::Script(file) if is_outside_folder(&file) => {
            return Some(format!("script:{}", file.display()));
        }
        ModelSpec::Remote { .. } | ModelSpec::Script(_) | ModelSpec::Human => return None,
    };
    // An address that cannot be parsed is still shown, without its credentials.
    let shown = address.to_string();
    Some(Url::parse(address.reveal()).map_or(shown, |url| url.origin().ascii_serialization()))
}

/// Returns whether a relative path leads outside its base folder, or is absolute.
pub(crate) fn is_outside_folder(path: &Path) -> bool {
    path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Formats a command as words, quoted if a word is not plain.
pub(super) fn describe_command(command: &[String]) -> String {
    let word = |word: &String| {
        let is_plain = |one: char| one.is_ascii_alphanumeric() || "-_./:=,+@%".contains(one);
        if !word.is_empty() && word.chars().all(is_plain) {
            word.clone()
        } else {
            format!("{word:?}")
        }
    };
    command.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Returns the server of an address, without the password and any other parts.
#[must_use]
pub fn extract_address_server(address: &str) -> Option<String> {
    let is_database = address.starts_with("postgres");
    let Ok(url) = Url::parse(address) else {
        return is_database.then(|| "postgres://…".to_owned());
    };
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    let host = url.host_str().filter(|host| !host.is_empty()).map(|host| format!("{host}{port}"));
    // A database address may also state its host, or the folder of its socket, in the query.
    let behind = url
        .query_pairs()
        .filter(|(name, _)| is_database && matches!(name.as_ref(), "host" | "hostaddr" | "port"));
    let hosts: Vec<String> =
        host.into_iter().chain(behind.map(|(_, host)| host.into_owned())).collect();
    (is_database || !hosts.is_empty()).then(|| format!("{}://{}", url.scheme(), hosts.join(",")))
}

/// Escapes control characters, including those that change the text direction.
pub(super) fn escape_control(text: &str) -> String {
    let escape = |one: char| match one {
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => {
            one.escape_unicode().to_string()
        }
        one if one.is_control() => one.escape_default().to_string(),
        one => one.to_string(),
    };
    text.chars().map(escape).collect()
}
