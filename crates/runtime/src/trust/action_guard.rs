//! Decides whether an action may be performed here.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_protocol::{
    HookDefinition, McpServerDefinition, McpTransport, PathPattern, ProgramDefinition, Protocol,
    RetrievalSource,
};
use countersign_run::{EffectCall, PendingAction, Timestamp, ToolCall};
use tokio::task::spawn_blocking;

use super::permissions::{describe_command, extract_model_server};
use super::{AllowList, ProtocolPermissions, TrustError, TrustFile, TrustRecord};
use crate::workspace::Workspace;

/// Returns the permission lists of the protocols that are shipped under a name with this program.
pub type ShippedPermissions = fn(&str) -> Vec<ProtocolPermissions>;

/// Decides what protocols may do on this machine. Cheap to clone.
#[derive(Clone)]
pub struct ActionGuard {
    lists: Option<Arc<GuardLists>>,
}

struct GuardLists {
    /// The working folder that the trust applies to.
    folder: PathBuf,
    trust: Option<TrustFile>,
    allow: AllowList,
    shipped: ShippedPermissions,
    /// Model servers that a person named to this process for a run.
    named_servers: Arc<Mutex<BTreeSet<String>>>,
    /// Whether the runs belong to another tenant. The owner's command line cannot reach those, so
    /// messages name server options instead.
    is_tenant: bool,
}

/// What a run wants to use beyond files.
#[derive(Debug, Clone, Copy)]
pub enum WantedAction<'a> {
    /// Start a program: name and definition.
    Program(&'a str, &'a ProgramDefinition),
    /// Call an address.
    Call(&'a str),
    /// Use an MCP server: name and definition.
    McpServer(&'a str, &'a McpServerDefinition),
    /// Open a retrieval source: name and definition.
    Source(&'a str, &'a RetrievalSource),
    /// Access hidden files, by these patterns of its protocol.
    HiddenFiles(&'a [PathPattern]),
    /// Send a prompt to a server that the protocol or the run names.
    ModelServer(&'a str),
}

impl<'a> WantedAction<'a> {
    /// Returns what an action needs. `None` for files that are visible to every run, and for names
    /// that the policy does not declare.
    #[must_use]
    pub fn from_action(protocol: &'a Protocol, order: &'a PendingAction) -> Option<Self> {
        let policy = &protocol.policy;
        let program = |name: &'a str| Some(Self::Program(name, policy.programs.get(name)?));
        let shown = &policy.files.show;
        let hidden = (!shown.is_empty()).then_some(Self::HiddenFiles(shown));
        match order {
            PendingAction::Effect { effect, .. } => match effect {
                EffectCall::Run { program: name, .. } => program(name),
                EffectCall::Http { url, .. } => Some(Self::Call(url)),
                EffectCall::Retrieve { source, .. } => {
                    Some(Self::Source(source, policy.sources.get(source)?))
                }
                EffectCall::Write { .. } | EffectCall::Copy { .. } => hidden,
            },
            PendingAction::Hook { hook, .. } => match protocol.hooks.get(hook)? {
                HookDefinition::Program { program: name, .. } => program(name),
                HookDefinition::Patch { .. } => None,
            },
            PendingAction::ListMcpTools { server, .. }
            | PendingAction::Tool { call: ToolCall::Mcp { server, .. } } => {
                Some(Self::McpServer(server, policy.mcp.get(server)?))
            }
            // The text of a skill is part of the protocol.
            PendingAction::Tool { call: ToolCall::Skill { .. } } => None,
            PendingAction::Tool { .. } => hidden,
            PendingAction::Model { .. }
            | PendingAction::Child { .. }
            | PendingAction::Notify { .. }
            | PendingAction::Delivery { .. } => None,
        }
    }

    /// Returns what a model call needs. `None` if the model uses the default address of its
    /// provider.
    #[must_use]
    pub fn from_model(model: &'a str) -> Option<Self> {
        extract_model_server(model).map(|_| Self::ModelServer(model))
    }

    fn is_allowed_by(&self, list: &AllowList) -> bool {
        match self {
            Self::Program(_, program) => list.allows_program(program),
            Self::Call(url) => list.allows_url(url),
            Self::McpServer(_, server) => list.allows_mcp_server(server),
            Self::Source(_, source) => list.allows_source(source),
            // Only a person can grant access to hidden files, for a single protocol.
            Self::HiddenFiles(_) => false,
            Self::ModelServer(model) => {
                extract_model_server(model).is_some_and(|server| list.allows_model_server(&server))
            }
        }
    }
}

impl fmt::Display for WantedAction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(name, program) => {
                write!(f, "to run program `{name}` ({})", describe_command(&program.command))
            }
            Self::Call(url) => {
                // The rest of an address may contain secrets that must not be logged.
                let host = reqwest::Url::parse(url).ok();
                let host = host.map(|url| url.origin().ascii_serialization());
                write!(f, "to call {}", host.as_deref().unwrap_or("a host"))
            }
            Self::McpServer(name, server) => match &server.transport {
                McpTransport::Program { command, .. } => {
                    write!(f, "to run MCP server `{name}` ({})", describe_command(command))
                }
                McpTransport::Http { url, .. } => {
                    let host = reqwest::Url::parse(url).ok();
                    let host = host.map(|url| url.origin().ascii_serialization());
                    let host = host.as_deref().unwrap_or("a host");
                    write!(f, "to call MCP server `{name}` at {host}")
                }
            },
            Self::Source(name, source) => {
                write!(f, "to open source `{name}` of kind `{}`", source.kind)
            }
            Self::HiddenFiles(patterns) => {
                let patterns: Vec<&str> = patterns.iter().map(PathPattern::source).collect();
                write!(f, "to access hidden files ({})", patterns.join(", "))
            }
            Self::ModelServer(model) => {
                let server = extract_model_server(model);
                write!(f, "to send prompts to {}", server.as_deref().unwrap_or("a server"))
            }
        }
    }
}

impl ActionGuard {
    /// Creates a guard for a working folder that permits only what shipped protocols need.
    #[must_use]
    pub fn new(folder: PathBuf, shipped: ShippedPermissions) -> Self {
        let (trust, allow, named) = (None, AllowList::default(), Arc::default());
        let is_tenant = false;
        Self {
            lists: Some(Arc::new(GuardLists {
                folder,
                trust,
                allow,
                shipped,
                named_servers: named,
                is_tenant,
            })),
        }
    }

    /// Also permits what this file trusts.
    #[must_use]
    pub fn with_trust_file(self, file: TrustFile) -> Self {
        self.update_lists(|lists| GuardLists { trust: Some(file), ..lists })
    }

    /// Also permits what this list allows.
    #[must_use]
    pub fn with_allow_list(self, allow: AllowList) -> Self {
        self.update_lists(|lists| GuardLists { allow: lists.allow.clone().merge(allow), ..lists })
    }

    fn update_lists(self, change: impl FnOnce(GuardLists) -> GuardLists) -> Self {
        let lists = self.lists.map(|lists| {
            let GuardLists { folder, trust, allow, shipped, named_servers: named, is_tenant } =
                &*lists;
            let (folder, trust, allow) = (folder.clone(), trust.clone(), allow.clone());
            let (shipped, named, is_tenant) = (*shipped, Arc::clone(named), *is_tenant);
            Arc::new(change(GuardLists {
                folder,
                trust,
                allow,
                shipped,
                named_servers: named,
                is_tenant,
            }))
        });
        Self { lists }
    }

    /// Adapts the guard to the runs of another tenant, which work in their own folder. Trust that a
    /// person gave for the owner's folder does not apply there, because a command may mean a
    /// different file. What the operator allows still applies.
    #[must_use]
    pub fn for_tenant(self, folder: PathBuf) -> Self {
        self.update_lists(|lists| GuardLists { folder, is_tenant: true, ..lists })
    }

    /// Returns the commands that a person trusts in this folder or that the operator allows. No run
    /// may change the files that they name, whatever its protocol. If the trust file cannot be
    /// read, its commands are not trusted either.
    pub(crate) fn trusted_commands(&self) -> Vec<Vec<String>> {
        let Some(lists) = &self.lists else { return Vec::new() };
        let records = lists.trust.as_ref().and_then(|file| file.read_records().ok());
        let here = records.into_iter().flatten().filter(|record| record.folder == lists.folder);
        let trusted = here.flat_map(|record| record.commands);
        trusted.chain(lists.allow.commands().iter().cloned()).collect()
    }

    /// Creates a guard that permits everything that a policy declares, for programs that load only
    /// their own protocols.
    #[must_use]
    pub fn permit_all() -> Self {
        Self { lists: None }
    }

    /// Hides the trust file from runs, in case it is inside their workspace.
    pub(crate) fn hide_trust_file(&self, workspace: Workspace) -> Workspace {
        let file = self.lists.as_ref().and_then(|lists| lists.trust.as_ref());
        let Some(path) = file.map(TrustFile::path) else { return workspace };
        // Only the workspace itself cannot be hidden, and a file is never the workspace.
        workspace.clone().hide([path]).unwrap_or(workspace)
    }

    /// Returns whether everything that a protocol needs is trusted here: the protocol is shipped,
    /// or a person trusts it.
    pub fn is_trusted(&self, protocol: &Protocol) -> Result<bool, TrustError> {
        let Some(lists) = &self.lists else { return Ok(true) };
        let wanted = ProtocolPermissions::from_protocol(protocol);
        if wanted.is_empty() || (lists.shipped)(&protocol.name).contains(&wanted) {
            return Ok(true);
        }
        let digest = wanted.trust_digest(&protocol.name, &lists.folder);
        lists.trust.as_ref().map_or(Ok(false), |file| file.contains_digest(&digest))
    }

    /// Returns whether a person trusts a server with the prompts of this folder's runs.
    fn is_server_trusted(&self, server: &str) -> Result<bool, TrustError> {
        let Some(lists) = &self.lists else { return Ok(true) };
        if lists.named_servers.lock().unwrap_or_else(PoisonError::into_inner).contains(server) {
            return Ok(true);
        }
        let digest = AllowList::with_model_server(server).trust_digest(&lists.folder);
        lists.trust.as_ref().map_or(Ok(false), |file| file.contains_digest(&digest))
    }

    /// Records that a person named a model for a run, so that a worker that continues the run later
    /// can use it. Nothing is recorded for a model without an address. Without a trust file, the
    /// record lasts as long as this process.
    pub fn trust_model(&self, model: &str, by: &str, at: Timestamp) -> Result<(), TrustError> {
        let (Some(lists), Some(server)) = (&self.lists, extract_model_server(model)) else {
            return Ok(());
        };
        if let Some(file) = &lists.trust {
            file.add(TrustRecord::for_model_server(&server, &lists.folder, by, at))?;
        }
        lists.named_servers.lock().unwrap_or_else(PoisonError::into_inner).insert(server);
        Ok(())
    }

    /// Permits an action of a run, or returns why not and what to do.
    pub(crate) async fn permit(
        &self,
        run: &str,
        protocol: &Arc<Protocol>,
        wanted: WantedAction<'_>,
    ) -> Result<(), String> {
        let Some(lists) = &self.lists else { return Ok(()) };
        if wanted.is_allowed_by(&lists.allow) {
            return Ok(());
        }
        // A server that the protocol does not name is named only by the run.
        let server = match wanted {
            WantedAction::ModelServer(model) => extract_model_server(model).filter(|server| {
                !ProtocolPermissions::from_protocol(protocol).model_servers.contains(server)
            }),
            _ => None,
        };
        let subject = match &server {
            Some(_) => format!("run `{run}`"),
            None => format!("protocol `{}`", protocol.name),
        };
        let (guard, owned_protocol) = (self.clone(), Arc::clone(protocol));
        let trusted = spawn_blocking(move || match server {
            Some(server) => guard.is_server_trusted(&server),
            None => guard.is_trusted(&owned_protocol),
        });
        match trusted.await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) if lists.is_tenant => Err(format!(
                "{subject} wants {wanted}, but the operator of this server does not allow it; \
                 `countersign serve` allows it with `--allow-program`, `--allow-host` or \
                 `--allow-source`"
            )),
            Ok(Ok(false)) => Err(format!(
                "{subject} wants {wanted}, but it is not trusted to do so here; \
                 run `countersign trust --run {run}` to review and trust it, \
                 then `countersign resume {run}`"
            )),
            Ok(Err(error)) => Err(format!(
                "{subject} wants {wanted}, but its trust cannot be checked: {error}; \
                 fix this, then run `countersign resume {run}`"
            )),
            Err(_) => Err(format!("{subject} wants {wanted}, but the trust check was interrupted")),
        }
    }
}

/// Hides the folder and the lists, which concern only the operator.
impl fmt::Debug for ActionGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.lists.is_some() { "ActionGuard(lists)" } else { "ActionGuard(all)" })
    }
}
