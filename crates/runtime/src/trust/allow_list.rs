//! What the operator of a worker or a server allows, whatever protocol a run has.
//!
//! Protocols choose the names of their programs and sources, so entries identify the resource
//! itself: a command by its first words, a host, a source by its kind and location.

use countersign_contract::json::digest_json;
use countersign_protocol::{McpServerDefinition, McpTransport, ProgramDefinition, RetrievalSource};
use reqwest::Url;
use serde_json::{Value, json};
use std::path::Path;
use thiserror::Error;

use super::permissions::{escape_control, extract_address_server, extract_model_server};
use crate::effect::HostRule;

/// Settings that hold the location of a source, in the order in which they are checked.
const LOCATIONS: [&str; 6] = ["path", "folder", "file", "url", "address", "host"];

/// Entries that any run may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList {
    /// Commands, identified by their first words.
    programs: Vec<Vec<String>>,
    /// Hosts, in the notation of policies.
    hosts: Vec<(String, HostRule)>,
    /// Sources: a kind and a location; any location if `None`.
    sources: Vec<(String, Option<String>)>,
    /// Servers that prompts may be sent to.
    model_servers: Vec<String>,
    /// Servers that a settings file names for other purposes: purpose and server.
    services: Vec<(&'static str, String)>,
    /// Channels that people are told through, each described in one line.
    channels: Vec<String>,
}

/// Why a text is not a valid entry of an allow-list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AllowListError {
    /// The entry names no program.
    #[error("`{0}` names no program; expected the words of a command: `git`, `cargo clippy`")]
    Program(String),
    /// The entry is not a valid host.
    #[error("`{0}` is not a host; expected `api.example.org` or `127.0.0.1:8080`")]
    Host(String),
    /// The entry has no source kind.
    #[error("`{0}` is not a source; expected a kind, or a kind and a location: `files:docs`")]
    Source(String),
}

impl AllowList {
    /// Allows commands that begin with these words, separated by spaces.
    pub fn allow_program(&mut self, entry: &str) -> Result<(), AllowListError> {
        let words: Vec<String> = entry.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(AllowListError::Program(entry.to_owned()));
        }
        self.programs.push(words);
        Ok(())
    }

    /// Allows requests to a host.
    pub fn allow_host(&mut self, entry: &str) -> Result<(), AllowListError> {
        let rule = HostRule::parse(entry).ok_or_else(|| AllowListError::Host(entry.to_owned()))?;
        self.hosts.push((entry.to_owned(), rule));
        Ok(())
    }

    /// Allows sources of a kind, or only those with a given location: `files:docs`.
    pub fn allow_source(&mut self, entry: &str) -> Result<(), AllowListError> {
        let (kind, location) = match entry.split_once(':') {
            Some((kind, location)) => (kind, Some(location.to_owned())),
            None => (entry, None),
        };
        if kind.is_empty() || location.as_ref().is_some_and(String::is_empty) {
            return Err(AllowListError::Source(entry.to_owned()));
        }
        self.sources.push((kind.to_owned(), location));
        Ok(())
    }

    /// Allows prompts to the server of a model that is named with an address. A model without one
    /// uses the address of its provider and needs no entry.
    pub fn allow_model(&mut self, model: &str) {
        self.model_servers.extend(extract_model_server(model));
    }

    /// Lists the server that a settings file names for a purpose other than models, such as
    /// `store`.
    pub fn allow_service(&mut self, purpose: &'static str, address: &str) {
        self.services.extend(extract_address_server(address).map(|server| (purpose, server)));
    }

    /// Lists a channel that a settings file defines, described in one line.
    pub fn allow_channel(&mut self, description: String) {
        self.channels.push(description);
    }

    /// Creates a list with this server only: what is trusted for a model that a run names.
    #[must_use]
    pub fn with_model_server(server: &str) -> Self {
        Self { model_servers: vec![server.to_owned()], ..Self::default() }
    }

    /// Combines the entries of both lists.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.programs.extend(other.programs);
        self.hosts.extend(other.hosts);
        self.sources.extend(other.sources);
        self.model_servers.extend(other.model_servers);
        self.services.extend(other.services);
        self.channels.extend(other.channels);
        self
    }

    /// Returns whether nothing is allowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty()
            && self.hosts.is_empty()
            && self.sources.is_empty()
            && self.model_servers.is_empty()
            && self.services.is_empty()
            && self.channels.is_empty()
    }

    /// Returns whether a program is allowed. A program that needs environment variables requires a
    /// person's trust, because they may hold the operator's keys.
    #[must_use]
    pub fn allows_program(&self, program: &ProgramDefinition) -> bool {
        program.environment.is_empty()
            && self.programs.iter().any(|words| program.command.starts_with(words))
    }

    /// Returns whether an MCP server is allowed: its command as a program, its address as a host. A
    /// server that needs environment variables requires a person's trust, because they may hold the
    /// operator's keys.
    #[must_use]
    pub fn allows_mcp_server(&self, server: &McpServerDefinition) -> bool {
        match &server.transport {
            McpTransport::Program { command, environment } => {
                environment.is_empty()
                    && self.programs.iter().any(|words| command.starts_with(words))
            }
            McpTransport::Http { url, headers } => headers.is_empty() && self.allows_url(url),
        }
    }

    /// Returns the allowed commands, by their first words.
    #[must_use]
    pub fn commands(&self) -> &[Vec<String>] {
        &self.programs
    }

    /// Returns whether an address may be called.
    #[must_use]
    pub fn allows_url(&self, url: &str) -> bool {
        Url::parse(url).is_ok_and(|url| self.hosts.iter().any(|(_, rule)| rule.allows(&url)))
    }

    /// Returns whether prompts may be sent to a server.
    #[must_use]
    pub fn allows_model_server(&self, server: &str) -> bool {
        self.model_servers.iter().any(|one| one == server) || self.allows_url(server)
    }

    /// Returns whether a source may be opened.
    #[must_use]
    pub fn allows_source(&self, source: &RetrievalSource) -> bool {
        let location = LOCATIONS.iter().find_map(|key| source.settings.get(key)?.as_str());
        self.sources.iter().any(|(kind, allowed)| {
            *kind == source.kind && allowed.as_deref().is_none_or(|it| Some(it) == location)
        })
    }

    /// Describes the list for people, one entry per line.
    #[must_use]
    pub fn describe(&self) -> Vec<String> {
        let programs = self.programs.iter().map(|words| format!("program {}", words.join(" ")));
        let hosts = self.hosts.iter().map(|(host, _)| format!("host {host}"));
        let sources = self.sources.iter().map(|(kind, location)| match location {
            Some(location) => format!("source {kind}:{location}"),
            None => format!("source {kind}"),
        });
        let servers = self.model_servers.iter().map(|server| format!("model server {server}"));
        let services = self.services.iter();
        let services = services.map(|(purpose, server)| format!("{purpose} server {server}"));
        let lines = programs.chain(hosts).chain(sources).chain(servers).chain(services);
        let lines = lines.chain(self.channels.iter().cloned());
        // The list may come from an untrusted author: a line break in it must not create another
        // line.
        lines.map(|line| escape_control(&line)).collect()
    }

    /// Returns the digest under which a list from a settings file is trusted for a working folder.
    #[must_use]
    pub fn trust_digest(&self, folder: &Path) -> String {
        let list: Vec<Value> = self.describe().into_iter().map(Value::String).collect();
        digest_json(&json!({ "settings": folder.to_string_lossy(), "allow": list }))
    }
}
