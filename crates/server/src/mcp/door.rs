//! The server of MCP: who asks, what they may, and what they get.

use axum::http::request::Parts;
use countersign_core::text::escape_json_for_display;
use opentelemetry::trace::{Span as _, Status, Tracer as _};
use opentelemetry::{KeyValue, global};
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

use super::tool::Tool;
use super::{resources, toolbox};
use crate::access::Caller;
use crate::http::traced::parent_of;
use crate::http::{ApiError, App};

/// What every model that connects is told first.
const INSTRUCTIONS: &str = "Countersign runs protocols: workflows in which every reply must satisfy a contract before it changes anything. \
You can take the model's place in a run. The loop: start_run (or list_runs to go on with one), next_step, write the reply that it asks for, submit_reply; \
where the reply is refused, mend every place in `violations` and submit again; repeat until the run is completed or waits for a person. \
Every result says in `next` what to do. What waits for a person (inbox) is the person's: ask them, and answer or approve only with what they said. \
A call that fails has a `code`; the sentence in `detail` says what was found and what was expected.";

/// Whom the calls come from.
#[derive(Clone)]
pub(super) enum Who {
    /// Always the same: whoever started this process.
    Local(Caller),
    /// Whoever the guard let in with the request.
    Requests,
}

/// The server of MCP.
#[derive(Clone)]
pub(super) struct Door {
    app: App,
    who: Who,
    /// Whether it may say yes or no in a person's place.
    decides: bool,
}

impl Door {
    /// A door to what a house has.
    pub(super) fn new(app: App, who: Who, decides: bool) -> Self {
        Self { app, who, decides }
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let caller = match &self.who {
            Who::Local(caller) => Some(caller.clone()),
            Who::Requests => {
                let parts = context.extensions.get::<Parts>();
                parts.and_then(|parts| parts.extensions.get::<Caller>()).cloned()
            }
        };
        caller.ok_or_else(|| ErrorData::internal_error("the route has no guard", None))
    }

    fn offers(&self, tool: &Tool) -> bool {
        self.decides || !tool.decides()
    }

    async fn called(
        &self,
        caller: Caller,
        request: CallToolRequestParams,
    ) -> Result<CallToolResult, ErrorData> {
        let CallToolRequestParams { name, arguments, .. } = request;
        let Some(tool) = toolbox::find(&name) else {
            let known: Vec<&str> = toolbox::tools().iter().map(Tool::name).collect();
            let near = countersign_core::nearest(&name, known.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(ErrorData::invalid_params(format!("no tool `{name}`{near}"), None));
        };
        let done = if self.offers(tool) {
            tool.call(self.app.clone(), caller, arguments.unwrap_or_default()).await
        } else {
            let detail = format!(
                "`{name}` is switched off here: the person decides, with `countersign inbox` or on the page"
            );
            Err(ApiError::forbidden("decisions_off", detail))
        };
        Ok(match done {
            Ok(value) => structured(value),
            Err(error) => failed(&error),
        })
    }
}

/// A result as data, and as the text that some clients show to a person instead: there nothing is
/// hidden, and it is the same JSON.
fn structured(value: Value) -> CallToolResult {
    let text = escape_json_for_display(&value.to_string()).into_owned();
    let mut result = CallToolResult::structured(value);
    result.content = vec![ContentBlock::text(text)];
    result
}

/// A call that failed. The problem goes as text alone: what is structured must be of the tool's own shape, which
/// clients check.
fn failed(error: &ApiError) -> CallToolResult {
    let problem = json!(error.problem()).to_string();
    CallToolResult::error(vec![ContentBlock::text(escape_json_for_display(&problem))])
}

/// A resource that cannot be had.
fn refused(error: &ApiError) -> ErrorData {
    let problem = error.problem();
    let (detail, data) = (problem.detail.clone(), Some(json!(problem)));
    match problem.status {
        404 => ErrorData::resource_not_found(detail, data),
        400..=499 => ErrorData::invalid_params(detail, data),
        _ => ErrorData::internal_error(detail, data),
    }
}

impl ServerHandler for Door {
    fn get_info(&self) -> ServerConfig {
        let able = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let this = Implementation::new("countersign", env!("CARGO_PKG_VERSION"));
        let mut info = ServerConfig::new(able).with_instructions(INSTRUCTIONS);
        info.server_info = this.with_title("Countersign");
        info
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        toolbox::find(name).map(Tool::listed)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let role = self.caller(&context)?.role;
        let offered = toolbox::tools().iter().filter(|tool| tool.is_for(role) && self.offers(tool));
        Ok(ListToolsResult::with_all_items(offered.map(Tool::listed).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let parent = parent_of(context.extensions.get::<Parts>());
        // What a client makes up is no name.
        let name = toolbox::find(&request.name).map_or("other", Tool::name);
        let tracer = global::tracer("countersign");
        let builder = tracer.span_builder(format!("tools/call {name}")).with_attributes([
            KeyValue::new("mcp.method.name", "tools/call"),
            KeyValue::new("gen_ai.operation.name", "execute_tool"),
            KeyValue::new("gen_ai.tool.name", name),
        ]);
        let mut span = tracer.build_with_context(builder, &parent);
        let done = self.called(caller, request).await;
        if done.as_ref().map_or(true, |done| done.is_error == Some(true)) {
            span.set_attribute(KeyValue::new("error.type", "tool_error"));
            span.set_status(Status::error("tool_error"));
        }
        span.end();
        done.map(CallToolResponse::Complete)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.caller(&context)?;
        let cursor = request.and_then(|request| request.cursor);
        let listed = resources::list(&self.app, &caller, cursor).await;
        let (items, next_cursor) = listed.map_err(|error| refused(&error))?;
        Ok(ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(items) })
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let read = resources::read(&self.app, &caller, &request.uri).await;
        let read = read.map_err(|error| refused(&error))?;
        Ok(ReadResourceResponse::Complete(ReadResourceResult::new(vec![read])))
    }
}
