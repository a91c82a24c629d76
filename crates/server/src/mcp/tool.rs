//! A tool: its description for models, its required role, and the operation that it calls.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::{JsonObject, ToolAnnotations};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::schema::build_schema;
use crate::access::{AccessRole, Caller, RoutePolicy, find_route_policy};
use crate::http::{ApiError, HttpState};

/// The effect of a tool, for clients that ask the user before they call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum McpToolEffect {
    /// The tool only reads data.
    ReadOnly,
    /// The tool adds data.
    Additive,
    /// The tool makes a decision that cannot be undone.
    Irreversible,
}

/// The static description of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct McpToolSpec {
    /// The name that clients call.
    pub(super) name: &'static str,
    /// The title that is shown to people.
    pub(super) title: &'static str,
    /// The method and path of the equivalent route, which determines the required role.
    pub(super) route: (&'static str, &'static str),
    /// The effect of a call.
    pub(super) effect: McpToolEffect,
    /// The description for models: when to use the tool, what it returns, what to do next.
    pub(super) description: &'static str,
}

type McpToolFuture = Pin<Box<dyn Future<Output = Result<Value, ApiError>> + Send>>;

/// A tool with its schemas and its operation.
pub(super) struct McpTool {
    spec: McpToolSpec,
    required_role: AccessRole,
    input_schema: Arc<JsonObject>,
    output_schema: Arc<JsonObject>,
    call: Box<dyn Fn(HttpState, Caller, JsonObject) -> McpToolFuture + Send + Sync>,
}

impl McpTool {
    /// Creates a tool that calls `operation`.
    pub(super) fn new<I, O, F>(spec: McpToolSpec, operation: fn(HttpState, Caller, I) -> F) -> Self
    where
        I: DeserializeOwned + ToSchema + Send + 'static,
        O: Serialize + ToSchema + 'static,
        F: Future<Output = Result<O, ApiError>> + Send + 'static,
    {
        let (method, path) = spec.route;
        let required_role = match find_route_policy(method, path) {
            Some(RoutePolicy::Role(role) | RoutePolicy::DefaultTenant(role)) => role,
            Some(RoutePolicy::Public) | None => unreachable!("tool `{}` has no route", spec.name),
        };
        let call = move |app, caller, arguments| -> McpToolFuture {
            Box::pin(async move {
                let arguments = serde_json::from_value(Value::Object(arguments));
                let arguments = arguments.map_err(|error| {
                    ApiError::unprocessable("bad_arguments", format!("invalid arguments: {error}"))
                })?;
                Ok(json!(operation(app, caller, arguments).await?))
            })
        };
        let (input_schema, output_schema) =
            (Arc::new(build_schema::<I>()), Arc::new(build_schema::<O>()));
        Self { spec, required_role, input_schema, output_schema, call: Box::new(call) }
    }

    /// The name that clients call.
    pub(super) fn name(&self) -> &'static str {
        self.spec.name
    }

    /// Whether the tool approves or denies in place of a person.
    pub(super) fn is_decision(&self) -> bool {
        self.spec.effect == McpToolEffect::Irreversible
    }

    /// Whether a caller with this role may use the tool.
    pub(super) fn is_allowed_for(&self, role: AccessRole) -> bool {
        role >= self.required_role
    }

    /// Calls the tool, after checking the role of the caller.
    pub(super) async fn call(
        &self,
        app: HttpState,
        caller: Caller,
        arguments: JsonObject,
    ) -> Result<Value, ApiError> {
        if !self.is_allowed_for(caller.role) {
            let Self { required_role: role, spec: McpToolSpec { name, .. }, .. } = self;
            let detail =
                format!("`{name}` needs the role `{role}`; your role is `{}`", caller.role);
            return Err(ApiError::forbidden("role", detail));
        }
        // A separate task, so that a panic becomes an error result.
        let done = tokio::spawn((self.call)(app, caller, arguments)).await;
        done.map_err(|_| {
            ApiError::internal("internal_error", "the server failed while processing this call")
        })?
    }

    /// Converts the tool to the type that clients list.
    pub(super) fn to_rmcp_tool(&self) -> rmcp::model::Tool {
        let McpToolSpec { name, title, effect, description: says, .. } = self.spec;
        let annotations = ToolAnnotations::new()
            .read_only(effect == McpToolEffect::ReadOnly)
            .destructive(effect == McpToolEffect::Irreversible)
            .open_world(false);
        let input = Arc::clone(&self.input_schema);
        rmcp::model::Tool::new_with_raw(name, Some(Cow::Borrowed(says)), input)
            .with_title(title)
            .with_raw_output_schema(Arc::clone(&self.output_schema))
            .with_annotations(annotations)
    }
}
