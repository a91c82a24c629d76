//! The MCP server: authenticates calls, lists and runs tools, and reads resources.

use axum::http::request::Parts;
use countersign_contract::text::escape_json_for_display;
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use tracing::field::Empty;
use tracing::{Instrument as _, info_span};

use super::tool::McpTool;
use super::{resources, tool_registry};
use crate::access::Caller;
use crate::http::http_tracing::request_span;
use crate::http::{ApiError, HttpState};

/// Instructions for every model that connects.
const INSTRUCTIONS: &str = "Countersign runs protocols: workflows in which every reply must satisfy a contract before it changes anything. \
You can reply in place of the model of a run. The loop: call start_run (or list_runs to continue an existing run), then next_step, write the requested reply, and call submit_reply. \
If the reply is refused, fix everything that `violations` lists and submit again. Repeat until the run is completed or waits for a person. \
After each of these calls, the member `next_step` of the result says what to do. Waits in the inbox are for a person: ask the person, and answer or approve only with what the person said. \
A failed call returns a `code`; `detail` says what was found and what was expected.";

/// Where the caller of a tool comes from.
#[derive(Clone)]
pub(super) enum McpCallerSource {
    /// Always the same caller: the user who started this process.
    Fixed(Caller),
    /// The caller that the HTTP authentication resolved for the request.
    PerRequest,
}

/// The MCP server, for one transport.
#[derive(Clone)]
pub(super) struct McpServer {
    state: HttpState,
    caller_source: McpCallerSource,
    /// Whether the agent may approve and deny in place of a person.
    may_decide: bool,
}

impl McpServer {
    /// Creates a server for the shared HTTP state.
    pub(super) fn new(state: HttpState, caller_source: McpCallerSource, may_decide: bool) -> Self {
        Self { state, caller_source, may_decide }
    }

    fn resolve_caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let caller = match &self.caller_source {
            McpCallerSource::Fixed(caller) => Some(caller.clone()),
            McpCallerSource::PerRequest => {
                let parts = context.extensions.get::<Parts>();
                parts.and_then(|parts| parts.extensions.get::<Caller>()).cloned()
            }
        };
        caller.ok_or_else(|| ErrorData::internal_error("the route has no authentication", None))
    }

    fn is_offered(&self, tool: &McpTool) -> bool {
        self.may_decide || !tool.is_decision()
    }

    async fn run_tool(
        &self,
        caller: Caller,
        request: CallToolRequestParams,
    ) -> Result<CallToolResult, ErrorData> {
        let CallToolRequestParams { name, arguments, .. } = request;
        let Some(tool) = tool_registry::find_tool(&name) else {
            let known: Vec<&str> = tool_registry::tools().iter().map(McpTool::name).collect();
            let near = countersign_contract::find_similar_name(&name, known.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(ErrorData::invalid_params(format!("no tool `{name}`{near}"), None));
        };
        let done = if self.is_offered(tool) {
            tool.call(self.state.clone(), caller, arguments.unwrap_or_default()).await
        } else {
            let detail = format!(
                "`{name}` is disabled on this server: the person decides, with `countersign inbox` or on the web page"
            );
            Err(ApiError::forbidden("decisions_off", detail))
        };
        Ok(match done {
            Ok(value) => structured_result(value),
            Err(error) => error_result(&error),
        })
    }
}

/// Builds a result with structured data, and with the same JSON as text, which some clients show to
/// a person instead. The text has hidden characters escaped.
fn structured_result(value: Value) -> CallToolResult {
    let text = escape_json_for_display(&value.to_string()).into_owned();
    let mut result = CallToolResult::structured(value);
    result.content = vec![ContentBlock::text(text)];
    result
}

/// Builds the result of a failed call. The problem is sent as text only, because structured data
/// must match the tool's output schema, which clients validate.
fn error_result(error: &ApiError) -> CallToolResult {
    let problem = json!(error.problem()).to_string();
    CallToolResult::error(vec![ContentBlock::text(escape_json_for_display(&problem))])
}

/// Converts an error of a resource into an MCP error.
fn to_mcp_error(error: &ApiError) -> ErrorData {
    let problem = error.problem();
    let (detail, data) = (problem.detail.clone(), Some(json!(problem)));
    match problem.status {
        404 => ErrorData::resource_not_found(detail, data),
        400..=499 => ErrorData::invalid_params(detail, data),
        _ => ErrorData::internal_error(detail, data),
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let able = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let this = Implementation::new("countersign", env!("CARGO_PKG_VERSION"));
        let mut info = ServerConfig::new(able).with_instructions(INSTRUCTIONS);
        info.server_info = this.with_title("Countersign");
        info
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        tool_registry::find_tool(name).map(McpTool::to_rmcp_tool)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let role = self.resolve_caller(&context)?.role;
        let offered = tool_registry::tools()
            .iter()
            .filter(|tool| tool.is_allowed_for(role) && self.is_offered(tool));
        Ok(ListToolsResult::with_all_items(offered.map(McpTool::to_rmcp_tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.resolve_caller(&context)?;
        // Text from the client must not become a span name.
        let name = tool_registry::find_tool(&request.name).map_or("other", McpTool::name);
        let span = info_span!(
            parent: &request_span(context.extensions.get::<Parts>()),
            "tool_call",
            otel.name = format!("tools/call {name}"),
            otel.status_code = Empty,
            mcp.method.name = "tools/call",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = name,
            error.type = Empty,
        );
        let done = self.run_tool(caller, request).instrument(span.clone()).await;
        if done.as_ref().map_or(true, |done| done.is_error == Some(true)) {
            span.record("error.type", "tool_error");
            span.record("otel.status_code", "ERROR");
        }
        done.map(CallToolResponse::Complete)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.resolve_caller(&context)?;
        let cursor = request.and_then(|request| request.cursor);
        let listed = resources::list_resources(&self.state, &caller, cursor).await;
        let (items, next_cursor) = listed.map_err(|error| to_mcp_error(&error))?;
        Ok(ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(items) })
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::list_templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.resolve_caller(&context)?;
        let read = resources::read_resource(&self.state, &caller, &request.uri).await;
        let read = read.map_err(|error| to_mcp_error(&error))?;
        Ok(ReadResourceResponse::Complete(ReadResourceResult::new(vec![read])))
    }
}
