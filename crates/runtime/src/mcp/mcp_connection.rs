//! A connection to an MCP server.

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_contract::limits::MAX_MCP_TOOL_LIST_BYTES;
use countersign_protocol::{McpServerDefinition, McpTransport};
use countersign_run::McpToolDefinition;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig,
    Implementation, PaginatedRequestParams, RequestMetaObject,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, RoleClient, RunningService, ServiceError,
    serve_client,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use serde_json::Value;
use tokio::time::timeout;

use super::limited_reader::LimitedReader;
use super::mcp_http_client::McpHttpClient;
use super::read_limit::ReadLimit;
use crate::effect::{EffectError, EffectErrorKind, install_tls_provider, is_loopback};
use crate::program::{ProgramError, ProgramInvocation, ServiceProcess};

/// Key in `_meta` of a call whose value is the same each time the same call is repeated.
const CALL_ID_KEY: &str = "dev.countersign/idempotency-key";

/// Maximum number of pages of a tool list.
const MAX_LIST_PAGES: usize = 64;

/// Maximum size of all tools of a server together, in bytes, before the policy selects some.
const MAX_LISTED_BYTES: usize = 16 * MAX_MCP_TOOL_LIST_BYTES;

/// Maximum length of text that a message quotes from a server, in characters.
const MAX_QUOTED_CHARS: usize = 300;

/// A connection to one MCP server. Dropping it ends the server if it is a program.
#[derive(Debug)]
pub struct McpConnection {
    name: String,
    definition: McpServerDefinition,
    service: RunningService<RoleClient, ToolListWatcher>,
    /// Set by the server's notification that its tools changed.
    is_list_stale: Arc<AtomicBool>,
    limit: Arc<ReadLimit>,
    process: Option<ServiceProcess>,
    tools: Option<Vec<McpToolDefinition>>,
}

/// What a server says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerIdentity {
    /// Name and version of the server; empty if it does not say.
    pub name: String,
    /// Version of the protocol that was agreed on.
    pub protocol: String,
}

/// Notices changes of the tool list. Everything else that a server asks for is declined.
#[derive(Debug, Clone)]
struct ToolListWatcher {
    is_list_stale: Arc<AtomicBool>,
}

impl ClientHandler for ToolListWatcher {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("countersign", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.is_list_stale.store(true, Ordering::SeqCst);
    }
}

impl McpConnection {
    /// Connects to a server. A program is started in `folder`.
    pub async fn connect(
        name: &str,
        definition: &McpServerDefinition,
        folder: &Path,
    ) -> Result<Self, EffectError> {
        let is_list_stale = Arc::new(AtomicBool::new(false));
        let watcher = ToolListWatcher { is_list_stale: Arc::clone(&is_list_stale) };
        let limit = Arc::new(ReadLimit::default());
        let (process, started) = match &definition.transport {
            McpTransport::Program { command, environment } => {
                let launch = ProgramInvocation {
                    command,
                    args: &[],
                    working_folder: folder,
                    inherited_env: environment,
                    env: &[],
                    stdin: &[],
                    timeout: Duration::ZERO,
                };
                let (process, stdin, stdout) =
                    ServiceProcess::start(&launch).map_err(|error| to_start_error(name, &error))?;
                let stdout = LimitedReader::new(stdout, Arc::clone(&limit));
                let transport = AsyncRwTransport::new_client(stdout, stdin);
                let started = timeout(time_limit(definition), serve_client(watcher, transport));
                (Some(process), started.await)
            }
            McpTransport::Http { url, headers } => {
                let transport = build_http_transport(name, url, headers, &limit)?;
                let started = timeout(time_limit(definition), serve_client(watcher, transport));
                (None, started.await)
            }
        };
        let fault = |why: &str| {
            describe_fault(name, "does not start a session", why, &limit, process.as_ref())
        };
        let service = match started {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => {
                let why = describe_start_fault(&error);
                return Err(EffectError::new_transient(EffectErrorKind::Unavailable, fault(&why)));
            }
            Err(_) => {
                let why = format!("no answer within {}", definition.timeout);
                return Err(EffectError::new_transient(EffectErrorKind::TimedOut, fault(&why)));
            }
        };
        let (name, definition) = (name.to_owned(), definition.clone());
        Ok(Self { name, definition, service, is_list_stale, limit, process, tools: None })
    }

    /// Returns what the server says about itself.
    #[must_use]
    pub fn identify(&self) -> McpServerIdentity {
        let info = self.service.peer().peer_info();
        let name = info.as_ref().and_then(|info| info.server_info.as_ref());
        let name = name.map(|own| quote_text(&format!("{} {}", own.name, own.version)));
        let protocol = info.map(|info| quote_text(info.protocol_version.as_str()));
        McpServerIdentity { name: name.unwrap_or_default(), protocol: protocol.unwrap_or_default() }
    }

    /// Returns whether the server can still be used.
    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed()
            && !self.service.peer().is_transport_closed()
            && self.limit.describe_excess().is_none()
    }

    /// Lists the tools that the policy allows, sorted by name. The list is requested again only
    /// after the server said that it changed.
    pub async fn list_tools(&mut self) -> Result<&[McpToolDefinition], EffectError> {
        if self.is_list_stale.swap(false, Ordering::SeqCst) {
            self.tools = None;
        }
        if self.tools.is_none() {
            self.tools = Some(self.request_tools().await?);
        }
        Ok(self.tools.as_deref().unwrap_or_default())
    }

    async fn request_tools(&self) -> Result<Vec<McpToolDefinition>, EffectError> {
        let (mut tools, mut bytes) = (Vec::new(), 0);
        let mut cursor = None;
        self.limit.begin_request();
        let all_pages = async {
            for _ in 0..MAX_LIST_PAGES {
                let page = PaginatedRequestParams::default().with_cursor(cursor.take());
                let page = self.service.peer().list_tools(Some(page)).await?;
                for tool in page.tools {
                    let tool = McpToolDefinition {
                        name: tool.name.into_owned(),
                        description: tool.description.unwrap_or_default().into_owned(),
                        input_schema: Value::Object((*tool.input_schema).clone()),
                    };
                    bytes += measure_tool(&tool);
                    if self.definition.allows_tool(&tool.name) {
                        tools.push(tool);
                    }
                }
                cursor = page.next_cursor;
                if cursor.is_none() || bytes > MAX_LISTED_BYTES {
                    break;
                }
            }
            Ok(cursor.is_some() || bytes > MAX_LISTED_BYTES)
        };
        let answered = timeout(time_limit(&self.definition), all_pages).await;
        let action = "does not list its tools";
        if self.resolve_answer(action, answered)? {
            let why = format!(
                "the list has more than {MAX_LIST_PAGES} pages or {MAX_LISTED_BYTES} bytes"
            );
            let message = self.describe_own_fault(action, &why);
            return Err(EffectError::new_permanent(EffectErrorKind::TooLarge, message));
        }
        tools.sort_by(|one: &McpToolDefinition, other| one.name.cmp(&other.name));
        Ok(tools)
    }

    /// Calls a tool that is still the pinned one. `id` is the same each time the call is repeated.
    pub async fn call_tool(
        &mut self,
        pinned: &McpToolDefinition,
        arguments: &Value,
        id: &str,
    ) -> Result<CallToolResult, EffectError> {
        let (server, tool) = (self.name.clone(), &pinned.name);
        let listed = self.list_tools().await?.iter().find(|listed| listed.name == *tool);
        let what = match listed {
            Some(listed) if listed.digest() == pinned.digest() => None,
            Some(_) => Some("has another description or input schema than"),
            None => Some("is no longer listed by its server, as it was"),
        };
        if let Some(what) = what {
            let message = format!(
                "`{server}.{tool}` was not called: the tool {what} when this run listed it; a new run lists the tools again"
            );
            return Err(EffectError::new_permanent(EffectErrorKind::Conflict, message));
        }
        let mut meta = RequestMetaObject::new();
        meta.0.0.insert(CALL_ID_KEY.to_owned(), Value::String(id.to_owned()));
        let mut call = CallToolRequestParams::new(tool.clone())
            .with_arguments(arguments.as_object().cloned().unwrap_or_default());
        call.meta = Some(meta);
        self.limit.begin_request();
        let answered =
            timeout(time_limit(&self.definition), self.service.peer().call_tool_once(call)).await;
        let action = format!("did not finish the call of `{tool}`");
        match self.resolve_answer(&action, answered)? {
            CallToolResponse::Complete(result) => Ok(result),
            _ => {
                let why = "it asked for further input, which Countersign does not give";
                let message = self.describe_own_fault(&action, why);
                Err(EffectError::new_permanent(EffectErrorKind::Failed, message))
            }
        }
    }

    fn resolve_answer<T>(
        &self,
        action: &str,
        answered: Result<Result<T, ServiceError>, tokio::time::error::Elapsed>,
    ) -> Result<T, EffectError> {
        match answered {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(ServiceError::McpError(error))) => {
                let why = format!("error {}: {}", error.code.0, quote_text(&error.message));
                let message = self.describe_own_fault(action, &why);
                Err(EffectError::new_permanent(EffectErrorKind::Failed, message))
            }
            Ok(Err(error)) => {
                let why = match &error {
                    ServiceError::TransportClosed => "the connection ended".to_owned(),
                    ServiceError::UnexpectedResponse => "it sent another kind of answer".to_owned(),
                    other => quote_text(&other.to_string()),
                };
                let message = self.describe_own_fault(action, &why);
                Err(EffectError::new_transient(EffectErrorKind::Unavailable, message))
            }
            Err(_) => {
                let why = format!("no answer within {}", self.definition.timeout);
                let message = self.describe_own_fault(action, &why);
                Err(EffectError::new_transient(EffectErrorKind::TimedOut, message))
            }
        }
    }

    fn describe_own_fault(&self, action: &str, why: &str) -> String {
        describe_fault(&self.name, action, why, &self.limit, self.process.as_ref())
    }
}

fn time_limit(definition: &McpServerDefinition) -> Duration {
    Duration::from_millis(definition.timeout.millis.unsigned_abs())
}

fn measure_tool(tool: &McpToolDefinition) -> usize {
    countersign_contract::json::measure_json(tool).bytes
}

fn build_http_transport(
    name: &str,
    url: &str,
    headers: &BTreeMap<String, String>,
    limit: &Arc<ReadLimit>,
) -> Result<StreamableHttpClientTransport<McpHttpClient>, EffectError> {
    let not_configured = |why: String| {
        let message = format!("MCP server `{name}` cannot be called: {why}");
        EffectError::new_permanent(EffectErrorKind::NotConfigured, message)
    };
    let address = Url::parse(url).map_err(|error| not_configured(format!("its URL: {error}")))?;
    let mut sent = HashMap::new();
    for (header, variable) in headers {
        let value = env::var(variable)
            .map_err(|_| not_configured(format!("environment variable `{variable}` is not set")))?;
        let header_name = HeaderName::from_bytes(header.as_bytes());
        let header_value = HeaderValue::from_str(value.trim()).map(|mut value| {
            value.set_sensitive(true);
            value
        });
        match (header_name, header_value) {
            (Ok(header_name), Ok(header_value)) => sent.insert(header_name, header_value),
            _ => {
                let why = format!("`{variable}` cannot be sent in the header `{header}`");
                return Err(not_configured(why));
            }
        };
    }
    install_tls_provider();
    let builder = Client::builder().redirect(redirect::Policy::none()).referer(false);
    let builder = if is_loopback(&address) { builder.no_proxy() } else { builder };
    let client = builder.build().map_err(|error| not_configured(error.to_string()))?;
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(sent)
        .reinit_on_expired_session(false);
    let client = McpHttpClient::new(client, Arc::clone(limit));
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

fn to_start_error(name: &str, error: &ProgramError) -> EffectError {
    let message = format!("MCP server `{name}` does not start: {error}");
    match error {
        ProgramError::EmptyCommand | ProgramError::NotFound { .. } => {
            EffectError::new_permanent(EffectErrorKind::NotConfigured, message)
        }
        _ => EffectError::new_transient(EffectErrorKind::Unavailable, message),
    }
}

fn describe_start_fault(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "the connection ended".to_owned(),
        other => quote_text(&other.to_string()),
    }
}

/// Describes a fault: what the server did not do, why, and the end of what it wrote to standard
/// error.
fn describe_fault(
    name: &str,
    action: &str,
    why: &str,
    limit: &ReadLimit,
    process: Option<&ServiceProcess>,
) -> String {
    let why = limit.describe_excess().unwrap_or_else(|| why.to_owned());
    let written = process.map(ServiceProcess::read_stderr).unwrap_or_default();
    let last = written.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.map_or_else(String::new, |line| format!("; it wrote: {}", quote_text(line)));
    format!("MCP server `{name}` {action}: {why}{last}")
}

/// Quotes a server's text in one line, shortened.
fn quote_text(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String =
        line.chars().filter(|one| !one.is_control()).take(MAX_QUOTED_CHARS).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}
