//! The list of what a protocol may use beyond the files of its workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use countersign_core::json::digest_json;
use countersign_core::protocol::{ProgramDefinition, Protocol};
use countersign_models::ModelSpec;
use reqwest::Url;
use serde::Serialize;
use serde_json::{Value, json};

/// Everything a protocol may use beyond files: what a person trusts, or does not.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ProtocolPermissions {
    /// Programs by the names of the policy.
    pub programs: BTreeMap<String, ProgramPermission>,
    /// Hosts that may be called.
    pub hosts: BTreeSet<String>,
    /// Sources by the names of the policy, with all their settings.
    pub sources: BTreeMap<String, Value>,
    /// Servers of models that the protocol names by address: prompts are sent there.
    pub model_servers: BTreeSet<String>,
    /// Patterns of hidden files that runs may reach: what stands there may be secret, or a program
    /// that somebody else starts.
    pub hidden_files: BTreeSet<String>,
}

/// A program as the policy declares it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProgramPermission {
    /// The file and its first arguments.
    pub command: Vec<String>,
    /// Environment variables that are passed on.
    pub environment: Vec<String>,
}

impl ProtocolPermissions {
    /// The list of a protocol.
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
        Self {
            programs: policy.programs.iter().map(program).collect(),
            hosts: policy.hosts.iter().cloned().collect(),
            sources: policy
                .sources
                .iter()
                .map(|(name, source)| (name.clone(), source.settings.clone()))
                .collect(),
            model_servers: models.filter_map(extract_model_server).collect(),
            hidden_files: policy.files.show.iter().map(|one| one.source().to_owned()).collect(),
        }
    }

    /// Whether nothing is wanted, so that nobody has to trust anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty()
            && self.hosts.is_empty()
            && self.sources.is_empty()
            && self.model_servers.is_empty()
            && self.hidden_files.is_empty()
    }

    /// The key of trust: the list, the protocol's name, and the folder of work that programs run in.
    #[must_use]
    pub fn trust_digest(&self, protocol: &str, folder: &Path) -> String {
        let folder = folder.to_string_lossy();
        digest_json(&json!({ "protocol": protocol, "folder": folder, "permissions": self }))
    }

    /// The list for people, an entry a line, exactly as the policy has it. Control characters are
    /// shown, not sent: the list may be a stranger's.
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

/// What a model reaches beyond the provider's own address and the folder of work: a server that it
/// is named with, without the credentials in it, or a script that lies elsewhere.
#[must_use]
pub fn extract_model_server(model: &str) -> Option<String> {
    let address = match model.parse().ok()? {
        ModelSpec::Remote { address: Some(address), .. } => address,
        ModelSpec::Script(file) if is_outside_folder(&file) => {
            return Some(format!("script:{}", file.display()));
        }
        ModelSpec::Remote { .. } | ModelSpec::Script(_) | ModelSpec::Human => return None,
    };
    // An address that cannot be read is shown all the same, without its credentials.
    let shown = address.to_string();
    Some(Url::parse(address.reveal()).map_or(shown, |url| url.origin().ascii_serialization()))
}

/// Whether a path names something outside the folder it is meant from.
pub(crate) fn is_outside_folder(path: &Path) -> bool {
    path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
}

/// A command as its words, quoted where a word is not plain.
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

/// The server of an address, without a password and whatever else stands in it.
#[must_use]
pub fn extract_address_server(address: &str) -> Option<String> {
    let is_database = address.starts_with("postgres");
    let Ok(url) = Url::parse(address) else {
        return is_database.then(|| "postgres://…".to_owned());
    };
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    let host = url.host_str().filter(|host| !host.is_empty()).map(|host| format!("{host}{port}"));
    // Where a database listens may also stand behind its name, as a host or the folder of a socket.
    let behind = url
        .query_pairs()
        .filter(|(name, _)| is_database && matches!(name.as_ref(), "host" | "hostaddr" | "port"));
    let hosts: Vec<String> =
        host.into_iter().chain(behind.map(|(_, host)| host.into_owned())).collect();
    (is_database || !hosts.is_empty()).then(|| format!("{}://{}", url.scheme(), hosts.join(",")))
}

/// A text without control characters, those that change direction included.
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
