//! One tool: what a model reads of it, what it needs, and the operation it stands for.

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

/// What a tool does to the world, for clients that ask before they let it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum McpToolEffect {
    /// It looks.
    ReadOnly,
    /// It adds something that stays.
    Additive,
    /// It decides something that cannot be taken back.
    Irreversible,
}

/// What is told of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct McpToolSpec {
    /// By which it is called.
    pub(super) name: &'static str,
    /// For people.
    pub(super) title: &'static str,
    /// The route that does the same: who may use it may use the tool.
    pub(super) route: (&'static str, &'static str),
    /// What it does to the world.
    pub(super) effect: McpToolEffect,
    /// For models: when to use it, what comes back, what next.
    pub(super) description: &'static str,
}

type McpToolFuture = Pin<Box<dyn Future<Output = Result<Value, ApiError>> + Send>>;

/// One tool.
pub(super) struct McpTool {
    spec: McpToolSpec,
    required_role: AccessRole,
    input_schema: Arc<JsonObject>,
    output_schema: Arc<JsonObject>,
    call: Box<dyn Fn(HttpState, Caller, JsonObject) -> McpToolFuture + Send + Sync>,
}

impl McpTool {
    /// A tool that stands for an operation.
    pub(super) fn new<I, O, F>(spec: McpToolSpec, operation: fn(HttpState, Caller, I) -> F) -> Self
    where
        I: DeserializeOwned + ToSchema + Send + 'static,
        O: Serialize + ToSchema + 'static,
        F: Future<Output = Result<O, ApiError>> + Send + 'static,
    {
        let (method, path) = spec.route;
        let required_role = match find_route_policy(method, path) {
            Some(RoutePolicy::Role(role) | RoutePolicy::LocalTenant(role)) => role,
            Some(RoutePolicy::Public) | None => unreachable!("tool `{}` has no route", spec.name),
        };
        let call = move |app, caller, arguments| -> McpToolFuture {
            Box::pin(async move {
                let arguments = serde_json::from_value(Value::Object(arguments));
                let arguments = arguments.map_err(|error| {
                    ApiError::unprocessable("bad_arguments", format!("the arguments: {error}"))
                })?;
                Ok(json!(operation(app, caller, arguments).await?))
            })
        };
        let (input_schema, output_schema) =
            (Arc::new(build_schema::<I>()), Arc::new(build_schema::<O>()));
        Self { spec, required_role, input_schema, output_schema, call: Box::new(call) }
    }

    /// By which it is called.
    pub(super) fn name(&self) -> &'static str {
        self.spec.name
    }

    /// Whether it says yes or no in a person's place.
    pub(super) fn is_decision(&self) -> bool {
        self.spec.effect == McpToolEffect::Irreversible
    }

    /// Whether somebody with a role may use it.
    pub(super) fn is_allowed_for(&self, role: AccessRole) -> bool {
        role >= self.required_role
    }

    /// Does it for a caller who may.
    pub(super) async fn call(
        &self,
        app: HttpState,
        caller: Caller,
        arguments: JsonObject,
    ) -> Result<Value, ApiError> {
        if !self.is_allowed_for(caller.role) {
            let Self { required_role: role, spec: McpToolSpec { name, .. }, .. } = self;
            let detail =
                format!("`{name}` needs the role `{role}`, and yours is `{}`", caller.role);
            return Err(ApiError::forbidden("role", detail));
        }
        // A task of its own: one that breaks down ends by itself, and is told.
        let done = tokio::spawn((self.call)(app, caller, arguments)).await;
        done.map_err(|_| ApiError::internal("broke_down", "the server broke down over this call"))?
    }

    /// As clients list it.
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
